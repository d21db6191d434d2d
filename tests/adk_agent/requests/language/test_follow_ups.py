"""Follow-ups by rules: what is one, what it asks for, and what is left to others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.requests.intent import (
    Ask,
    Cancel,
    Changes,
    Compare,
    Explain,
    Export,
    Failures,
    Help,
    ListThings,
    OffTopic,
    Question,
    Repeat,
    Results,
    Situation,
    Smalltalk,
    Status,
    Why,
)
from adk_agent.requests.language.follow_ups import MAX_LENGTH, read_follow_up
from adk_agent.requests.language.vocabulary import Vocabulary

RUN = "20261121-074500-1f2e3d"
SHOP = "http://127.0.0.1:9010"
SITUATION = Situation(registered={"shop-bot": SHOP})

PHRASINGS = {
    "smalltalk": (
        "hello", "Hi!", "Hey there", "Good morning", "hello greenroom", "Thanks!", "how are you?",
        "thank you very much", "great work!", "bye", "3 of 5, not bad at all", "ok",
    ),
    "help": (
        "", "   ", "Help!", "what can you do?", "What can you do for me?", "who are you",
        "How do I use you?", "how does this work?", "what should I send you?", "how do I cancel it?",
        "Hello, what can you do?", "show me an example", "hi, can you help me?",
        "how do I evaluate my agent?", "Is it possible to test several agents?",
    ),
    "list": (
        "which domains do you have?", "list the agents", "what teams are there", "show my past runs",
        "which metrics do you compute?", "evaluators", "what have we evaluated so far?",
    ),
    "explain": (
        "what is pass^k?", "What does tool_selection mean?", "explain the floor", "what is a trial?",
        "what's the difference between pass@1 and pass^1?", "define unscored", "how is load_gini computed",
    ),
    "status": (
        "status?", "what's the status?", "how far are you?", "How far along is the evaluation?",
        "How’s it going?", "is it done yet?", "are you done?", "any news?", "any progress so far?",
        "how much longer?", "how long will it take", "what is left?", "progress please",
        "show me the progress", "Can you give me an update?", "where are we?",
        "are you still running?", "how many trials are done?", "status of the run",
        "is the run finished?", "When will it be done?",
    ),
    "failures": (
        "show the failures", "Show me the failed trials", "which tasks failed?", "what failed?",
        "list failures", "which ones did not pass?", "what went wrong?", "did anything fail?",
        "show me which tasks failed", "how many failed?", "give me the trials that failed",
        "show me the tasks that didn't pass", "failed tasks", "where did my agent trip up?",
    ),
    "why": (
        "why did it fail?", "why?", "Why did they fail?", "why did the agent fail?",
        "what was the reason?", "explain the failures", "what are the reasons for the failures?",
        "why is the score so low?", "how come it failed?", "what caused the failures?",
    ),
    "results": (
        "show the report", "report", "show me the results", "what's the score?", "results please",
        "what was the result?", "how did it do?", "how did the agent do?", "give me the full report",
        "summarize the results", "the report of the last run please", "how many passed so far?",
        "What was pass^2?",
    ),
    "repeat": (
        "run it again", "again", "once more please", "repeat the run", "rerun", "do it again",
        "run the evaluation again", "try again", "I fixed the prompt, run it again.",
        "same again with the same settings",
    ),
    "cancel": (
        "cancel it", "stop", "abort", "please cancel the run", "stop the evaluation", "Cancel!",
        "never mind", "kill it", "could you stop it please?", "stop running",
        "stop it, it is too slow", "cancel that because it is too expensive",
    ),
    "compare": (
        "compare the last two runs", "compare them", "is it better than before?", "did it improve?",
        "what changed since the last run?", "difference between the last two runs",
    ),
    "export": ("download the report", "give me the html page", "save it as json", "export it"),
    "off_topic": (
        "what is the weather like?", "Write me a poem about the sea", "book me a table for two",
        "What is the capital of France?",
    ),
    "ask": ("do it again but better", "rerun it tomorrow", "yes", "42", "👍", "again with 0 trials"),
}  # fmt: skip

OTHERS = (
    "Evaluate the agent at http://localhost:9010 on five airline tasks",
    "run five airline tasks on http://localhost:9010",
    "How does echo do on telecom?",
    "compare http://a:1 and http://b:2 on airline",
    "Evaluate builtin:null on two mock tasks and show the failures",
    "run builtin:oracle on all retail tasks again with three trials",
    "Hello, evaluate builtin:null on two airline tasks",
    "test the bundled null agent on airline",
    "run all airline tasks",
    "cancel the evaluation of http://localhost:9010 and run retail",
    "continue with five more airline tasks",
    "stop after five airline tasks",
    "cancel it if it fails twice",
    "cancel the second one",
    "cancel my flight to Boston",
    "cancel everything except the last run",
    "cancel it, I want to run retail",
    "Stop it. Run all of it.",
    "do not cancel it",
    "did you cancel it?",
    "don't rerun it",
    "which tasks are not about baggage?",
    "list five airline tasks about baggage",
    "show the results. Leave out telecom.",
    "show the results of the first run",
    "why did tasks 3 and 7 fail?",
    "compare the last three runs",
    "Who wins on coordination, star5 or mesh4?",
    '{"participants": {"agent": "builtin:null"}}',
    "status of order 17",
    "resume writing",
    "Wie ist das Wetter?",
    "Abbrechen",
    "asdf",
    "status " * 60,
    f"status of {RUN} and 20261121-074500-1f2e3e",
)

MEANT = {
    "why did task 16 fail?": Why(task_id="16"),
    "what went wrong with airline 3": Why(task_id="3", domain="airline"),
    "why did task 4 fail in trial 2?": Why(task_id="4", trial=2),
    "why 3?": Why(task_id="3"),
    "why did the echo agent fail?": Why(agent="builtin:echo"),
    "why did echo fail task 16?": Why(agent="builtin:echo", task_id="16"),
    "why did shop-bot fail airline task 3?": Why(agent=SHOP, task_id="3", domain="airline"),
    "how did echo fail?": Why(agent="builtin:echo"),
    "what went wrong with null?": Failures(agent="builtin:null"),
    "which tasks did shop-bot fail?": Failures(agent=SHOP),
    "what failed for http://localhost:9010?": Failures(agent="http://localhost:9010"),
    "which tasks failed in the previous run?": Failures(run_id="previous"),
    "why did task 3 fail in the previous run?": Why(run_id="previous", task_id="3"),
    "compare the previous run with the latest": Compare(run_ids=("previous", "latest")),
    "how does it compare to the previous run?": Compare(run_ids=("previous",)),
    "which agent is best?": Results(),
    "is my agent better than an agent that does nothing?": Results(),
    "explain the failure of task [mms_issue]Bad_apn[PERSONA:None]": Why(
        task_id="[mms_issue]Bad_apn[PERSONA:None]"
    ),
    "explain why task create_task_1 failed": Why(task_id="create_task_1"),
    "which tasks are about baggage": ListThings(what="tasks", about="baggage"),
    "show me airline tasks dealing with cancellations": ListThings(
        what="tasks", domain="airline", about="cancellations"
    ),
    "show retail tasks about returns in the test split": ListThings(
        what="tasks", domain="retail", split="test", about="returns"
    ),
    "explain what the floor is": Explain(term="floor"),
    "what is the difference between pass@1 and pass^1?": Explain(term="pass@1 and pass^1"),
    "Run only the failed ones again": Repeat(intent="repeat_changed", which="failed"),
    "retry all the failed ones": Repeat(intent="repeat_changed", which="failed"),
    "retry what failed": Repeat(intent="repeat_changed", which="failed"),
    "finish the rest": Repeat(intent="repeat_changed", which="missing"),
    "continue": Repeat(intent="repeat_changed", which="missing"),
    f"resume {RUN}": Repeat(intent="repeat_changed", which="missing", run_id=RUN),
    "again with seed 7 and five trials": Repeat(
        intent="repeat_changed", changes=Changes(seed=7, num_trials=5)
    ),
    "Once more, but take twenty tasks rather than five": Repeat(
        intent="repeat_changed", changes=Changes(num_tasks=20)
    ),
    "same again with shop-bot": Repeat(intent="repeat_changed", changes=Changes(agents=(SHOP,))),
    "again against http://localhost:9010": Repeat(
        intent="repeat_changed", changes=Changes(agents=("http://localhost:9010",))
    ),
    "again with echo": Repeat(intent="repeat_changed", changes=Changes(agents=("builtin:echo",))),
    "same for retail": Repeat(intent="repeat_changed", changes=Changes(domain="retail")),
    "repeat it one task at a time": Repeat(
        intent="repeat_changed", changes=Changes(max_concurrency=1)
    ),
    "compare runs 12 and 14": Compare(run_ids=("12", "14")),
    f"compare {RUN} with run 3": Compare(run_ids=(RUN, "3")),
    f"export run {RUN} as junit": Export(run_id=RUN, format="junit"),
    "give me the report as markdown": Export(format="markdown"),
    "give me the web page": Export(format="page"),
    f"what's the status of run {RUN}?": Status(run_id=RUN),
    f"report of {RUN}": Results(run_id=RUN),
    "which tasks of the airline run failed?": Failures(run_id="airline"),
    "cancel the airline run": Cancel(run_id="airline"),
    "stop everything": Cancel(everything=True),
    "cancel the runs": Cancel(everything=True),
    "goodbye": Smalltalk(kind="goodbye"),
    "Thanks, and what can you do?": Help(),
    "tell me a story about a dog": OffTopic(),
}  # fmt: skip

FORMS = [(do, text) for do, texts in PHRASINGS.items() for text in texts]
FREE = {"smalltalk", "help", "explain", "off_topic", "ask"}
"""Intents that do nothing and concern no run."""
PLACED = [
    text for do, text in FORMS if do not in FREE and "," not in text and "because" not in text
]
"""Without asides, whose words are free."""


@pytest.fixture(scope="module")
def read(benchmarks):
    vocabulary = Vocabulary.of(benchmarks)

    def reading(text, situation=SITUATION):
        return read_follow_up(text, situation, vocabulary=vocabulary)

    return reading


@pytest.mark.parametrize(("do", "text"), FORMS)
def test_a_follow_up_is_understood_however_it_is_put(read, do, text):
    found = read(text)
    assert found is not None
    assert found.intent == do


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_more_or_other_than_a_follow_up_is_left_to_the_reader_of_evaluations(read, text):
    assert read(text) is None


@pytest.mark.parametrize("text", MEANT)
def test_names_numbers_and_terms_are_taken_as_they_are_said(read, text):
    assert read(text) == MEANT[text]


def test_a_vague_repetition_is_asked_about_with_its_words(read):
    found = read("do it again but better")
    assert isinstance(found, Ask)
    assert "'better'" in found.question


def test_a_repetition_of_more_than_was_played_is_asked_about(read):
    assert isinstance(read("run it again on all tasks"), Ask)
    assert isinstance(read("run it again 3 times"), Ask)
    assert isinstance(read("rerun task 16"), Ask)


def test_two_wishes_in_one_message_are_asked_about(read):
    assert isinstance(read("Stop. Run it again with 5 trials."), Ask)
    assert isinstance(read("Run it again, it failed."), Ask)
    assert isinstance(read("give me the report as json and csv"), Ask)


def test_what_may_answer_an_open_question_is_not_asked_about(read):
    waiting = Situation(question=Question(text="Which domain?"))
    assert read("yes", waiting) is None
    assert read("5", waiting) is None
    assert read("what can you do?", waiting) == Help()


def test_marks_of_its_own_in_a_text_are_no_names(read):
    assert read("status \ue000") == Status()


UNPLACED = (
    "zorgle", "7", "seven", "-2", "2.5", "unless", "if", "without", "except", "tomorrow", "twice",
    "http://localhost:9", "oracle", "Zeit", "every", "half", "later", "до", "{x}", "task_9",
)  # fmt: skip


@given(st.sampled_from(PLACED), st.sampled_from(UNPLACED), st.integers(0, 12))
def test_a_word_or_number_that_has_no_place_never_leaves_an_order_as_it_was(read, text, extra, at):
    words = text.split()
    inserted = [*words[:at], extra, *words[at:]]
    changed = read(" ".join(inserted))
    assert changed != read(text) or not isinstance(changed, Cancel | Repeat)


@given(
    st.sampled_from([text for do, text in FORMS if do not in {"ask", "explain", "off_topic"}]),
    st.sampled_from(["please ", "OK, ", "Now "]),
)
def test_courtesies_before_it_leave_a_follow_up_one(read, text, courtesy):
    assert read(courtesy + text) is not None


@given(st.text(max_size=2 * MAX_LENGTH))
def test_any_text_is_understood_or_not_and_never_breaks(read, text):
    found = read(text)
    assert found == read(text)
    assert found is None or len(text) <= MAX_LENGTH or not text.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so, on what grounds did the judge mark 12 down?", Why(task_id="12")),
        ("honestly, is the thing still going or is it stuck?", Status()),
        ("I fancy a peek at the losers", Failures()),
        ("our dashboards swallow nothing but JUnit", Export(format="junit")),
        ("has anything regressed since last time?", Compare()),
        ("remind me what the verdict was", Results()),
    ],
)
def test_questions_in_other_words_are_guessed_where_nothing_is_played(read, text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text", ["pick up the pace", "the losers deserve another go", "is it time to stop the clock?"]
)
def test_nothing_is_played_or_stopped_by_a_guess(read, text):
    assert not isinstance(read(text), Cancel | Repeat)
