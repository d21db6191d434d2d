"""How often simulated users are at fault: python performance/users.py [FOLDER]

Checks the user of every recorded conversation that a language model played, over all results files of
a folder (else the one that GREENROOM_PARITY_DIR names), and prints how many have a fault, by kind,
proven and possible, and how many of those passed and did not; --verbose prints each with its words.

People measure the rules. `--sample 40 --seed 7 --out FOLDER` writes 40 conversations as blind texts,
one file each, with instructions and a file to fill in; its key is FOLDER.key.json. Copy that file for
each of two readers. `--labels A.csv B.csv --out FOLDER` reads the two back: how far they agree
(Cohen's kappa), and precision and recall of the rules where both say the same, with 95 % intervals.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from _user_labels import KINDS, read_key, read_labels, with_model_user, write_sample

from evals.agreement import agreement_of
from evals.reward import is_success
from evals.user_check import check_user, heard_in


def checked(recorded):
    """Return what the rules find in a recorded conversation."""
    scenario = recorded.task["user_scenario"]
    given = scenario["instructions"]
    parts = given.values() if isinstance(given, dict) else (given,)
    history = (recorded.task.get("initial_state") or {}).get("message_history") or ()
    texts = [scenario.get("persona"), *parts]
    return check_user(
        heard_in(
            recorded.simulation["messages"],
            "\n".join(each for each in texts if each),
            began=len(history),
        )
    )


def report(recorded, *, verbose):
    """Print how many conversations have a fault, by kind."""
    found = [(each, checked(each)) for each in recorded]
    print(f"{'kind':12}{'proven':>9}{'possible':>10}   (conversations, of {len(found)})")
    for kind in KINDS:
        by_certainty = Counter(
            certainty
            for _, check in found
            for certainty in {each.certainty for each in check.faults if each.kind == kind}
        )
        print(f"{kind:12}{by_certainty['proven']:>9}{by_certainty['possible']:>10}")
    proven = [each for each, check in found if check.proven]
    possible = [each for each, check in found if check.faults and not check.proven]
    print(f"{'any':12}{len(proven):>9}{len(possible):>10}   (possible: without a proven one)")
    for title, group in (
        ("proven", proven),
        ("no proven", [e for e in recorded if e not in proven]),
    ):
        rewards = [(each.simulation.get("reward_info") or {}).get("reward") for each in group]
        passed = sum(reward is not None and is_success(reward) for reward in rewards)
        print(f"passed, of those with {title} fault: {passed} of {len(group)}")
    if verbose:
        for each, check in found:
            for fault in check.faults:
                print(
                    f"{each.file} {each.name[:8]} [{fault.message}] {fault.kind}, "
                    f"{fault.certainty}: {fault.reason}: {fault.quote!r}"
                )


def measure(recorded, folder, paths):
    """Print how far two readers agree, and how the rules compare with what both say."""
    key = read_key(folder)
    by_name = {each.name: each for each in recorded}
    one, other = (read_labels(path, key) for path in paths)
    checks = {name: checked(by_name[each["id"]]) for name, each in key.items()}
    print("readers, `yes` against the rest:")
    for kind in (*KINDS, "any"):
        agreed = agreement_of((_says(one[n], kind), _says(other[n], kind)) for n in key)
        print(f"  {kind:12} kappa {_worded(agreed.kappa)}, equal {_worded(agreed.observed)}")
    for title, sure in (("proven", True), ("proven or possible", False)):
        print(f"rules ({title}) against readers who agree:")
        for kind in (*KINDS, "any"):
            names = [n for n in key if _says(one[n], kind) == _says(other[n], kind)]
            found = agreement_of(
                (_says(one[n], kind), _finds(checks[n], kind, sure=sure)) for n in names
            )
            print(
                f"  {kind:12} precision {_worded(found.precision)}, recall "
                f"{_worded(found.sensitivity)}, specificity {_worded(found.specificity)}"
            )


def _says(label, kind):
    """Whether a reader is sure of a fault of a kind, or of any."""
    kinds = KINDS if kind == "any" else (kind,)
    return any(label.verdicts[each] == "yes" for each in kinds)


def _finds(check, kind, *, sure):
    faults = check.proven if sure else check.faults
    return any(kind in (each.kind, "any") for each in faults)


def _worded(share):
    if share.value is None or share.interval is None:
        return "-"
    return f"{share.value:.2f} ({share.interval.low:.2f} to {share.interval.high:.2f}, n = {share.cases})"


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("GREENROOM_PARITY_DIR"))
    parser.add_argument("--verbose", action="store_true", help="print every fault with its words")
    parser.add_argument("--sample", type=int, metavar="N", help="write N blind texts to --out")
    parser.add_argument("--seed", type=int, default=7, help="of the sample (default: 7)")
    parser.add_argument("--labels", nargs=2, type=Path, metavar="FILE", help="two readers' labels")
    parser.add_argument("--out", type=Path, default=Path("user-labels"), help="the sample's folder")
    parser.add_argument(
        "--apart-from", type=Path, metavar="FOLDER", help="leave out a sample's conversations"
    )
    options = parser.parse_args()
    paths = sorted(Path(options.folder).glob("*.json*")) if options.folder else []
    recorded = with_model_user(paths)
    if not recorded:
        print("skipped: no results files (give a folder, or set GREENROOM_PARITY_DIR)")
        return 0
    if options.apart_from is not None:
        sampled = {each["id"] for each in read_key(options.apart_from).values()}
        recorded = [each for each in recorded if each.name not in sampled]
    if options.sample is not None:
        write_sample(recorded, options.out, size=options.sample, seed=options.seed)
        print(f"{options.sample} texts in {options.out}: start with {options.out / 'README.md'}")
    elif options.labels:
        measure(recorded, options.out, options.labels)
    else:
        report(recorded, verbose=options.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
