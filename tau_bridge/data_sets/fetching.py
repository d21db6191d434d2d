"""Fetching: brings the data of one commit, checks them, and lets them be played."""

from __future__ import annotations

import errno
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tau_bridge.clock import Clock
from tau_bridge.data_sets.archives import commit_of_archive, members_of_archive
from tau_bridge.data_sets.description import SHORT, DataSet
from tau_bridge.data_sets.download import OnProgress, Part, download
from tau_bridge.data_sets.folders import members_of_folder
from tau_bridge.data_sets.git import Git
from tau_bridge.data_sets.limits import FetchLimits
from tau_bridge.data_sets.members import Receipt, digest_of_folder, receive
from tau_bridge.data_sets.sources import Source, git_folder_of
from tau_bridge.data_sets.store import DATA_DIR_VARIABLE, Assurance, DataStore, FetchedData, Origin
from tau_bridge.errors import BridgeError, FetchError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order to fetch data.

    Args:
        name: The benchmark.
        data_set: Its data.
        commit: The commit.
        source: The place.
    """

    name: str
    data_set: DataSet
    commit: str
    source: Source

    @property
    def known_digest(self) -> str | None:
        """The digest that the files must have; None: nobody knows it."""
        return self.data_set.digest if self.commit == self.data_set.commit else None


@dataclass(frozen=True, kw_only=True)
class FetchDeps:
    """Everything that fetching needs of others.

    Args:
        clock: The time.
        environment: The environment of git.
        run: Runs a coroutine to its end.
        playable: Raises DataError where files cannot be played.
        say: Tells a person what goes on.
        on_progress: Is told about downloads.
        limits: The bounds.
    """

    clock: Clock
    environment: Mapping[str, str]
    run: Callable[[Coroutine[Any, Any, None]], None]
    playable: Callable[[FetchedData], object]
    say: Callable[[str], None]
    on_progress: OnProgress
    limits: FetchLimits = field(default_factory=FetchLimits)


@dataclass(frozen=True)
class Fetched:
    """The result of an order: the data, and whether they were there before."""

    data: FetchedData
    was_there: bool


def fetch(order: Order, store: DataStore, deps: FetchDeps) -> Fetched:
    """Bring the data of a commit, unless they are there, and let them be played from now on.

    Where this raises, the data that were there before are still there, and still the default.

    Raises:
        FetchError: They could not be brought, or are not what they should be.
    """
    with changing(store, deps.say):
        data = _there(order, store)
        if data is not None:
            store.use(order.commit)
            return Fetched(data, was_there=True)
        with store.draft() as draft:
            files = draft / order.commit
            files.mkdir()
            receipt, assurance = _brought(order, store, draft, files, deps)
            origin = _checked(order, receipt, assurance, deps)
            try:
                deps.playable(FetchedData(files, origin))
            except BridgeError as error:
                raise FetchError(f"commit {order.commit} cannot be played: {error}") from error
            data = store.keep(files, origin)
        store.use(order.commit)
        return Fetched(data, was_there=False)


@contextmanager
def changing(store: DataStore, say: Callable[[str], None]) -> Iterator[None]:
    """Let this process alone change the data of a benchmark; others wait.

    Raises:
        FetchError: The disk is full, or the folder cannot be used.
    """
    waiting = f"another command changes the data of {store.name}: waiting for it"
    with _on_disk(store.folder), store.locked(lambda: say(waiting)):
        yield


def _there(order: Order, store: DataStore) -> FetchedData | None:
    """Return the data that are there already, if they are whole."""
    if order.commit not in store.commits():
        return None
    try:
        data = store.get(order.commit)
    except BridgeError:
        return None
    wanted = order.known_digest or data.origin.digest
    whole = digest_of_folder(data.folder, order.data_set.in_repository) == wanted
    return data if whole and data.origin.digest == wanted else None


def _brought(
    order: Order, store: DataStore, draft: Path, files: Path, deps: FetchDeps
) -> tuple[Receipt, Assurance]:
    """Write the files of the source, and return them with how sure their commit is."""
    source, data_set, limits = order.source, order.data_set, deps.limits
    match source.kind:
        case "folder":
            members = members_of_folder(Path(source.place), data_set, limits)
            with _about(source):
                return receive(members, data_set.in_repository, files, limits), "claimed"
        case "archive file":
            return _from_archive(Path(source.place), order, files, limits)
        case "archive address":
            part = Part.of(store.downloads, source.place)
            deps.say(f"fetching {source.shown}")
            with _advised(order):
                deps.run(download(source.place, part, limits=limits, on_progress=deps.on_progress))
            try:
                return _from_archive(part.data, order, files, limits)
            finally:
                part.discard()  # a whole file that is wrong does not become right
        case _:
            return _from_git(order, draft / "repository", files, deps), "git"


def _from_archive(
    path: Path, order: Order, files: Path, limits: FetchLimits
) -> tuple[Receipt, Assurance]:
    with _about(order.source):
        named = commit_of_archive(path)
        if named not in (None, order.commit):
            raise FetchError(
                f"the archive is of commit {named}, and not of {order.commit[:SHORT]}: ask for it "
                f"with --commit {named}"
            )
        members = members_of_archive(path, limits)
        receipt = receive(members, order.data_set.in_archive, files, limits)
    return receipt, "claimed" if named is None else "archive"


def _from_git(order: Order, folder: Path, files: Path, deps: FetchDeps) -> Receipt:
    source, data_set = order.source, order.data_set
    git = Git(deps.environment, limits=deps.limits, clock=deps.clock)
    if source.kind == "git":
        deps.say(f"fetching {source.shown}")
        with _advised(order):
            git.fetch(source, order.commit, folder, lambda size: deps.on_progress(size, None))
    else:
        folder = git_folder_of(Path(source.place)) or Path(source.place)
        if not git.has(folder, order.commit):
            raise FetchError(
                f"{source.shown!r} has no commit {order.commit}, or git cannot read it: fetch the "
                "commit there, or name another with --commit"
            )
    used = [each for each in git.files(folder, order.commit) if data_set.in_repository(each[0])]
    if source.kind == "git":
        objects = [each[1] for each in used]
        with _advised(order):
            git.fetch_contents(source, objects, folder, lambda size: deps.on_progress(size, None))
    with _about(source):
        return receive(git.members(folder, used), data_set.in_repository, files, deps.limits)


def _checked(order: Order, receipt: Receipt, assurance: Assurance, deps: FetchDeps) -> Origin:
    known = order.known_digest
    if known not in (None, receipt.digest):
        raise FetchError(
            f"{order.source.shown} does not have the files of commit {order.commit[:SHORT]}: the "
            f"digest of its {receipt.files} files is {receipt.digest}, and should be {known}. To "
            "play another revision, name it with --commit"
        )
    return Origin(
        name=order.name,
        commit=order.commit,
        digest=receipt.digest,
        assurance=assurance if known is None else "digest",
        source=order.source.shown,
        fetched_at=deps.clock.now(),
        files=receipt.files,
        bytes=receipt.bytes,
    )


@contextmanager
def _about(source: Source) -> Iterator[None]:
    """Say of which source an error is."""
    try:
        yield
    except FetchError as error:
        raise FetchError(f"{source.shown}: {error}") from error


@contextmanager
def _advised(order: Order) -> Iterator[None]:
    """Say what else can be done where an address cannot be reached."""
    try:
        yield
    except FetchError as error:
        raise FetchError(
            f"{error}. Without the network: greenroom data fetch {order.name} --from ARCHIVE, or a "
            f"checkout, or set {order.data_set.variable} to a folder of the data"
        ) from error


@contextmanager
def _on_disk(folder: Path) -> Iterator[None]:
    """Say what to do where the disk is full or may not be written."""
    try:
        yield
    except OSError as error:
        where = repr(str(error.filename or folder))
        if error.errno in _FULL:
            raise FetchError(
                f"{where} cannot be written, because the disk is full ({error.strerror}): free some "
                f"space, or name another folder with {DATA_DIR_VARIABLE}"
            ) from error
        raise FetchError(
            f"{where} cannot be used: {error.strerror or error}; name another folder for fetched "
            f"data with {DATA_DIR_VARIABLE}"
        ) from error
