"""`greenroom list tasks`: by domain, topic and attributes."""

import json

import pytest

from adk_agent.cli.main import main
from adk_agent.cli.values import condition


@pytest.fixture
def list_tasks(capsys):
    """Lists tasks; returns the exit code, the output and the complaint."""

    def run(*arguments):
        code = main(["list", "tasks", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_tasks_are_listed_in_columns_with_title_and_telling_attributes(list_tasks):
    code, out, _ = list_tasks("--domain", "mock")
    lines = out.splitlines()
    assert code == 0
    assert len({line.index("[") for line in lines}) == 1
    first = lines[0]
    assert first.startswith("create_task_1 ")
    assert "Test the create_task functionality" in first
    assert "changes 1" in first
    assert "needs_judge" not in out  # the same of all


def test_tasks_about_a_topic_are_listed_with_the_reason_the_best_first(list_tasks):
    code, out, _ = list_tasks("--domain", "airline", "--about", "baggage", "--json")
    rows = json.loads(out)
    assert code == 0
    assert all(row["reason"] and row["title"] and row["attributes"] for row in rows)
    _, best, _ = list_tasks("--domain", "airline", "--about", "baggage", "--limit", "2")
    assert [line.split()[0] for line in best.splitlines()] == [row["task"] for row in rows[:2]]
    assert rows[0]["reason"] in best


def test_a_topic_without_a_domain_is_looked_for_in_all(list_tasks):
    code, out, _ = list_tasks("--about", "gift card", "--json")
    assert code == 0
    assert {"airline", "retail"} <= {row["domain"] for row in json.loads(out)}


def test_attributes_choose_tasks(list_tasks):
    chosen = ("--domain", "telecom", "--where", "persona=hard", "--where", "gold_actions>=6")
    code, out, _ = list_tasks(*chosen, "--json")
    rows = json.loads(out)
    assert code == 0
    assert rows
    assert {row["attributes"]["persona"] for row in rows} == {"hard"}
    assert all(int(row["attributes"]["gold_actions"]) >= 6 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--domain", "airline", "--about", "crypto"), "none of their texts says 'crypto'"),
        (("--about", "zeppelin"), "no task of any domain is about 'zeppelin'"),
        (("--domain", "mock", "--where", "mood=bad"), "no attribute 'mood'"),
        (("--domain", "telecom", "--where", "persona=odd"), "persona is easy, hard, none"),
        (("--domain", "mock", "--about", "the tasks"), "has no word"),
        ((), "needs --about TOPIC or --domain"),
    ],
)
def test_what_is_not_there_is_exit_2_and_says_what_there_is(list_tasks, arguments, words):
    code, out, err = list_tasks(*arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("persona=hard", ("persona", "hard")),
        ("gold_actions>=3", ("gold_actions", ">= 3")),
        (" person = Mia Li ", ("person", "Mia Li")),
        ("persona!=hard", ("persona", "!= hard")),
    ],
)
def test_a_condition_is_a_name_a_sign_and_a_value(text, expected):
    assert condition(text) == expected


@pytest.mark.parametrize("text", ["persona", "=hard", "persona=", ">3", ""])
def test_a_condition_without_one_of_them_is_refused(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["list", "tasks", "--where", text])
    assert ended.value.code == 2
    assert "is not a condition such as persona=hard" in capsys.readouterr().err
