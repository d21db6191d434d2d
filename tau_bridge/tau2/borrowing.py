"""Makes a plain class out of another library's class, without touching the original."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from tau_bridge.tau2.blueprint import Toolkit
from tau_bridge.tau2.tables import Database


def borrow_toolkit(
    source: Any,
    name: str,
    *,
    without: frozenset[str],
    replace: Mapping[str, Any] | None = None,
    add: Mapping[str, Callable[..., Any]] | None = None,
) -> Callable[[Database], Toolkit]:
    """Make a plain class of a pydantic class's functions and properties, over a given database.

    Args:
        source: The pydantic class. It stays as it is; its functions are copied.
        name: The new class's name, which Python puts into messages about wrong arguments.
        without: Fields and functions of `source` to leave out.
        replace: Names that the copied functions shall find in place of their module's.
        add: Methods beside, or instead of, the copied ones.
    """
    members: dict[str, Any] = {}
    for attribute, value in vars(source).items():
        if isinstance(value, types.FunctionType) and attribute not in without:
            members[attribute] = copy_function(value, name, replace)
        elif isinstance(value, property) and value.fget is not None:
            members[attribute] = property(copy_function(value.fget, name, replace))
    for attribute, function in (add or {}).items():
        members[attribute] = copy_function(function, name, None, attribute)
        members[attribute].__doc__ = function.__doc__
    members["__init__"] = _initialiser(source, without)
    toolkit: Callable[[Database], Toolkit] = type(name, (), members)
    return toolkit


def _initialiser(source: Any, without: frozenset[str]) -> Callable[[Any, Any], None]:
    defaults = {
        field: info.get_default(call_default_factory=True)
        for field, info in source.model_fields.items()
        if field not in without and field != "db"
    }

    def initialise(self: Any, db: Any) -> None:
        self.db = db
        for field, default in defaults.items():
            # Each gets a copy, because tools write into them.
            setattr(self, field, copy.deepcopy(default))

    return initialise


def copy_function(
    function: Any, owner: str, replace: Mapping[str, Any] | None = None, name: str | None = None
) -> Callable[..., Any]:
    """Copy a function as a method of a class called `owner`, with some globals replaced."""
    scope = {**function.__globals__, **replace} if replace else function.__globals__
    new = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    new.__kwdefaults__ = function.__kwdefaults__
    new.__name__ = name or function.__name__
    new.__qualname__ = f"{owner}.{new.__name__}"
    return new


def returned_as_it_is(model: type[BaseModel]) -> type[BaseModel]:
    """Make a subclass whose `model_dump_json` gives the model itself.

    Tools of inspect-evals end with `return row.model_dump_json()`, the official ones with
    `return row`, which is rendered later: with other separators, and without complaints about
    values that were assigned unchecked.
    """

    def model_dump_json(self: BaseModel, **_: Any) -> BaseModel:
        return self

    return _subclass(model, {"model_dump_json": model_dump_json})


def strict(model: type[BaseModel]) -> type[BaseModel]:
    """Make a subclass that refuses unknown keys."""
    return _subclass(model, {"model_config": {**model.model_config, "extra": "forbid"}})


def _subclass(model: type[BaseModel], members: dict[str, Any]) -> type[BaseModel]:
    namespace = {"__module__": model.__module__, "__doc__": model.__doc__, **members}
    return type(model.__name__, (model,), namespace)
