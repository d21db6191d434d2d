"""What an agent sees of a knowledge base, by retrieval configuration."""

import gzip
import json
from pathlib import Path

import pytest

from tau_bridge.errors import DataError
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.documents import Document
from tau_bridge.tau2.knowledge import Knowledge
from tau_bridge.tau2.retrieval import RETRIEVALS
from tau_bridge.tau2.tasks import parse_task

DOCUMENTS = [
    Document(id="d1", title="Fees", content="A fee of $5. Another fee."),
    Document(id="d2", title="Cards", content="No fee for cards."),
    Document(id="d3", title="Loans", content="Rates of loans."),
]
PROMPTS = {
    "components/policy_header": "Be a bank.",
    **{each.template: "{{component:policy_header}} Go." for each in RETRIEVALS.values()},
    "full_kb": "{{component:policy_header}}\n{{full_knowledge_base}}",
    "required_docs": "{{component:policy_header}}\n{{required_documents}}",
}


def knowledge(name="bm25_grep", prompts=PROMPTS):
    return Knowledge(DOCUMENTS, RETRIEVALS[name], prompts)


def task(*required):
    scenario = {"instructions": "x"}
    return parse_task({"id": "t", "user_scenario": scenario, "required_documents": required})


@pytest.mark.parametrize("name", ["bm25_grep", "bm25", "grep_only", "no_knowledge"])
def test_a_policy_of_one_that_searches_holds_no_document(name):
    assert knowledge(name).policy(task("Fees")) == "Be a bank. Go."


def test_the_whole_base_stands_in_the_policy_in_the_order_of_the_files():
    assert knowledge("full_kb").policy() == (
        "Be a bank.\n## Fees\n\nA fee of $5. Another fee.\n\n---\n\n## Cards\n\nNo fee for cards."
        "\n\n---\n\n## Loans\n\nRates of loans."
    )


def test_the_documents_that_a_task_requires_stand_in_its_policy_by_title_or_id():
    golden = knowledge("golden_retrieval")
    assert golden.policy(task("Loans", "d2")).endswith(
        "\n## Loans\n\nRates of loans.\n\n---\n\n## Cards\n\nNo fee for cards."
    )
    assert golden.policy(task()).endswith("\n(No documents provided)")
    with pytest.raises(DataError, match="'t' requires the document 'Savings'"):
        golden.policy(task("Savings"))


def test_a_template_that_the_data_lack_is_named():
    with pytest.raises(DataError, match="no prompt 'components/policy_header'"):
        knowledge(prompts={"classic_rag_bm25": "{{component:policy_header}}"})


def test_grep_shows_the_documents_with_most_matches_in_full():
    assert knowledge().grep("FEE") == (
        "1. Fees\n   ID: d1\n   Score: 2.0000\n   Content: A fee of $5. Another fee.\n\n"
        "2. Cards\n   ID: d2\n   Score: 1.0000\n   Content: No fee for cards.\n"
    )
    for nothing in ("zebra", " "):
        assert knowledge().grep(nothing) == f"No matches found for pattern: {nothing}"


def test_a_search_has_the_same_result_each_time_and_tells_no_milliseconds():
    found = knowledge().search("rates")
    assert found.startswith("1. Loans\n   ID: d3\n   Score: 0.")
    assert found == knowledge().search("rates")
    assert "iming" not in found
    assert knowledge().search("  ") == "No relevant documents found."


@pytest.fixture
def bank(tmp_path):
    """A folder in the official layout, with a bank of one task and one document."""
    domain = tmp_path / "tau2" / "domains" / "banking_knowledge"
    for folder in ("tasks", "documents", "prompts/components"):
        (domain / folder).mkdir(parents=True)
    scenario = {"user_scenario": {"instructions": "x"}}
    (domain / "tasks.json").write_text(json.dumps([{"id": "task_001", **scenario}]))
    (domain / "tasks" / "task_001.json").write_text(json.dumps({"id": "task_001", **scenario}))
    (domain / "tasks" / "task_002.json").write_text(json.dumps({"id": "task_002", **scenario}))
    (domain / "documents" / "d1.json").write_text('{"id": "d1", "title": "T", "content": "C"}')
    (domain / "prompts" / "full_kb.md").write_text("{{component:policy_header}}")
    (domain / "prompts" / "components" / "policy_header.md").write_text("Hello.")
    (domain / "db.json").write_text("{}")
    return tmp_path


DOMAIN = "tau2/domains/banking_knowledge"


def test_tasks_of_their_own_files_are_read_and_the_array_is_not(bank):
    assert open_source(bank).task_ids("banking_knowledge") == ("task_001", "task_002")


@pytest.mark.parametrize(
    ("path", "content", "counts"),
    [
        ("tasks/task_002.json", '{"id": "task_2", "user_scenario": {"instructions": "y"}}', True),
        ("documents/d1.json", '{"id": "d1", "title": "T", "content": "D"}', True),
        ("documents/d2.json", '{"id": "d2", "title": "T", "content": "D"}', True),
        ("prompts/full_kb.md", "Bye.", True),
        ("prompts/components/policy_header.md", "Bye.", True),
        ("db.json", '{"users": {}}', True),
        ("tasks.json", "[]", False),
        ("tasks/notes.txt", "x", False),
    ],
)
def test_the_revision_changes_with_whatever_is_read(bank, path, content, counts):
    before = open_source(bank).revision("banking_knowledge")
    Path(bank, DOMAIN, path).write_text(content)
    assert (open_source(bank).revision("banking_knowledge") != before) is counts


def test_documents_may_come_packed_in_one_file(bank):
    single = bank / DOMAIN / "documents" / "d1.json"
    packed = gzip.compress(f"[{single.read_text()}]".encode())
    (bank / DOMAIN / "documents.json.gz").write_bytes(packed)
    single.unlink()
    source = open_source(bank)
    assert source.documents("banking_knowledge") == (Document(id="d1", title="T", content="C"),)
    assert source.has_documents("banking_knowledge")


@pytest.mark.parametrize("content", ['{"id": "d1"}', "5", '["x"]'])
def test_a_document_that_is_none_is_named(bank, content):
    (bank / DOMAIN / "documents" / "d1.json").write_text(content)
    with pytest.raises(DataError, match=r"d1\.json' holds a document without id, title, content"):
        open_source(bank).documents("banking_knowledge")
