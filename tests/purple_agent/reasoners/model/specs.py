"""Tools of a session, in short."""

from purple_agent.case import ToolSpec


def spec(name, *required, is_write=False, **more):
    properties = {key: {"type": "string"} for key in required}
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return ToolSpec(name=name, description=name, parameters=parameters, is_write=is_write)
