import gzip
import itertools
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evals.leaks.borrowed import borrowed_calls, without_results
from evals.leaks.crossing import CrossingIndex, Heard
from evals.leaks.phrases import PhraseIndex, Spoken
from evals.leaks.values import find_key, owned_values, unexplained

pytestmark = pytest.mark.requirement("test:isolation")

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RECORDED = os.environ.get("GREENROOM_PARITY_DIR")
MIA = "I am Mia Li, my user id is mia_li_3668 and the reservation is NO6JO3."
JSON = '{"name": {"first_name": "Yusuf", "last_name": "Rossi"}, "phone": "555-123-4567 89"}'


def heard(task, given, replies=(), *, name=None, at=NOON):
    return Heard(
        conversation=name or task,
        task=task,
        began_at=at,
        ended_at=at + timedelta(minutes=1),
        owned=owned_values(given),
        unexplained=unexplained(replies, given),
    )


def crossings(*conversations):
    index = CrossingIndex()
    for each in conversations:
        index.add(each)
    return [(each.value, each.source, each.target) for each in index.crossings()]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Hello Mia Li!", "Mia Li"),
        ('{"arguments": {"user_id": "mia_li_3668"}}', "mia_li_3668"),
        ("Your reservation no6jo3 is cancelled.", "NO6JO3"),
    ],
)
def test_a_value_of_another_task_is_found_in_a_reply(reply, value):
    other = heard("b", ["Where is my parcel?"], [reply])
    assert crossings(heard("a", [MIA]), other) == [(value, "a", "b")]
    assert crossings(other, heard("a", [MIA])) == [(value, "a", "b")]


def test_a_name_is_found_that_a_tool_returned_in_two_fields():
    other = heard("b", ["Hi"], ["Is this for Yusuf Rossi?"])
    assert crossings(heard("a", [JSON]), other) == [("Yusuf Rossi", "a", "b")]


def test_a_long_number_is_found_without_its_marks():
    other = heard("b", ["Hi"], ["I call you at (555) 1234567-89."])
    assert crossings(heard("a", [JSON]), other) == [("555-123-4567 89", "a", "b")]


def test_what_the_agent_was_given_itself_is_its_own():
    reply = "Hello Mia Li, is it NO6JO3?"
    own = 'user "MIA" ... last name: li ... {"reservation": "no6jo3"}'
    assert crossings(heard("a", [MIA]), heard("b", [own], [reply])) == []


def test_what_two_tasks_were_given_is_shared():
    shared = heard("c", [MIA])
    assert crossings(heard("a", [MIA]), shared, heard("b", ["Hi"], ["Mia Li"])) == []


def test_trials_of_the_same_task_are_not_compared():
    again = heard("a", ["Hi"], ["Hello Mia Li"], name="a again")
    assert crossings(heard("a", [MIA]), again) == []


def test_what_was_said_before_the_other_one_began_is_no_leak():
    early = heard("b", ["Hi"], ["Hello Mia Li"], at=NOON - timedelta(hours=1))
    assert crossings(heard("a", [MIA]), early) == []


@pytest.mark.parametrize(
    "text",
    [
        "On 2024-05-15 at 15:00:00 it was $1,234.56, for 24-hour covid-19 tests on Boeing737s.",
        "Basic Economy from New York to Los Angeles takes 3 hours.",
        "I AM NOT HAPPY. Call 911!",
    ],
)
def test_dates_prices_and_words_name_nobody(text):
    assert owned_values([text]) == {}


def test_the_same_context_id_in_two_conversations_is_found():
    index = CrossingIndex()
    for name in ("a", "b"):
        index.add(Heard(conversation=name, task=name, context_ids=["c", "c"]))
    [shared] = index.shared_contexts()
    assert (shared.value, shared.source, shared.target) == ("c", "a", "b")


def test_an_agent_that_counts_from_the_beginning_after_a_restart_shares_no_context():
    index = CrossingIndex()
    for sitting, name in enumerate(("a", "b")):
        index.add(Heard(conversation=name, task=name, context_ids=["c1"], sitting=sitting))
    assert list(index.shared_contexts()) == []


def test_a_value_is_shown_where_it_stands():
    assert find_key("call (555) 123-45", "55512345") == (6, 17)
    assert find_key("Li, Mia", "mia li") == (0, 7)
    assert find_key("nothing", "mia li") is None


WISH = "I want to send the blue lamp back because it flickers."


