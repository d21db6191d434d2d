"""Sources: what a person may name as the place of data, and which kind of place it is."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from tau_bridge.errors import DataError
from tau_bridge.redaction import MASK

SourceKind = Literal["archive file", "archive address", "folder", "repository folder", "git"]

_ARCHIVE = re.compile(r"\.(?:tar\.gz|tgz|zip)$|/(?:tar\.gz|zip)/")
"""Ends the path of an archive's address, or stands in it, as in those of codeload.github.com."""
_SCP = re.compile(r"[\w.-]+@[\w.-]+:(?!/)[^:]+")
"""A repository's address in the way of scp: git@github.com:owner/name."""
_SCHEMES = ("https", "http", "ssh", "file")


@dataclass(frozen=True)
class Source:
    """A place of data.

    Args:
        kind: What it is.
        place: Its address or path.
        shown: The same without a password or token.
    """

    kind: SourceKind
    place: str
    shown: str

    def hidden(self, text: str) -> str:
        """Return what a program said about the place, without its credentials."""
        text = text.replace(self.place, self.shown)
        if self.shown == self.place or "://" not in self.place:
            return text
        user = urlsplit(self.place).netloc.rpartition("@")[0]
        for secret in filter(None, (user, *user.split(":"))):
            text = text.replace(secret, MASK)
        return text


def source_of(named: str) -> Source:
    """Return the place that a person named by an address or a path.

    Raises:
        DataError: It is neither an address of a known kind, nor a file or folder that exists.
    """
    if _SCP.fullmatch(named):
        return Source("git", named, named)
    scheme, separator, _ = named.partition("://")
    if separator:
        return _of_address(named, scheme.lower())
    path = Path(named).expanduser()
    if named and path.is_dir():
        kind: SourceKind = "repository folder" if git_folder_of(path) is not None else "folder"
        return Source(kind, str(path), str(path))
    if path.is_file():
        return Source("archive file", str(path), str(path))
    raise DataError(
        f"there is no file or folder {named!r}, and it is no address: name an archive, a folder or "
        "a git repository"
    )


def git_folder_of(folder: Path) -> Path | None:
    """Return the folder in which git keeps a repository; None: the folder is none."""
    for each in (folder / ".git", folder):
        if each.is_file():  # as in a further work tree, which says there where the repository is
            return each
        if (each / "HEAD").is_file() and (each / "objects").is_dir():
            return each
    return None


def _of_address(address: str, scheme: str) -> Source:
    shown = without_credentials(address)
    if scheme not in _SCHEMES:
        raise DataError(f"{shown!r} cannot be fetched: give an https, ssh or file address")
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise DataError(f"{shown!r} is no address: {error}") from error
    if scheme == "file":
        path = Path(unquote(parts.path))
        if host not in ("", "localhost") or not path.exists():
            raise DataError(f"there is no file or folder {shown!r} on this machine")
        is_file = path.is_file()
        return (
            Source("archive file", str(path), shown) if is_file else Source("git", address, shown)
        )
    if not host or host.startswith("-"):
        raise DataError(f"{shown!r} has no host")
    if scheme == "http" and not is_loopback(host):
        raise DataError(
            f"{shown!r} is not encrypted, so that anybody on the way could change the data: use "
            "https, or download it yourself and name the file"
        )
    is_archive = scheme != "ssh" and _ARCHIVE.search(parts.path) is not None
    return Source("archive address" if is_archive else "git", address, shown)


def without_credentials(address: str) -> str:
    """Return an address without user, password and query, for messages."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "the address"
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def is_loopback(host: str) -> bool:
    """Tell whether a host of an address is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
