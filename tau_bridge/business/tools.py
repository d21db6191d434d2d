"""BusinessTool: a tool of a scenario, what it does to the tables, and how it misbehaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, Field, model_validator

Json = Any
"""Any JSON value."""
Text = Annotated[str, Field(min_length=1)]
Row = dict[str, Json]
"""A record. Its id is its key in the table, not a field."""
Tables = dict[str, dict[str, Row]]
"""Rows by their ids, by the name of their table."""


class Data(BaseModel):
    """Base of the models that the file of scenarios is parsed into."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def check_known(owner: str, what: str, named: Collection[str], known: Collection[str]) -> None:
    """Refuse a name that nothing has.

    Raises:
        ValueError: `owner` names a `what` that is not known.
    """
    unknown = sorted(set(named).difference(known))
    if unknown:
        raise ValueError(f"{owner} names the {what} {unknown[0]!r}, which it does not have")


class Get(Data):
    """Return one row of a table by its id."""

    kind: Literal["get"]
    table: Text
    key: Text
    """The parameter that holds the id; the row is given with its id under this name."""


class Find(Data):
    """Return the rows of a table that have every given value."""

    kind: Literal["find"]
    table: Text
    key: Text
    """The name under which each row has its id."""
    by: tuple[Text, ...] = ()
    """Parameters that are columns too. A text matches whole, or as a word of a longer one."""


class SetFields(Data):
    """Change fields of one row."""

    kind: Literal["set"]
    table: Text
    key: Text
    fields: dict[str, Json]
    """New values by column; `$name` stands for a parameter, left alone where it is not given."""
    needs: dict[str, Json] = Field(default_factory=dict)
    """Values that the row must have beforehand; otherwise the call is refused."""


class Insert(Data):
    """Add a row with a new id."""

    kind: Literal["insert"]
    table: Text
    key: Text
    prefix: str
    fields: dict[str, Json]
    refers: dict[str, Text] = Field(default_factory=dict)
    """Tables by parameter: the named row must exist."""


class RequestApproval(Data):
    """Ask for an approval of what `subject_id` names; the scenario has the decision."""

    kind: Literal["request_approval"]


class GetApproval(Data):
    """Return the status of an approval."""

    kind: Literal["get_approval"]


class Escalate(Data):
    """Hand a case over to a person."""

    kind: Literal["escalate"]


Effect = Annotated[
    Get | Find | SetFields | Insert | RequestApproval | GetApproval | Escalate,
    Field(discriminator="kind"),
]


def parameters_in(fields: Mapping[str, Json]) -> dict[str, str]:
    """Map columns to the parameters that an effect fills them from."""
    return {
        column: value[1:]
        for column, value in fields.items()
        if isinstance(value, str) and value.startswith("$")
    }


def _parameters_of(effect: Effect) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters that an effect requires, and those that it uses if they are given."""
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


class _ParameterSchema(BaseModel):
    """The part of a parameter's schema that is checked."""

    type: Literal["string", "integer", "number", "boolean", "array", "object"] | None = None
    enum: list[Json] | None = None
    minimum: float | None = None

    @model_validator(mode="after")
    def _compares(self) -> Self:
        if self.minimum is not None and self.type not in ("integer", "number"):
            raise ValueError(f"a minimum is for numbers, not for {self.type}")
        return self


class _Schema(BaseModel):
    """The part of a tool's schema that is checked."""

    type: Literal["object"] = "object"
    properties: dict[Text, _ParameterSchema] = Field(default_factory=dict)
    required: tuple[Text, ...] = ()


class Annotations(Data):
    """A tool's annotations, in the words of the Model Context Protocol."""

    readOnlyHint: bool  # noqa: N815 - the protocol's spelling


class BusinessTool(Data):
    """A tool as it is listed, and what it does.

    Args:
        name: Its name in calls.
        description: Text for the agent.
        input_schema: JSON schema of an object: types, enums, minimums and what is required.
        annotations: Tells whether it only reads; None where it does not say.
        effect: The effect of a call.
        drift: New names of parameters from the first call on: a list that was read before is then
            out of date, and one that is read afterwards is right.
        fails: `first`: the first well-formed call is answered with an error, as by a service that
            restarts; `always`: every one is.
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
        """Refuse names that nothing has: a call would break on them."""
        schema = _Schema.model_validate(self.input_schema)
        owner = f"tool {self.name!r}"
        needed, used = _parameters_of(self.effect)
        known = {*schema.properties}
        check_known(owner, "parameter", [*schema.required, *needed, *used, *self.drift], known)
        check_known(owner, "required parameter", needed, schema.required)
        kept = [*known.difference(self.drift), *self.drift.values()]
        if len(set(kept)) < len(kept):
            raise ValueError(f"{owner} has two parameters of one name once they are renamed")
        return self

    def listed(self, *, drifted: bool) -> dict[str, Json]:
        """Describe the tool for a list of tools, before or after its parameters are renamed."""
        shown: dict[str, Json] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.current_schema() if drifted else self.input_schema,
        }
        if self.annotations is not None:
            shown["annotations"] = self.annotations.model_dump()
        return shown

    def current_schema(self) -> dict[str, Json]:
        """Return the schema that calls are checked against, with the parameters' new names."""
        properties = self.input_schema.get("properties", {})
        required = self.input_schema.get("required", [])
        return {
            **self.input_schema,
            "properties": {self.drift.get(name, name): how for name, how in properties.items()},
            "required": [self.drift.get(name, name) for name in required],
        }

    def by_listed_names(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """Return arguments with the listed names in place of the new ones."""
        before = {new: old for old, new in self.drift.items()}
        return {before.get(name, name): value for name, value in arguments.items()}
