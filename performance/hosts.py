"""More than one machine, and what breaks between them: python performance/hosts.py [SCENARIO ...]

Makes five hosts on this machine (Linux, root, iproute2): the head of a Ray cluster, two workers with
two CPUs each, the host where `greenroom run --executor ray` is started, and one with an agent. Each
scenario is a new cluster and a new run:

  undisturbed   nothing happens
  cut           a worker's cable is pulled in the middle, and stays so
  blink         the same, and the cable is back after 15 s
  off           a worker loses its power
  head          Ray's processes on the head are killed; the run is resumed with a new cluster
  headoff       the head loses its power; the same
  driver        the process of the run is killed; it is resumed

Afterwards the record on disk has to hold every trial once, with the status, reward, turns and
messages that one process comes to with the same seed. Prints a row each; exits with 1 where something
was wrong or took longer than its bound, and with 2 where hosts cannot be made.
"""

import argparse
import importlib.util
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from _hosts import LabError, network, until
from _lab import NAMES, TASKS, Lab, Program, write_tasks

BOUND_S = 240
"""Seconds that a scenario may take longer than the undisturbed run of one process."""
GONE_S = 30
"""Seconds within which workers of a driver that was killed have to be gone."""


def trials_of(run):
    """What each trial came to by its key: one entry for each of its lines."""
    found = {}
    for line in (run / "trials.jsonl").read_text().splitlines():
        record = json.loads(line)
        row = record["row"]
        key = tuple(row[name] for name in ("participant", "domain", "task_id", "trial"))
        result = tuple(row[name] for name in ("status", "reward", "seed", "turns", "termination"))
        messages = [{**m, "timestamp": None} for m in record["messages"]]
        found.setdefault(key, []).append((*result, json.dumps(messages, sort_keys=True)))
    return found


def wrong_with(run, expected):
    """What is lost, doubled or different on disk."""
    found, wrong = trials_of(run), []
    if lost := len(expected.keys() - found.keys()):
        wrong.append(f"{lost} trials lost")
    if added := len(found.keys() - expected.keys()):
        wrong.append(f"{added} trials of nobody")
    finished = {
        key: [result for result in results if result[0] != "failed"]
        for key, results in found.items()
    }
    if doubled := sum(len(results) > 1 for results in finished.values()):
        wrong.append(f"{doubled} trials finished twice")
    if open_ := sum(not results for results in finished.values()):
        wrong.append(f"{open_} trials failed")
    differing = [key for key in found if finished[key] and finished[key][-1] != expected[key][0]]
    if differing:
        key = differing[0]
        wrong.append(
            f"{len(differing)} trials differ: {key}: {finished[key][-1]} {expected[key][0]}"
        )
    report = json.loads((run / "report.json").read_text())
    rows = Counter((row["task_id"], row["trial"]) for row in report["trials"])
    if len(rows) != len(expected) or max(rows.values()) > 1:
        wrong.append("the report has other trials")
    return wrong


def undisturbed(lab, program):
    """Nothing happens."""


def cut(lab, program):
    lab.hosts["worker1"].cut()


def blink(lab, program):
    lab.hosts["worker1"].cut()
    program.wait(15)
    lab.hosts["worker1"].restore()


def off(lab, program):
    lab.hosts["worker1"].power_off()


def head(lab, program):
    for name in ("gcs_server", "raylet"):
        if not lab.hosts["head"].kill(name):
            raise RuntimeError(f"the head has no {name}")


def headoff(lab, program):
    lab.hosts["head"].power_off()


def driver(lab, program):
    if not playing(lab):
        raise RuntimeError("no worker was playing")
    lab.driver.kill("python")


SCENARIOS = (undisturbed, cut, head, headoff, driver, blink, off)
RESUMED = {head: {3}, headoff: {0, 3}, driver: {-signal.SIGKILL, 128 + signal.SIGKILL}}
"""How the run ends that is to be resumed; the others have to end by 0.

Without power the head is missed late: a run whose rest is played by then ends by 0.
"""


