"""SelectorDraft: what of a model's reading holds before the request."""

import pytest

from adk_agent.requests.draft import SelectorDraft, draft_of, request_of, ungrounded


@pytest.mark.parametrize(
    ("sentence", "fields"),
    [
        ("Try builtin:null twice on mock", {"num_trials": 2, "selections": [{"domain": "mock"}]}),
        (
            "builtin:null, a dozen airline tasks",
            {"selections": [{"domain": "airline", "num_tasks": 12}]},
        ),
        (
            "builtin:null on airline tasks 3 to 5",
            {"selections": [{"domain": "airline", "task_ids": ["3", "4", "5"]}]},
        ),
    ],
)
def test_numbers_may_be_written_in_words_and_ranges(vocabulary, sentence, fields):
    draft = SelectorDraft(agents=["builtin:null"], **fields)
    assert ungrounded(draft, sentence, vocabulary) == []


@pytest.mark.parametrize("first", [True, False])
def test_a_draft_keeps_whether_the_first_tasks_are_meant(read, first):
    words = "the first two" if first else "two"
    draft = draft_of(read(f"Evaluate builtin:null on {words} mock tasks"))
    (selection,) = request_of(SelectorDraft.model_validate_json(draft.model_dump_json())).selections
    assert (selection.num_tasks, selection.first) == (2, first)


def test_the_id_of_a_task_is_not_found_inside_a_number_or_an_address(vocabulary):
    draft = SelectorDraft(
        agents=["http://127.0.0.1:9010"], selections=[{"domain": "airline", "task_ids": ["0", "1"]}]
    )
    found = ungrounded(draft, "airline task 10 of http://127.0.0.1:9010", vocabulary)
    assert found == ["the task id '0'", "the task id '1'"]
