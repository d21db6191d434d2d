"""The errors of this package and their exit codes.

GreenroomError
├── RequestError        the request, a flag or a setting cannot be used      (exit 2)
├── PreflightError      a participant or a model cannot be reached           (exit 3)
├── StorageError        the run directory cannot be written or read          (exit 3)
│   └── DamagedError    one of its files has invalid contents
├── RunCanceledError    the run was stopped from outside                     (exit 130)
└── ModelError          a configured language model failed                   (exit 3)
"""

from __future__ import annotations

from tau_bridge.errors import DataError, ReportError


class GreenroomError(Exception):
    """Base class of the errors that this package raises on purpose."""

    exit_code = 3


class RequestError(GreenroomError):
    """The request cannot be turned into a plan. The message says what to change."""

    exit_code = 2


class PreflightError(GreenroomError):
    """Something that the run needs is unavailable; nothing was scored."""


class StorageError(GreenroomError):
    """The run directory cannot be written or read."""


class NoResultsError(StorageError):
    """A run has nothing to show: it ended before its first trial, or has only begun."""


class DamagedError(StorageError):
    """A file of the run directory has invalid contents, and no newer version wrote it."""


class RunCanceledError(GreenroomError):
    """The run was stopped from outside. Finished trials are on disk."""

    exit_code = 130


class ModelError(GreenroomError):
    """A configured language model could not be called."""


def exit_code_of(error: Exception) -> int:
    """Return the exit code of an error of this package or of the bridge."""
    if isinstance(error, DataError | ReportError):
        return RequestError.exit_code
    return error.exit_code if isinstance(error, GreenroomError) else GreenroomError.exit_code
