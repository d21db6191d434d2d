"""The form of task files: what is read, and how errors say where and what to write."""

import json
import re

import jsonschema
import pytest
import yaml

from tau_bridge.errors import DataError
from tau_bridge.task_files.schema import TEMPLATE, file_schema

TOOL = """
    tables: {orders: {A-17: {status: new}}}
    tools:
      - name: get_order
        reads: {table: orders, key: order_id}
"""


def test_numbers_are_texts_where_texts_are_meant(read):
    found = read("""
        tasks:
          - id: 17
            prompt: How much?
            expect: {contains: 40.5}
    """)
    assert found.name == "returns"
    assert found.tasks[0].id == "17"
    assert found.tasks[0].expect[0].value == ("40.5",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qa.csv", "input,expected\nCapital of France?,Paris\n"),
        ("qa.jsonl", '{"input": "Capital of France?", "target": "Paris"}\n'),
        ("qa.json", '[{"input": "Capital of France?", "target": ["Paris"]}]'),
        ("qa.yaml", "- input: Capital of France?\n  expected: Paris\n"),
    ],
)
def test_a_question_and_its_answer_are_a_task_in_every_form(read, name, text):
    found = read(text, name)
    [task] = found.tasks
    assert (found.name, task.id, task.prompt) == ("qa", "1", "Capital of France?")
    assert [each.kind for check in task.expect for each in check.each()] == ["any", "contains"]
    assert task.gold.answer == ("Paris",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "tasks:\n- id: a\n  prompt: x\n  expect: {contians: y}\n",
            "returns.yaml, line 4: tasks.0.expect.0: unknown check 'contians': did you mean "
            "'contains'",
        ),
        (
            "tasks:\n- id: a\n  promt: x\n  expect: {contains: y}\n",
            "returns.yaml, line 3: tasks.0.promt: unknown key 'promt': did you mean 'prompt'",
        ),
        (
            "tasks:\n- id: a\n  expect: {contains: y}\n",
            "returns.yaml, line 2: tasks.0.prompt: the key 'prompt' is missing",
        ),
        (
            "tasks:\n- id: a\n  prompt: x\n  expcet: []\n  expect: {contains: y}\n",
            "returns.yaml, line 4: tasks.0.expcet: unknown key 'expcet': did you mean 'expect'",
        ),
        (
            "tasks:\n- {id: a, prompt: x, expect: {contains: y}}\n"
            "- {id: a, prompt: x, expect: {contains: y}}\n",
            "returns.yaml, lines 2 and 3: two tasks have the id 'a'",
        ),
        ("tasks: []\n", "returns.yaml, line 1: tasks"),
        ("name: Returns!\ntasks: [{prompt: x, expect: {contains: y}}]\n", "line 1: name"),
        ("tasks: [{prompt: x, expect: []}]\n", "tasks.0.expect"),
        ("tasks: [{prompt: x, expect: {contains: y, equals: z}}]\n", "one kind beside its weight"),
        ("tasks: [{prompt: x, expect: {matches: '('}}]\n", "no regular expression"),
        ("tasks: [{prompt: x, expect: {json: {type: 3}}}]\n", "no JSON Schema"),
        ("tasks: [{prompt: x, expect: {number: {value: many}}}]\n", "number.value"),
        ("tasks: [{prompt: x, expect: {python: nothing}}]\n", "python"),
        ("tasks: [{prompt: x, expect: {contains: y, weight: 0}}]\n", "weight"),
        ("tasks: [{prompt: x, expect: {calls: get_order}}]\n", "the file has no tools"),
        ("just a text\n", "returns.yaml: holds no tasks"),
    ],
)
def test_errors_name_line_key_and_the_nearest_word(read, text, problem):
    with pytest.raises(DataError, match=re.escape(problem)):
        read(text)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("        sets: {table: orders, key: order_id}", "'reads' or 'sets', not both"),
        (
            "        parameters: {type: objekt}",
            "tools.0.parameters: no JSON Schema: type: 'objekt'",
        ),
        ("        results: [{give: 1}, {when: {order_id: x}, give: 2}]", "result 2 is never given"),
        (
            "        results: [{when: {order_id: x}, give: 1}, {when: {order_id: x}, give: 2}]",
            "result 2 is never given: result 1 fits the same calls",
        ),
        ("      - {name: get_order}", "two tools have the same name 'get_order'"),
        ("      - {name: other, reads: {table: order, key: x}}", "no table 'order': did you mean"),
    ],
)
def test_tools_are_checked(read, more, problem):
    text = f"{TOOL}{more}\n    tasks: [{{prompt: x, expect: {{calls: get_order}}}}]\n"
    with pytest.raises(DataError, match=re.escape(problem)):
        read(text)


def test_a_tool_that_a_check_or_gold_names_has_to_be_there(read):
    with pytest.raises(DataError, match=r"calls.0: no tool 'get_oder': did you mean 'get_order'"):
        read(f"{TOOL}\n    tasks: [{{prompt: x, expect: {{calls: get_oder}}}}]\n")
    gold = "{calls: [{name: nope}]}"
    with pytest.raises(DataError, match=r"gold.calls.0: no tool 'nope'"):
        read(f"{TOOL}\n    tasks: [{{prompt: x, expect: {{contains: y}}, gold: {gold}}}]\n")
    # A call of a tool that is not there is never made, so that this would always hold.
    with pytest.raises(DataError, match=r"not_calls.0: no tool 'cancel_order'"):
        read(f"{TOOL}\n    tasks: [{{prompt: x, expect: {{not_calls: cancel_order}}}}]\n")


def test_the_schema_takes_what_the_loader_takes(read):
    schema = file_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert not list(validator.iter_errors(yaml.safe_load(TEMPLATE)))
    assert read(TEMPLATE).tasks[0].id == "refund"
    wrong = {"tasks": [{"prompt": "x", "expect": {"contians": "y"}}]}
    assert list(validator.iter_errors(wrong))
    json.dumps(schema)


def test_five_thousand_tasks_are_read(read):
    text = "tasks:\n" + "".join(
        f"- {{id: t{i}, prompt: Where is order {i}?, expect: [{{contains: x}}]}}\n"
        for i in range(5_000)
    )
    assert len(read(text).tasks) == 5_000
