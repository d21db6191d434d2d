"""FetchLimits: the bounds of what is fetched from others."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """Bounds, far above what a repository of task data needs.

    Args:
        download_bytes: Of an archive, or of what git fetches.
        unpacked_bytes: Of everything in an archive, also what is not kept.
        kept_bytes: Of all files that are kept.
        members: Of an archive or a repository.
        header_bytes: Of one header of an archive, and of the list of its members.
        connect_s: To connect.
        stalled_s: Without progress.
        progress_bytes: What counts as progress.
        attempts: Of a download that breaks off.
        wait_s: Before the second attempt; twice as long before each further one.
    """

    download_bytes: int = 1024 * MIB
    unpacked_bytes: int = 4096 * MIB
    kept_bytes: int = 256 * MIB
    members: int = 200_000
    header_bytes: int = 32 * MIB
    connect_s: float = 10.0
    stalled_s: float = 60.0
    progress_bytes: int = 16 * 1024
    attempts: int = 5
    wait_s: float = 1.0
