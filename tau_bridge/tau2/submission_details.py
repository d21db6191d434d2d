"""Details: what a submission to the τ²-bench leaderboard says that no run knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

EXAMPLE = """\
model_name = "My Agent 1"
model_organization = "Example Labs"
submitting_organization = "Example Labs"
submission_date = 2026-08-20
notes = "One language model with a planner in front. The planner ..."

[contact_info]
email = "someone@example.com"

[[references]]
title = "The agent's code"
url = "https://example.com/my-agent"
type = "github"
"""

_Text = Annotated[str, Field(min_length=1)]
_Name = Annotated[str, Field(pattern=r"[A-Za-z0-9]")]
"""A name with something that can stand in the name of a folder."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Contact(_Part):
    """The person to ask about the submission."""

    email: _Text
    name: _Text | None = None
    github: _Text | None = None


class Reference(_Part):
    """A link."""

    title: _Text
    url: Annotated[str, Field(pattern=r"^https?://")]
    type: _Text | None = None


class ModelRelease(_Part):
    """The publication of the model itself."""

    release_date: date
    announcement_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    announcement_title: _Text | None = None


class Details(_Part):
    """The fields of `submission.json` that a person fills in, by the same names.

    `notes` becomes `methodology.notes`, and `tau2_bench_version` that of the methodology.
    """

    model_name: _Name
    model_organization: _Name
    submitting_organization: _Text
    submission_date: date
    contact_info: Contact
    references: Annotated[tuple[Reference, ...], Field(min_length=1)]
    """One at least: submissions with another scaffold than the default link to their code."""
    notes: _Text
    """The way in which the agent works, which submissions with a scaffold of their own have to say."""
    reasoning_effort: _Text | None = None
    is_new: bool = False
    model_release: ModelRelease | None = None
    tau2_bench_version: _Text | None = None
    """The release that the task data are of, where that is not the one known here."""
    agents: tuple[str, ...] = ()
    """The addresses of the agent, where the runs have those of others or it has several."""

    @model_validator(mode="before")
    @classmethod
    def _is_custom(cls, value: Any) -> Any:
        """Take `submission_type` where it says what the submission has to be."""
        if not isinstance(value, Mapping) or "submission_type" not in value:
            return value
        if value["submission_type"] != "custom":
            raise ValueError(
                'submission_type can only be "custom": an agent that is played over A2A does not '
                "run in the leaderboard's default scaffold"
            )
        return {name: each for name, each in value.items() if name != "submission_type"}


def parse_details(values: Mapping[str, Any]) -> tuple[Details | None, Sequence[str]]:
    """Return the details, or None and what is wrong with them."""
    try:
        return Details.model_validate(dict(values)), ()
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    missing = [_place(each["loc"]) for each in problems if each["type"] == "missing"]
    wrong = [
        f"the details: {_worded(_place(each['loc']), each['type'], each['msg'])}"
        for each in problems
        if each["type"] != "missing"
    ]
    if missing:
        wrong.insert(0, f"the details lack {', '.join(missing)}")
    return None, wrong


def _worded(place: str, kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return f"there is no field {place}"
    return f"{place}: {message}" if place else message


def _place(parts: Sequence[str | int]) -> str:
    return ".".join(map(str, parts))