def phrases(*conversations):
    index = PhraseIndex()
    for name, *texts in conversations:
        spoken = Spoken(
            conversation=name, task=name, began_at=None, ended_at=None, texts=tuple(texts)
        )
        index.add(spoken)
    return [(each.value, each.source, each.target) for each in index.crossings()]


def test_a_sentence_of_one_customer_is_found_in_what_another_is_told():
    a = ("a", ("user", WISH))
    b = ("b", ("user", "Hi"), ("agent", f"Another one said: {WISH.upper()}"))
    leak = [("I want to send the blue lamp back", "a", "b")]
    assert phrases(a, b) == leak
    assert phrases(b, a) == leak


@pytest.mark.parametrize(
    "others",
    [
        [("b", ("user", WISH), ("agent", WISH))],
        [("b", ("agent", WISH)), ("c", ("user", WISH))],
        [("b", ("agent", "You want to send the blue lamp back because it is broken."))],
    ],
    ids=["its own", "of two", "in other words"],
)
def test_a_sentence_that_others_have_too_is_no_leak(others):
    assert phrases(("a", ("user", WISH)), *others) == []


def test_what_the_agent_said_first_is_not_the_users():
    stock = "Please note that refunds take five to seven business days."
    a = ("a", ("agent", stock), ("user", f"You said: {stock}"), ("user", stock))
    assert phrases(a, ("b", ("agent", stock))) == []


def recorded():
    folder = Path(RECORDED or ".")
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
        read = gzip.decompress if path.suffix == ".gz" else bytes
        yield path.name, json.loads(read(path.read_bytes()))


def texts_of(simulation):
    for each in simulation["messages"]:
        said = each.get("content") or ""
        if each["role"] == "assistant":
            calls = [call.get("arguments") for call in each.get("tool_calls") or ()]
            yield "agent", f"{said} {json.dumps(calls)}"
        else:
            yield each["role"], said


def compared(run, *, leaking):
    """Compare the conversations of a run, in each of which the agent may repeat the one before."""
    tasks = {task["id"]: json.dumps(task) for task in run["tasks"]}
    values, phrases, before = CrossingIndex(), PhraseIndex(), []
    for number, simulation in enumerate(run["simulations"]):
        texts = [*texts_of(simulation), *(("agent", each) for each in before if leaking)]
        given = [text for speaker, text in texts if speaker != "agent"]
        said = [text for speaker, text in texts if speaker == "agent"]
        known = [tasks[simulation["task_id"]], json.dumps(run["info"])]
        borrowed = borrowed_calls(simulation["messages"], known)
        if borrowed:
            kept = without_results(simulation["messages"], borrowed)
            given = [str(each.get("content") or "") for each in kept if each["role"] != "assistant"]
        own = [*given, *known]
        values.add(
            Heard(
                conversation=number,
                task=simulation["task_id"],
                owned=owned_values(given),
                unexplained=unexplained(said, own),
            )
        )
        phrases.add(
            Spoken(
                conversation=number,
                task=simulation["task_id"],
                began_at=None,
                ended_at=None,
                texts=tuple(texts),
            )
        )
        before = [text for speaker, text in texts if speaker == "user"]
    return {each.target for each in [*values.crossings(), *phrases.crossings()]}


@pytest.mark.skipif(RECORDED is None, reason="GREENROOM_PARITY_DIR names no recorded conversations")
def test_nothing_is_found_in_recorded_conversations():
    """But where somebody put a call about another task's customer into a conversation, on purpose."""
    found = {name: compared(run, leaking=False) for name, run in recorded()}
    assert len(found) > 5
    assert all(name.startswith("perturbed") for name, those in found.items() if those), found
    for name, run in recorded():
        for number in found[name]:
            simulation = run["simulations"][number]
            [task] = [each for each in run["tasks"] if each["id"] == simulation["task_id"]]
            assert borrowed_calls(
                simulation["messages"], [json.dumps(run["info"]), json.dumps(task)]
            )
    assert sum(map(len, found.values())) == 5


@pytest.mark.skipif(RECORDED is None, reason="GREENROOM_PARITY_DIR names no recorded conversations")
def test_what_the_agents_of_recorded_conversations_are_made_to_repeat_is_found():
    played = leaking = 0
    for name, run in recorded():
        simulations = run["simulations"]
        if name.startswith("perturbed") or len(simulations) == 1:
            continue  # repeats a task many times, and its people
        pairs = itertools.pairwise(simulations)
        played += sum(one["task_id"] != other["task_id"] for one, other in pairs)
        leaking += len(compared(run, leaking=True))
    assert leaking >= played > 50
