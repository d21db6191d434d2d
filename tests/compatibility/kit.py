"""Plays a checkout of the A2A compatibility kit against both servers, and prints what differs.

    python -m tests.compatibility.kit CHECKOUT [--python PYTHON]

PYTHON is the interpreter that has the kit's packages. The exit code is 1 where a2a-sdk's own edge
passes a check that ours does not, beyond what EXPECTED explains.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from adk_agent.service.listening import bound_socket
from tests.compatibility.server import LISTEN, SHOWN

ROOT = Path(__file__).parents[2]
EXPECTED = {
    "CORE-SEND-003": "the kit wants an error, and counts the one that the protocol names as none",
    "validates_against_schema": "a card for clients of 0.3 has the fields of 0.3 as well",
}
"""Parts of names of checks that ours fails, with the reason why it should."""


def main(arguments=None):
    """Play the kit against both servers; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="the folder of the kit, for 1.0 or 0.3")
    parser.add_argument("--python", default=sys.executable, help="has the kit's packages")
    parsed = parser.parse_args(arguments)
    checkout = parsed.checkout.resolve()
    if not (checkout / "tests").is_dir():
        parser.error(f"{parsed.checkout} is no checkout of the kit: it has no folder 'tests'")
    ours = played(checkout, parsed.python, bare=False)
    bare = played(checkout, parsed.python, bare=True)
    print(f"ours: {counts(ours)}\nbare: {counts(bare)}")  # noqa: T201 - the answer
    for name, ended in sorted(ours.items()):
        if ended != bare.get(name):
            print(f"{name}: ours {ended}, bare {bare.get(name)}")  # noqa: T201
    return int(bool(worse(ours, bare)))


def played(checkout, python, *, bare):
    """Play the kit against one server; return how each check ended, by its name."""
    with tempfile.TemporaryDirectory() as folder, served(bare=bare) as address:
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", f"--junitxml={report}", "-p", "no:cacheprovider"]
        subprocess.run([*command, *options(checkout, address)], cwd=checkout, check=False)
        if not report.exists():
            raise SystemExit(f"the kit did not run: see above; has {python} its packages?")
        return results(report)


def options(checkout, address):
    """Return the arguments of pytest, by the release of the kit."""
    if (checkout / "tests" / "compatibility").is_dir():
        return ["tests/compatibility", f"--sut-host={address}"]
    return ["tests/mandatory", "tests/optional", f"--sut-url={address}", "--test-scope=all"]


def results(report):
    """Read how the checks of a report in JUnit's format ended."""
    found = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - written by pytest just now
        kinds = [each.tag for each in case if each.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}::{case.get('name')}"] = kinds[0] if kinds else "passed"
    return found


def counts(found):
    """Say how many checks ended how."""
    return ", ".join(f"{number} {ended}" for ended, number in Counter(found.values()).most_common())


def worse(ours, bare):
    """Return the checks that only a2a-sdk's own edge passes, and nothing explains."""
    return [
        name
        for name, ended in ours.items()
        if ended in ("failure", "error") and bare.get(name) == "passed"
        if not any(part in name for part in EXPECTED)
    ]


@contextlib.contextmanager
def served(*, bare):
    """Serve one of them in a process; yields its address."""
    ports = []
    for _ in range(2):
        with bound_socket(LISTEN, 0) as probe:
            ports.append(probe.getsockname()[1])
    command = [sys.executable, "-m", "tests.compatibility.server"]
    command += ["--port", str(ports[0]), "--grpc-port", str(ports[1]), *(["--bare"] * bare)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            wait_for(ports[0])
            yield f"http://{SHOWN}:{ports[0]}"
        finally:
            process.terminate()


def wait_for(port):
    """Return when something answers."""
    import httpx

    with httpx.Client(transport=httpx.HTTPTransport(retries=10)) as client:
        client.get(f"http://{LISTEN}:{port}/.well-known/agent-card.json").raise_for_status()


if __name__ == "__main__":
    sys.exit(main())
