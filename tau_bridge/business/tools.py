"""BusinessTool: a tool of a scenario, what it does to the tables, and how it misbehaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, Field, model_validator

Json = Any
"""What JSON can hold."""
Text = Annotated[str, Field(min_length=1)]
Row = dict[str, Json]
"""A record. Its id is its key in the table, and no field of it."""
Tables = dict[str, dict[str, Row]]
"""Rows by their ids, by the name of their table."""


class Data(BaseModel):
    """Base of what the file of scenarios holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def check_known(owner: str, what: str, named: Collection[str], known: Collection[str]) -> None:
    """Refuse a name that stands for nothing.

    Raises:
        ValueError: `owner` names a `what` that is not known.
    """
    unknown = sorted(set(named).difference(known))
    if unknown:
        msg = f"{owner} names the {what} {unknown[0]!r}, which it does not have"
        raise ValueError(msg)


class Get(Data):
    """Gives one row of a table by its id."""

    kind: Literal["get"]
    table: Text
    key: Text
    """The parameter that holds the id; the row is given with its id under this name."""


class Find(Data):
    """Gives the rows of a table that have every value that was asked for."""

    kind: Literal["find"]
    table: Text
    key: Text
    """The name under which each row has its id."""
    by: tuple[Text, ...] = ()
    """Parameters that are columns too. A text is found as a whole or as a word of a longer one."""


class SetFields(Data):
    """Changes fields of one row."""

    kind: Literal["set"]
    table: Text
    key: Text
    fields: dict[str, Json]
    """New values by column; `$name` stands for a parameter, left alone where it is not given."""
    needs: dict[str, Json] = Field(default_factory=dict)
    """What the row has to hold beforehand; otherwise the call is refused."""


class Insert(Data):
    """Adds a row, with an id of the tool's own making."""

    kind: Literal["insert"]
    table: Text
    key: Text
    prefix: str
    fields: dict[str, Json]
    refers: dict[str, Text] = Field(default_factory=dict)
    """Tables by parameter: what is named has to be there."""


class RequestApproval(Data):
    """Asks for an approval of what `subject_id` names; the scenario knows what comes of it."""

    kind: Literal["request_approval"]


class GetApproval(Data):
    """Says how an approval stands."""

    kind: Literal["get_approval"]


class Escalate(Data):
    """Hands a case over to a person."""

    kind: Literal["escalate"]


Effect = Annotated[
    Get | Find | SetFields | Insert | RequestApproval | GetApproval | Escalate,
    Field(discriminator="kind"),
]


def parameters_in(fields: Mapping[str, Json]) -> dict[str, str]:
    """The parameters that the values of an effect's fields stand for, by column."""
    return {
        column: value[1:]
        for column, value in fields.items()
        if isinstance(value, str) and value.startswith("$")
    }


def _taken(effect: Effect) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters that an effect has to be given, and those that it uses where they are."""
    match effect:
        case Get():
            return (effect.key,), ()
        case Find():
            return (), effect.by
        case SetFields():
            return (effect.key,), tuple(parameters_in(effect.fields).values())
        case Insert():
            return (), (*parameters_in(effect.fields).values(), *effect.refers)
        case RequestApproval() | Escalate():
            return ("subject_id",), ()
        case GetApproval():
            return ("approval_id",), ()
        case _:
            assert_never(effect)


class _Described(BaseModel):
    """What is checked of a parameter's schema."""

    type: Literal["string", "integer", "number", "boolean", "array", "object"] | None = None
    enum: list[Json] | None = None
    minimum: float | None = None

    @model_validator(mode="after")
    def _compares(self) -> Self:
        if self.minimum is not None and self.type not in ("integer", "number"):
            msg = f"a minimum is for numbers, not for {self.type}"
            raise ValueError(msg)
        return self


class _Schema(BaseModel):
    """What is checked of a tool's schema."""

    type: Literal["object"] = "object"
    properties: dict[Text, _Described] = Field(default_factory=dict)
    required: tuple[Text, ...] = ()


class Annotations(Data):
    """What a tool says of itself beside its schema, in the words of the Model Context Protocol."""

    readOnlyHint: bool  # noqa: N815 - the protocol's spelling


class BusinessTool(Data):
    """A tool as it is listed, and what it does.

    Args:
        name: What it is called by.
        description: For the agent.
        input_schema: JSON schema of an object: types, enums, minimums and what is required.
        annotations: Whether it reads only; None where it does not say.
        effect: What a call does.
        drift: New names of parameters that hold from the first call on: the list that an agent has
            read before is out of date then, and a list that it reads afterwards is right.
        fails: `first`: the first call that is well formed is answered by an error, as one of a
            service that is restarted; `always`: every one is.
    """

    name: Text
    description: Text
    input_schema: dict[str, Json]
    annotations: Annotations | None = None
    effect: Effect
    drift: dict[Text, Text] = Field(default_factory=dict)
    fails: Literal["first", "always"] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Refuse names that lead nowhere: a call would break on them."""
        schema = _Schema.model_validate(self.input_schema)
        owner = f"tool {self.name!r}"
        needed, used = _taken(self.effect)
        known = {*schema.properties}
        check_known(owner, "parameter", [*schema.required, *needed, *used, *self.drift], known)
        check_known(owner, "required parameter", needed, schema.required)
        kept = [*known.difference(self.drift), *self.drift.values()]
        if len(set(kept)) < len(kept):
            msg = f"{owner} has two parameters of one name once they are renamed"
            raise ValueError(msg)
        return self

    def listed(self, *, drifted: bool) -> dict[str, Json]:
        """The tool in a list of tools, before or after its parameters have got new names."""
        shown: dict[str, Json] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.schema_now() if drifted else self.input_schema,
        }
        if self.annotations is not None:
            shown["annotations"] = self.annotations.model_dump()
        return shown

    def schema_now(self) -> dict[str, Json]:
        """The schema by which calls are checked: with the parameters' new names."""
        properties = self.input_schema.get("properties", {})
        required = self.input_schema.get("required", [])
        return {
            **self.input_schema,
            "properties": {self.drift.get(name, name): how for name, how in properties.items()},
            "required": [self.drift.get(name, name) for name in required],
        }

    def by_listed_names(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """Arguments that were given by the parameters' new names, by those that are listed."""
        before = {new: old for old, new in self.drift.items()}
        return {before.get(name, name): value for name, value in arguments.items()}
