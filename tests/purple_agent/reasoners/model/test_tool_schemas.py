"""The tools of a session, as models are told of them."""

from purple_agent.reasoners.model.tool_schemas import MAX_TOOLS, tool_schemas_of
from tests.purple_agent.reasoners.model.specs import spec


def test_names_and_schemas_are_made_fit_for_providers():
    specs = [spec("a b"), spec("a_b"), spec("x", properties="nonsense"), spec("think", "thought")]
    schemas = tool_schemas_of(specs, thinking=True)
    assert list(schemas.own_names.items())[:2] == [("a_b", "a b"), ("a_b_2", "a_b")]
    assert schemas.name_for_model("a_b") == "a_b_2"
    assert schemas.tools[2]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert not schemas.can_think
    assert len(schemas.tools) == 4


def test_huge_schemas_and_many_tools_are_cut():
    huge = spec("huge", "k", properties={"k": {"enum": ["x" * 100] * 1_000}})
    (tool,) = tool_schemas_of([huge], thinking=False).tools
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"k": {}},
        "required": ["k"],
    }
    schemas = tool_schemas_of([spec(f"t{i}") for i in range(5_000)], thinking=True)
    assert len(schemas.tools) == MAX_TOOLS
