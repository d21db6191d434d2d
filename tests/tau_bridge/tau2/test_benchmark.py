"""What the benchmark tells of its tasks."""

import pytest

from tau_bridge.errors import DataError
from tau_bridge.tau2.benchmark import Tau2Benchmark
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.tasks import EvaluationCriteria


@pytest.fixture
def bundled(package_source):
    return Tau2Benchmark(package_source)


@pytest.fixture
def plain(mock_folder):
    """Over tasks without criteria."""
    return Tau2Benchmark(open_source(mock_folder))


def test_the_tasks_of_a_split_are_listed_in_the_order_of_the_task_file(plain):
    assert [each.ref.id for each in plain.tasks("mock")] == ["b", "a"]
    assert [each.ref.id for each in plain.tasks("mock", "late")] == ["c"]
    assert plain.all_task_ids("mock") == ("b", "a", "c")


def test_the_gold_solution_has_opening_actions_and_what_has_to_be_said(bundled):
    solution = bundled.gold(bundled.ref("mock", "update_task_with_initialization_data"))
    assert solution["opening"].startswith("Continue the conversation about task management.")
    assert solution["actions"] == [
        {
            "requestor": "assistant",
            "name": "update_task_status",
            "arguments": {"task_id": "task_2", "status": "completed"},
        }
    ]
    assert solution["communicate"] == [
        "The agent acknowledged the previous context",
        "The agent confirmed the task status was updated successfully",
    ]


def test_a_task_that_names_no_criteria_has_the_default_ones_and_no_gold_actions(plain):
    ref = plain.ref("mock", "a")
    assert plain.gold(ref) == {"opening": "Do a.", "actions": [], "communicate": []}
    told = plain.task("mock", "a")
    assert (told.title, told.passages) == ("Do a.", {"reason for the call": "Do a."})
    assert set(told.components) <= set(EvaluationCriteria().reward_basis)


def test_a_task_is_found_by_its_texts_tools_and_what_has_to_be_said(bundled):
    passages = bundled.task("mock", "update_task_with_initialization_data").passages
    text = "\n".join(passages.values())
    for part in ("mark the task as completed", "update task status", "acknowledged the previous"):
        assert part in text


def test_the_tools_that_write_are_those_of_the_domain(bundled):
    writes = bundled.writes(bundled.ref("mock", "update_task_1"))
    assert [writes(name) for name in ("create_task", "get_users", "unheard_of")] == [
        *[True, False, False]
    ]


def test_without_a_user_some_domains_and_tasks_cannot_be_played(bundled):
    solo = bundled.with_options({"solo": True})
    assert solo.unsupported("airline") == "its tasks need a user"
    assert solo.unsupported("mock") is None
    assert bundled.unsupported("airline") is None
    ticketless = bundled.ref("mock", "update_task_with_message_history")
    assert solo.unplayable(ticketless) == "no ticket, or a history with a user"
    assert bundled.unplayable(ticketless) is None


def test_actions_alone_count_where_that_is_asked_for(bundled):
    assert bundled.basis() is None
    assert bundled.with_options({"evaluation_type": "action"}).basis() == ("ACTION",)


def test_the_revision_names_how_documents_are_found_where_there_are_some(bundled):
    bank, plain = "banking_knowledge", bundled.revision("retail")
    assert bundled.revision(bank).revision.endswith(", retrieval bm25_grep")
    other = bundled.with_options({"retrieval": "full_kb"})
    assert other.revision(bank).revision.endswith(", retrieval full_kb")
    assert other.revision("retail") == plain
    assert other.caveats("retail", ()) == [
        "retrieval full_kb changes nothing in retail, which has no documents"
    ]
    assert [*other.caveats(bank, ()), *bundled.caveats("retail", ())] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("alltools", "no shell"),
        ("terminal_use", "no shell"),
        ("bm25_reranker", "no language model ranks"),
        ("openai_embeddings", r"text-embedding-3-large; write embeddings_grep"),
        ("bm26", "known: bm25_grep, bm25"),
        (5, "5 cannot be played; known"),
    ],
)
def test_a_retrieval_that_cannot_be_played_is_refused_with_the_reason(bundled, name, said):
    with pytest.raises(DataError, match=f"option 'retrieval' of tau2: .*{said}"):
        bundled.with_options({"retrieval": name})


def test_a_model_is_needed_only_where_documents_are_searched_by_vectors(bundled):
    searching = bundled.with_options({"retrieval": "embeddings_grep"})
    assert "embeddings" in searching.domain("banking_knowledge").needs
    assert "embeddings" not in searching.domain("retail").needs
    assert "embeddings" not in bundled.domain("banking_knowledge").needs


def test_the_bank_cannot_be_played_without_a_user(bundled):
    solo = bundled.with_options({"solo": True})
    assert solo.unsupported("banking_knowledge") == "its tasks need a user"
