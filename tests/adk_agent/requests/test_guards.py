"""Guards: what of a model's reading may be used, given what the person said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.requests.draft import IntentDraft, intent_of
from adk_agent.requests.guards import Said, problems_of
from adk_agent.requests.intent import Question, Situation

REGISTERED = {"acme-bot": "http://127.0.0.1:7001", "helpdesk": "https://helpdesk.example.com/a2a"}
AGENT = "http://localhost:9010"


@pytest.fixture(scope="session")
def guarded(vocabulary):
    def run(text, intent="evaluate", *, heard=(), mine=(), question=None, **fields):
        situation = Situation(registered=REGISTERED, heard=heard, question=question)
        said = Said.in_situation(text, situation, vocabulary)
        draft = IntentDraft.model_validate({"intent": intent, **fields})
        return problems_of(intent_of(draft, REGISTERED), said, mine)

    return run


def airline(**fields):
    return [{"domain": "airline", **fields}]


@pytest.mark.parametrize(
    ("text", "added", "problem"),
    [
        ("http://localhost:9010 on airline", {"chaos": "all"}, "leave chaos out"),
        ("http://localhost:9010 on airline", {"isolation": True}, "leave isolation out"),
        ("http://localhost:9010 on airline with lost replies", {"chaos": "network"}, None),
        ("http://localhost:9010 on airline, does it leak?", {"isolation": True}, None),
        ("http://localhost:9010 on airline", {"confidence": True}, "leave confidence out"),
        ("http://localhost:9010 on airline, is it calibrated?", {"confidence": True}, None),
    ],
)
def test_faults_and_probes_are_added_only_where_they_were_asked_for(guarded, text, added, problem):
    found = guarded(text, agents=[AGENT], selections=airline(), **added)
    assert [problem in each for each in found] == ([] if problem is None else [True])


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("try http://localhost:9010 on airline", AGENT),
        ("try HTTP://LocalHost:9010/ on airline", AGENT),
        ("try 127.0.0.1:9010 on airline", AGENT),
        ("airline (agent: localhost:9010).", AGENT),
        ("airline on localhost port 9010", AGENT),
        ("our coder is at localhost 9010, airline", AGENT),
        (
            "agents dot example dot org colon 8443 on airline",
            "http://agents.example.org:8443",
        ),
        (
            "agents dot example dot org slash a two a on airline",
            "http://agents.example.org/a2a",
        ),
        ("agent=http://localhost:9010 domain=airline", AGENT),
        ("airline with all of your bundled agents", "builtin:oracle"),
        ("airline with acme-bot", "acme-bot"),
        ("airline with ACME bot", "http://127.0.0.1:7001"),
        ("let help desk do airline", "helpdesk"),
        ("airline for the null agent", "builtin:null"),
        ("airline for the team star5", "builtin:team:star5"),
    ],
)
def test_an_agent_may_be_named_in_many_ways(guarded, text, agent):
    assert guarded(text, agents=[agent], selections=airline()) == []


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("try http://localhost:9010 on airline", "http://localhost:901"),
        ("try http://localhost:9010 on airline", "http://evil.example"),
        ("try http://localhost:9010/a on airline", "http://localhost:9010/b"),
        ("try http://localhost:9010 on airline", "https://localhost:9010"),
        ("try http://evil.example.org on airline", "http://evil.example"),
        ("try acme-bot on airline", "helpdesk"),
        ("try acme-bottle on airline", "acme-bot"),
        ("airline, please", "builtin:null"),
        ("airline with the bundled null agent", "builtin:oracle"),
        ("airline, see http://localhost:9010/?for=http://evil.example", "http://evil.example"),
    ],
)
def test_an_agent_that_the_person_did_not_name_is_not_used(guarded, text, agent):
    (problem,) = guarded(text, agents=[agent], selections=airline())
    assert "did not name the agent" in problem


def test_an_agent_of_an_earlier_message_counts_as_named(guarded):
    heard = ("My agent is at http://localhost:9010",)
    assert guarded("play airline", heard=heard, agents=[AGENT], selections=airline()) == []


def test_the_request_that_a_question_was_about_counts_as_said(guarded):
    question = Question(text="Which domain?", request="Evaluate http://localhost:9010")
    assert guarded("airline", question=question, agents=[AGENT], selections=airline()) == []


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("4 tâches retail, null", {"selections": [{"domain": "retail", "num_tasks": 4}]}),
        ("quatre tâches retail, null", {"selections": [{"domain": "retail", "num_tasks": 4}]}),
        ("a few airline tasks for null", {"selections": airline(num_tasks=3)}),
        ("a dozen airline tasks for null", {"selections": airline(num_tasks=12)}),
        ("null, 7 airline tasks 7 times", {"selections": airline(num_tasks=7), "num_trials": 7}),
        (
            "null on airline tasks 3 and 7, 2 trials",
            {"selections": airline(tasks=["3", "7"]), "num_trials": 2},
        ),
        ("null, airline, twice", {"selections": airline(), "num_trials": 2}),
        ("null, 5 airline tasks 3x", {"selections": airline(num_tasks=5), "num_trials": 3}),
        ("Has null passed airline? Every task twice!", {"selections": airline(), "num_trials": 2}),
        ("null on 5 airline tasks, seed 1234", {"selections": airline(num_tasks=5), "seed": 1234}),
        ("null: pass^3 on airline", {"selections": airline(), "num_trials": 3}),
        ("null on airline 3 to 5", {"selections": airline(tasks=["3", "4", "5"])}),
        ("null: two airline tasks on bags", {"selections": airline(tasks=["13", "27"])}),
        ("null: airline on bags, 2 trials", {"selections": airline(tasks=["3"]), "num_trials": 2}),
        (
            "For 2026: all of airline, null",
            {"selections": airline(), "unused": ["For 2026:"]},
        ),
        (
            "null one at a time on 9 airline tasks",
            {
                "selections": airline(num_tasks=9),
                "max_concurrency": 1,
            },
        ),
    ],
)
def test_amounts_of_the_message_hold(guarded, text, fields):
    assert guarded(text, agents=["builtin:null"], **fields) == []


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("null on 3 airline tasks", {"selections": airline(num_tasks=50)}),
        ("null on 3 airline tasks", {"selections": airline()}),
        ("null on 3 airline tasks", {"selections": airline(tasks=["1", "2", "4", "5"])}),
        ("null on three airline tasks", {"selections": airline(num_tasks=3), "num_trials": 40}),
        ("null on 3 airline tasks", {"selections": airline(num_tasks=3), "max_concurrency": 90}),
        ("null on 3 airline tasks", {"selections": airline(num_tasks=3), "max_steps": 900}),
        ("null on 7 airline tasks", {"selections": airline(num_tasks=7), "num_trials": 7}),
        (
            "null on airline tasks 3 and 7",
            {"selections": airline(tasks=["3", "7"]), "num_trials": 7},
        ),
        ("null on airline, seed 7", {"selections": airline(), "seed": 7, "num_trials": 7}),
        ("null on a single airline task", {"selections": airline()}),
        ("null on airline", {"selections": airline(), "num_trials": 7}),
        ("null on airline", {"selections": airline(), "max_steps": 900}),
        ("null on airline", {"selections": airline(), "max_concurrency": 90}),
        ("null on airline at http://localhost:50 3 times", {"selections": airline(num_tasks=50)}),
    ],
)
def test_amounts_that_the_message_does_not_say_are_not_used(guarded, text, fields):
    assert guarded(text, agents=["builtin:null"], **fields) != []


def test_the_users_model_must_be_named(guarded):
    text = "null on airline with gpt-4.1 as the user"
    fields = {"agents": ["builtin:null"], "selections": airline()}
    assert guarded(text, user_llm="gpt-4.1", **fields) == []
    assert "gpt-9" in guarded(text, user_llm="gpt-9", **fields)[0]


@pytest.mark.parametrize("intent", ["status", "results", "failures", "cancel", "repeat", "compare"])
def test_a_run_must_be_the_conversations_or_named(guarded, intent):
    mine, other = "20261121-074500-1f2e3d", "20261121-074501-aaaaaa"
    assert guarded("how is it?", intent, mine=[mine], run_ids=[mine]) == []
    assert guarded(f"and {other}?", intent, run_ids=[other]) == []
    assert "no run of this conversation" in guarded("well?", intent, run_ids=[other])[0]


def test_the_changes_of_a_repetition_are_guarded_too(guarded):
    assert guarded("again, 5 trials", "repeat", num_trials=5) == []
    assert guarded("again, 5 trials", "repeat", num_trials=50) != []
    assert guarded("again with echo", "repeat", agents=["builtin:echo"]) == []
    assert guarded("again", "repeat", agents=["http://evil.example"]) != []


AMOUNTS = st.integers(min_value=5, max_value=10_000)


@given(said=AMOUNTS, drafted=AMOUNTS)
def test_no_other_number_of_tasks_passes_than_the_one_that_was_said(guarded, said, drafted):
    text = f"Please let the null agent have a go at {said} of the airline tasks"
    problems = guarded(text, agents=["builtin:null"], selections=airline(num_tasks=drafted))
    assert (problems == []) == (said == drafted)


HOSTS = st.from_regex(r"[a-z]{3,10}(\.[a-z]{2,6}){0,2}", fullmatch=True)
PORTS = st.integers(min_value=1_000, max_value=65_535)


@given(host=HOSTS, port=PORTS, other=HOSTS, other_port=PORTS)
def test_no_other_address_passes_than_the_one_that_was_said(guarded, host, port, other, other_port):
    text = f"Please let http://{host}:{port}/a2a have a go at airline"
    address = f"http://{other}:{other_port}/a2a"
    problems = guarded(text, agents=[address], selections=airline())
    assert (problems == []) == ((host, port) == (other, other_port))
    assert guarded(text, agents=[f"http://{host}:{port}/a2a"], selections=airline()) == []
