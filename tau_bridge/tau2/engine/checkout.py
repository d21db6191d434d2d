"""Checkout: an interpreter that has the official engine, asked what it is without importing it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tau_bridge.errors import DataError
from tau_bridge.tau2.data import DataSource

PYTHON: Final = "TAU2_PYTHON"
PROTOCOL: Final = 1
"""The version of the messages between the worker and us."""
PROBE_LIMIT_S: Final = 60
PROGRAM: Final = Path(__file__).parent / "tau2_worker" / "__main__.py"
DOMAINS: Final = ("airline", "banking_knowledge", "mock", "retail", "telecom", "telecom-workflow")
"""The domains of the official engine that can be played."""
BANKING: Final = "banking_knowledge"
_FOLDERS: Final = {"telecom-workflow": "telecom"}
RELEASES: Final = {
    "sha256:7330c282bb410ff6": "1.0.0",
    "sha256:112ddec431ce3a50": "1.0.1 before its release",
    "sha256:ecafe71987113361": "1.0.1",
    "sha256:ee2d751d679ef5a3": "1.0.1 (a2c0247)",
}
"""The releases whose source is known, by its digest. What the metadata say may be older."""
_MOST_QUOTED: Final = 500


class Identity(BaseModel):
    """A checkout, as its worker describes it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    protocol: int
    tau2: str
    python: str
    package: str
    data_dir: str
    code: str
    data: Mapping[str, str]

    @property
    def version(self) -> str:
        """Return the release by the digest of the source; what the metadata claim decides nothing."""
        known = RELEASES.get(self.code)
        return known if known is not None else f"of unknown source (calls itself {self.tau2})"

    def revision(self, domain: str) -> str:
        """Return what a result names: the release, and the digests of code and data.

        Raises:
            DataError: The checkout has no data of the domain.
        """
        if domain not in self.data:
            raise DataError(f"{self.data_dir!r} has no data of {domain!r}")
        return f"tau2-bench {self.version}, code {self.code}, data {self.data[domain]}"


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """An interpreter that starts a worker.

    Args:
        python: The interpreter, which has the official engine.
        data_dir: The folder of its data; None for its own.
    """

    python: str
    data_dir: Path | None = None

    def command(self, *arguments: str) -> list[str]:
        """Return the command that starts the worker."""
        folder = [] if self.data_dir is None else ["--data-dir", str(self.data_dir)]
        return [self.python, str(PROGRAM), *folder, *arguments]

    def cannot_start(self, error: OSError) -> DataError:
        """Return the error for an interpreter that the system does not start."""
        return DataError(
            f"{PYTHON} is {self.python!r}, which cannot be started ({error.strerror}): set it to "
            "the interpreter of an environment in which `import tau2` works"
        )


def identify(interpreter: Interpreter) -> Identity:
    """Ask an interpreter what its checkout is. Takes some tenths of a second.

    Raises:
        DataError: It cannot be started, has no official engine, or an unsuitable one.
    """
    try:
        probe = subprocess.run(  # noqa: S603 - the person at this machine names the interpreter
            interpreter.command("--probe"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_LIMIT_S,
            check=False,
            start_new_session=True,  # an interrupt at the terminal is ours
        )
    except OSError as error:
        raise interpreter.cannot_start(error) from error
    except subprocess.TimeoutExpired as error:
        raise DataError(
            f"{interpreter.python!r} did not say within {PROBE_LIMIT_S} s which tau2-bench it has: "
            f"see whether it starts at all, and correct {PYTHON}"
        ) from error
    lines = probe.stdout.splitlines() or [b""]
    try:
        answer = json.loads(lines[-1])
        if answer["type"] == "error":
            raise DataError(f"{interpreter.python!r} cannot play: {answer['text']}")
        identity = Identity.model_validate(answer)
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        said = (probe.stderr or probe.stdout).decode(errors="replace").strip()
        raise DataError(
            f"{PYTHON} is {interpreter.python!r}, which did not answer as an interpreter does "
            f"(exit code {probe.returncode}): {said[-_MOST_QUOTED:] or 'it said nothing'}"
        ) from error
    require_protocol(identity)
    return identity


def require_protocol(identity: Identity) -> None:
    """Check that a worker speaks our version of the messages.

    Raises:
        DataError: It does not.
    """
    if identity.protocol != PROTOCOL:
        raise DataError(
            f"the worker speaks version {identity.protocol} of the protocol, and this Greenroom "
            f"version {PROTOCOL}: both come with Greenroom, so reinstall it"
        )


class CheckoutData(DataSource):
    """The data that the official engine of a checkout plays.

    Args:
        identity: Of the checkout.

    Raises:
        DataFolderError: There are no such data.
    """

    def __init__(self, identity: Identity) -> None:
        super().__init__("official-engine", Path(identity.data_dir) / "tau2")
        self.identity = identity
        self._domains = tuple(
            name for name in DOMAINS if name in identity.data and self._has_tasks(name)
        )

    def __reduce__(self) -> tuple[Callable[[Identity], CheckoutData], tuple[Identity]]:
        """Pickle what the checkout is; another process reads the data itself."""
        return CheckoutData, (self.identity,)

    def revision(self, domain: str) -> str:
        """Return the release of the engine, and the digests of its code and of the data."""
        self._require(domain)
        return self.identity.revision(domain)

    def policy(self, domain: str, *, solo: bool = False) -> str:
        """Return the policy of a domain that has one for all of its tasks."""
        if domain not in _FOLDERS:
            return super().policy(domain, solo=solo)
        suffix = "_solo" if solo else ""
        main = self._document(domain, f"main_policy{suffix}")
        workflow = self._document(domain, f"tech_support_workflow{suffix}")
        return (
            f"<main_policy>\n{main}\n</main_policy>\n"
            f"<tech_support_policy>\n{workflow}\n</tech_support_policy>"
        )

    def _folder(self, domain: str) -> Path:
        return super()._folder(_FOLDERS.get(domain, domain))
