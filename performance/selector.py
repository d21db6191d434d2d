"""Reads corpora of requests, by rules or by a language model, and says how often that was right.

By class of requests: right plans, plans that ask first, questions and refusals, wrong plans, and
the conversations that would be played though nobody asked for them. Of a model also calls, tokens
and dollars. Nothing is played.

Usage: python performance/selector.py [--rules | --model M] [--corpus FILE]... [--limit N] [--show]

M is a LiteLLM name with its provider, such as `openai/gpt-4o-mini`, whose key is read from the
provider's own variable. Without it, the rules read.
"""

import argparse
import sys
from pathlib import Path

from adk_agent.core.settings import variables
from adk_agent.requests.by_rules import read_evaluation
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from performance._corpus import REGISTERED, Reading, judge, load, read_plan, table
from tau_bridge.benchmarks import open_benchmarks

CORPUS = Path(__file__).parents[1] / "data" / "requests.jsonl"


def rules(benchmarks):
    """Return a reader that goes by rules."""
    vocabulary, finder = Vocabulary.of(benchmarks), TaskSearch(benchmarks)

    def read(text):
        try:
            request = read_evaluation(
                text, REGISTERED, vocabulary=vocabulary, finder=finder
            ).request
        except Refusal as refusal:
            return Reading(intent="refuse", words=str(refusal))
        plan = read_plan(request, benchmarks)
        if isinstance(plan, Exception):
            return Reading(intent="refuse", words=str(plan))
        return Reading(intent="evaluate", plan=plan)

    return read


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--corpus", type=Path, action="append")
    parser.add_argument("--limit", type=int)
    parser.add_argument(
        "--show", action="store_true", help="print each request that was not read right"
    )
    arguments = parser.parse_args()
    benchmarks = open_benchmarks(variables)
    cases = [case for path in arguments.corpus or [CORPUS] for case in load(path)][
        : arguments.limit
    ]
    read = rules(benchmarks)
    judged = []
    for case in cases:
        reading = read(case.text)
        verdict = judge(case, reading, benchmarks)
        judged.append((case, verdict))
        if arguments.show and not verdict.right:
            print(
                f"{case.name} {verdict.outcome} ({verdict.unasked} unasked): {case.text!r}\n    {reading.words}"
            )
    print("\n".join(table(judged)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
