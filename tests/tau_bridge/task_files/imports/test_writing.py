"""What is written as YAML is read back as it was, and looks as people write it."""

import textwrap
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from tau_bridge.recordings import KnownCall
from tau_bridge.surrogates import replace_surrogates
from tau_bridge.task_files.documents import parse_document
from tau_bridge.task_files.imports.drafts import (
    CheckDraft,
    FileDraft,
    TaskDraft,
    tools_of,
)
from tau_bridge.task_files.imports.writing import as_yaml

NUMBERS = ["007", "1e5", ".5", "tRue", "~", "null", "yes", "2026-01-31", "0x1f", "- a", "a: b", "#"]
TEXTS = st.text(min_size=1) | st.sampled_from(NUMBERS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def written(*tasks, tools=(), **more):
    return as_yaml(FileDraft(name="x", tasks=tasks, tools=tools, **more), source="source")


def task(**more):
    return TaskDraft(
        **{"id": "a", "prompt": "Hello", "expect": [CheckDraft(value={"contains": "Hi"})], **more}
    )


def read(text):
    return parse_document(Path("x.yaml"), text).value


@given(TEXTS, TEXTS)
@example("\n", "0")
def test_any_text_is_read_back_as_it_was(prompt, note):
    value = read(written(task(prompt=prompt, comments=[note]), notes=[note]))
    assert value["tasks"][0]["prompt"] == replace_surrogates(prompt)


@given(VALUES)
def test_any_result_of_a_tool_is_read_back_as_it_was(result):
    tools, _ = tools_of([KnownCall(name="look", arguments={"id": "7"}, result=result, known=True)])
    assert read(written(task(), tools=tools))["tools"][0]["results"][0]["give"] == result


def test_a_file_reads_as_people_write_it():
    calls = [
        KnownCall(
            name="get_order", arguments={"order_id": "A-17"}, result={"total": 40.5}, known=True
        ),
        KnownCall(name="get_order", arguments={}),
    ]
    tools, _ = tools_of(calls)
    check = CheckDraft(value={"calls": ["get_order"]}, todo="name the order")
    text = written(task(prompt="One\nTwo", expect=[check], comments=["Went\nwrong."]), tools=tools)
    assert text == textwrap.dedent(
        """\
        # Imported from source.
        name: x

        tools:
          - name: get_order
            parameters: {type: object, properties: {order_id: {type: string}}}
            results:
              - {when: {order_id: A-17}, give: {total: 40.5}}
              # TODO: the source has no result of this call
              - {give: 'TODO: what this call gives'}

        tasks:
          # Went wrong.
          - id: a
            prompt: |-
              One
              Two
            expect:
              # TODO: name the order
              - calls: [get_order]
        """
    )


def test_different_results_of_one_call_are_named_and_the_first_is_kept():
    calls = [KnownCall(name="look", arguments={"id": 1}, result=each, known=True) for each in "aba"]
    tools, notes = tools_of(calls)
    assert [row.give for row in tools[0].rows] == ["a"]
    assert notes == ['look({"id": 1}) had different results; the first one is kept']
