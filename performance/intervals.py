"""Coverage of the intervals, errors and power of the comparison, by simulation.

Tasks have chances of their own; trials of a task share them. Printed beside: what pooling all
trials would claim. Run: python performance/intervals.py [runs]
"""

import math
import sys

import numpy as np

from evals.reward import pass_hat_k_by_task
from evals.statistics import interval_of_mean, sign_flip_test

TRIALS = 4
KINDS = {
    "even, Beta(2, 2)": lambda random, size: random.beta(2, 2, size),
    "hard or easy, Beta(.3, .3)": lambda random, size: random.beta(0.3, 0.3, size),
    "mostly hard, Beta(.5, 2)": lambda random, size: random.beta(0.5, 2, size),
    "mostly easy, Beta(4, .5)": lambda random, size: random.beta(4, 0.5, size),
}


def coverage(draw, tasks, runs, random):
    """The share of runs whose interval holds the truth, for k of 1, 2, 4, and pooled for 1."""
    covered = dict.fromkeys((1, 2, 4), 0)
    pooled = 0
    population = draw(random, 1_000_000)
    truth = {k: float((population**k).mean()) for k in covered}
    for _ in range(runs):
        counts = random.binomial(TRIALS, draw(random, tasks))
        outcomes = {n: [1.0] * c + [0.0] * (TRIALS - c) for n, c in enumerate(counts)}
        for k in covered:
            found = interval_of_mean(list(pass_hat_k_by_task(outcomes, k).values()))
            covered[k] += found.holds(truth[k])
        share = counts.sum() / (tasks * TRIALS)
        error = math.sqrt(share * (1 - share) / (tasks * TRIALS))
        pooled += abs(share - truth[1]) <= 1.96 * error
    return [*(100 * count / runs for count in covered.values()), 100 * pooled / runs]


def significant(tasks, gain, runs, random):
    """The share of comparisons that find a difference, where the second agent gains `gain`."""
    found = 0
    for _ in range(runs):
        chances = random.beta(2, 2, tasks) * (1 - 2 * gain)
        first = random.binomial(TRIALS, chances)
        second = random.binomial(TRIALS, chances + gain)
        found += sign_flip_test(((second - first) / TRIALS).tolist())[0] <= 0.05
    return 100 * found / runs


def main(runs):
    random = np.random.default_rng(3)
    print(f"coverage in % of 95 % intervals, {TRIALS} trials a task, {runs} runs")
    print(f"{'chances':28}{'tasks':>6}{'pass^1':>8}{'pass^2':>8}{'pass^4':>8}{'pooled':>8}")
    for kind, draw in KINDS.items():
        for tasks in (5, 20, 50):
            figures = "".join(f"{each:8.1f}" for each in coverage(draw, tasks, runs, random))
            print(f"{kind:28}{tasks:6}{figures}", flush=True)
    print("significant comparisons in %, by tasks: no difference, 5 points, 10 points, 20 points")
    for tasks in (20, 50, 114):
        shares = [significant(tasks, gain, runs, random) for gain in (0.0, 0.05, 0.1, 0.2)]
        print(f"{tasks:6}" + "".join(f"{each:8.1f}" for each in shares), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