def play(lab, scenario, expected, bound_s, *, verbose):
    """Play one scenario; its row, and what was wrong."""
    lab.forget()
    lab.start_ray()
    program, wrong = Program(lab, lab.run()), []
    program.until_played(0.3)
    memory_mb = sum(lab.hosts[name].memory_mb() for name in NAMES[:-1])
    at_s = program.seconds
    scenario(lab, program)
    if not program.until_ended(bound_s):
        wrong.append(f"hangs: not ended {bound_s:g} s after {at_s:.0f} s")
    run = lab.newest_run()
    row = [program.seconds, program.longest_s, program.cpu_s, memory_mb, program.code]
    allowed = RESUMED.get(scenario, {0})
    if program.code not in allowed:
        wrong.append(f"exit code {program.code}: {lab.said()[-1500:]}")
    if scenario in RESUMED:
        before = trials_of(run)
        finished = sum(results[-1][0] != "failed" for results in before.values())
        print(
            f"  {finished} trials finished, {len(before) - finished} failed: {lab.reason()}",
            flush=True,
        )
        if scenario is driver:
            wrong += leftovers(lab)
        else:
            lab.end_ray()
            lab.start_ray()
        resumed = Program(lab, lab.greenroom("resume", run.name))
        if not resumed.until_ended(bound_s + 120):
            wrong.append("the resumed run hangs")
        print(f"  resumed in {resumed.seconds:.0f} s", flush=True)
        if resumed.code != 0:
            wrong.append(f"resume: exit code {resumed.code}: {lab.said()[-1500:]}")
    wrong += wrong_with(run, expected)
    if verbose:
        steps = [step for n, step in enumerate(program.history) if n % 40 == 0]
        print(f"  disturbed after {at_s:.0f} s; {steps} {program.history[-1]}", flush=True)
    lab.end_ray()
    return row, wrong


def playing(lab):
    """The processes that play trials."""
    hosts = [lab.hosts[name] for name in ("worker1", "worker2")]
    return [pid for host in hosts for pid in host.pids("ray::RemoteWorker")]


def leftovers(lab):
    """What is left of a driver that was killed."""

    try:
        began_s = time.monotonic()
        until(lambda: not playing(lab), GONE_S, "workers are left")
        print(f"  its workers were gone after {time.monotonic() - began_s:.1f} s", flush=True)
    except TimeoutError:
        return [f"{len(playing(lab))} workers are left {GONE_S} s after their driver was killed"]
    return []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    names = [each.__name__ for each in SCENARIOS]
    parser.add_argument("scenario", nargs="*", metavar="SCENARIO", help="default: all")
    parser.add_argument("--trials", type=int, default=2_000, help=f"a multiple of {TASKS}")
    parser.add_argument("--verbose", action="store_true", help="print when trials ended")
    options = parser.parse_args()
    if unknown := set(options.scenario) - set(names):
        parser.error(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if options.trials < TASKS or options.trials % TASKS:
        parser.error(f"--trials {options.trials} is not a multiple of {TASKS}")
    if importlib.util.find_spec("ray") is None:
        parser.error("needs the extra ray: make setup_all")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return play_all(options)
    except LabError as error:
        parser.error(str(error))


def play_all(options):
    """Play the scenarios, each against what one process comes to; the exit code."""
    broken = 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # hosts have a /tmp of their own
        folder = Path(name)
        write_tasks(folder / "data")
        with network(NAMES, folder) as hosts:
            lab = Lab(hosts, folder, options.trials)
            lab.serve_agent()
            alone = Program(lab, lab.run("local"))
            alone.until_ended(1800)
            if alone.code != 0:
                raise RuntimeError(f"one process ended with {alone.code}: {lab.said()[-800:]}")
            expected = trials_of(lab.newest_run())
            print(f"rewards {Counter(r[0][1] for r in expected.values())}")
            print(f"{'':<12}{'wall s':>8}{'stall s':>9}{'CPU s':>8}{'MB':>7}{'exit':>6}  wrong")
            row("one process", [alone.seconds, alone.longest_s, alone.cpu_s, 0, 0], [])
            for each in SCENARIOS:
                if options.scenario and each.__name__ not in options.scenario:
                    continue
                figures, wrong = play(
                    lab, each, expected, alone.seconds + BOUND_S, verbose=options.verbose
                )
                row(each.__name__, figures, wrong)
                broken += bool(wrong)
    return 1 if broken else 0


def row(name, figures, wrong):
    wall_s, stall_s, cpu_s, memory_mb, code = figures
    print(
        f"{name:<12}{wall_s:>8.1f}{stall_s:>9.1f}{cpu_s:>8.1f}{memory_mb:>7.0f}{code!s:>6}  "
        f"{'; '.join(wrong) or 'nothing'}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
