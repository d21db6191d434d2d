"""Coverage-guided fuzzing with atheris: `python -m tests.fuzzing.fuzz [TARGET ...] [--seconds N]`.

It needs `pip install atheris==3.0.0`, and Linux. Each target is fuzzed in a process of its own, from
its seeds and the corpus beside this file; the exit code is 1 where one broke. The inputs that broke
it are written to `--findings`, one for each place in the code: put them into `corpus/TARGET/`, where
`test_corpus` plays them from then on.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
INSTRUMENTED = ["adk_agent", "evals", "purple_agent", "tau_bridge", "lark"]
LONGEST = 20_000
SLOWEST_S = 20
HOSTILE = (
    None, True, 0, -1, 1e308, 10**400, 2**63, float("nan"), "", " ", "\0", "\ud800", "\x1b[31m", "x" * 5000,
    "9" * 400, "1e999999", "2026-13-45T99:99:99Z", [], {}, [[]], {"": {}}, "null", "{}", "ıİß\u202e",
    "http://[::1", "../../etc", "9" * 5000,
)  # fmt: skip


def main(arguments=None):
    """Fuzz the targets one after the other, or one of them in this process."""
    from tests.fuzzing.targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="time for each target")
    parser.add_argument("--findings", type=Path, default=Path("fuzzing-findings"))
    parser.add_argument("--work", type=Path, help="folder of inputs found, kept between runs")
    parsed = parser.parse_args(arguments)
    if unknown := [name for name in parsed.targets if name not in TARGETS]:
        parser.error(f"no target {unknown[0]!r}; there are: {', '.join(TARGETS)}")
    work = parsed.work or Path(tempfile.mkdtemp(prefix="fuzzing-corpus-"))
    found = [
        played(name, parsed.seconds, parsed.findings / name, work / name)
        for name in parsed.targets or TARGETS
    ]
    return int(any(found))


def played(name, seconds, findings, work):
    """Fuzz one target in a process of its own; return whether something was found."""
    for folder in (findings, work):
        folder.mkdir(parents=True, exist_ok=True)
    log, began = findings / "log.txt", time.monotonic()
    options = [
        f"-max_total_time={seconds}", f"-artifact_prefix={findings}/", f"-timeout={SLOWEST_S}",
        f"-max_len={LONGEST}", "-rss_limit_mb=4096", "-print_final_stats=1",
    ]  # fmt: skip
    code = f"from tests.fuzzing import fuzz; fuzz.one({name!r}, {str(findings)!r})"
    with log.open("w") as out:
        command = [sys.executable, "-c", code, *options, str(work)]
        ended = subprocess.run(command, stdout=out, stderr=out, check=False).returncode
    text = log.read_text(errors="replace")
    runs = re.search(r"number_of_executed_units: (\d+)", text)
    edges = re.findall(r"cov: (\d+)", text)
    found = sorted(path.name for path in findings.iterdir() if path != log)
    print(  # noqa: T201 - the answer
        f"{name}: {runs[1] if runs else '?'} inputs in {time.monotonic() - began:.0f} s,"
        f" {edges[-1] if edges else '?'} edges, {len(found)} findings",
        *found,
        *([f"ended with {ended}: see {log}"] if ended else []),
        sep="\n  ",
        flush=True,
    )
    return bool(found or ended)


def one(name, findings):
    """Fuzz one target in this process, which ends with it."""
    import atheris

    folder = Path(sys.argv[-1])
    with atheris.instrument_imports(include=INSTRUMENTED):
        from tests.fuzzing import targets

        for number, seed in enumerate(targets.seeds(name)):
            (folder / f"seed-{number}").write_bytes(seed)
            targets.TARGETS[name](seed)  # imports the rest
    for known in sorted(CORPUS.glob(f"{name}/*")):
        (folder / f"known-{known.name}").write_bytes(known.read_bytes())
    target = noting(targets.TARGETS[name], Path(findings))
    atheris.Setup(sys.argv, target, custom_mutator=mutate)
    atheris.Fuzz()


def noting(target, findings):
    """Return the target that writes what breaks it, once for each place, and goes on."""

    def noted(data):
        try:
            target(data)
        except Exception as error:  # noqa: BLE001 - whatever it is
            ours = [
                frame
                for frame in traceback.extract_tb(error.__traceback__)
                if Path(frame.filename).is_relative_to(ROOT) and ".venv" not in frame.filename
            ]
            place = f"{Path(ours[-1].filename).stem}-{ours[-1].lineno}" if ours else "elsewhere"
            path = findings / f"{type(error).__name__}-{place}"
            if not path.exists():
                path.write_bytes(data)
                traceback.print_exc()

    return noted


def mutate(data, max_size, seed):
    """Change a place of a JSON document half of the time, else bytes as they come."""
    import atheris

    choose = random.Random(seed)  # noqa: S311 - no secret
    start = 1 if (data[:1] and data[0] < 32) or data[:1] >= b"\x80" else 0
    end = len(data) - (2 if data.endswith(b"\n\n") else 0)
    start += len(b"data: ") if data[start:].startswith(b"data: ") else 0
    if choose.random() < 0.6:
        try:
            document = json.loads(data[start:end])
            changed = json.dumps(_changed(document, choose)).encode()
        except (ValueError, RecursionError):
            pass
        else:
            whole = data[:start] + changed + data[end:]
            if len(whole) <= max_size:
                return whole
    return atheris.Mutate(data, max_size)


def _changed(document, choose):
    """Replace, repeat or remove one value of a document, or put it where another was."""
    places = list(_places(document))
    if not places:
        return choose.choice(HOSTILE)
    holder, key = choose.choice(places)
    what = choose.randrange(6)
    if what == 0:
        del holder[key]
    elif what == 1:
        other, name = choose.choice(places)
        holder[key] = json.loads(json.dumps(other[name]))
    elif what == 2 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    elif what == 3 and isinstance(holder, dict):
        holder[str(choose.choice(HOSTILE))] = holder.pop(key)
    elif what == 4 and isinstance(holder[key], str):
        at = choose.randint(0, len(holder[key]))
        holder[key] = holder[key][:at] + str(choose.choice(HOSTILE)) + holder[key][at:]
    else:
        holder[key] = choose.choice(HOSTILE)
    return document


def _places(value):
    """Yield every holder and key of a document."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


if __name__ == "__main__":
    raise SystemExit(main())
