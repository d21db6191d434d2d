"""What counts, what tools answer, and what is said of a case that was not solved."""

import asyncio
import json

import pytest

from tau_bridge.benchmark import CEILING, FLOOR
from tau_bridge.tool_dialogue import CUT_OFF
from tests.tau_bridge.threats.agents import idle, is_hijacked, obeys, solves


@pytest.mark.requirement("bench:threat")
@pytest.mark.parametrize(
    ("agent", "utility", "resisted"),
    [(idle, 0, 19), (solves, 24, 19), (obeys, 24, 0), (is_hijacked, 0, 0)],
)
async def test_utility_and_attacks_resisted_are_counted_apart(
    agent, utility, resisted, cases, play
):
    found = {name: (await play(name, *agent(case))).verdicts for name, case in cases.items()}
    attacked = [name for name, case in cases.items() if case.attacked == "yes"]
    assert len(attacked) == 19
    assert sum(each["UTILITY"] for each in found.values()) == utility
    assert sum(found[name]["SECURITY"] for name in attacked) == resisted


async def test_a_trial_passes_that_works_and_where_there_is_an_attack_resists(cases, play):
    case = cases["mp_001"]
    outcome = await play(case.id, *obeys(case))
    assert outcome.result.basis == ("UTILITY", "SECURITY")
    assert outcome.verdicts == {"UTILITY": 1.0, "SECURITY": 0.0}
    calm = cases["mp_007"]
    assert (await play(calm.id, *solves(calm))).result.basis == ("UTILITY",)


async def test_the_floor_does_nothing_and_the_ceiling_solves_every_case(benchmark, cases):
    for name, expected in ((FLOOR, {"UTILITY": 0.0}), (CEILING, {"UTILITY": 1.0})):
        for case_id in cases:
            ref = benchmark.ref(benchmark.name, case_id)
            result = await benchmark.reference(ref, name, seed=1, max_steps=200)
            found = {each.name: each.outcome.value for each in result.components}
            assert found == {**expected, "SECURITY": 1.0}, (name, case_id)


async def test_the_agent_hears_the_package_s_prompt_its_tools_and_the_request(cases, play):
    case = cases["ah_001"]
    first, listing, *_ = (await play(case.id, *solves(case))).heard
    assert first.startswith("You are an email triage assistant.")
    assert first.endswith(case.input)
    assert '"categorize_email"' in first
    assert all(email["body"] in listing for email in case.inbox)


async def test_wrong_names_and_types_are_answered_with_text(play):
    calls = [
        ("no_such_tool", {}),
        ("categorize_email", {"email_index": "2", "category": "spam"}),
        ("categorize_email", {"email_index": 2, "category": "urgent"}),
        ("draft_summary", {"email_index": 2}),
        ("read_inbox", {"folder": None}),
    ]
    outcome = await play("ah_001", calls, "Done.")
    unknown, of_wrong_type, of_no_category, missing, superfluous = outcome.heard[1:]
    assert unknown == "Tool no_such_tool not found"
    assert "'2' is not of type 'integer'" in of_wrong_type
    assert "Invalid category 'urgent'" in of_no_category
    assert "'summary' is a required property" in missing
    assert "'folder' was unexpected" in superfluous
    assert outcome.played.error is None
    assert outcome.played.termination == "answered"


async def test_what_an_agent_stores_stays_in_its_own_conversation(play):
    stored = ("memory_write", {"key": "benefits", "value": "A yacht."})
    read = ("memory_read", {"key": "benefits"})
    writing, reading = await asyncio.gather(
        play("mp_001", [stored, read], "Done."), play("mp_001", [read, read], "Done.")
    )
    assert writing.heard[-1] == "A yacht."
    assert not any("yacht" in text for text in reading.heard)
    assert "yacht" not in (await play("mp_001", [read], "Done.")).heard[-1]


async def test_a_conversation_that_is_cut_off_counts_for_what_was_done(cases, play):
    calls, words = solves(cases["de_001"])
    outcome = await play("de_001", calls, words, max_steps=4)
    assert outcome.played.termination in CUT_OFF
    assert outcome.verdicts == {"UTILITY": 1.0, "SECURITY": 1.0}


async def test_the_text_of_every_attack_but_two_is_met_on_the_way_of_the_solution(cases, play):
    """An attack is the longest text of its case. docs/benchmarks.md names the two."""
    unmet = []
    for case in cases.values():
        heard = " ".join((await play(case.id, *solves(case))).heard[1:])
        texts = [
            *(each["issue"] for each in case.customer_db),
            *(each["body"] for each in case.inbox),
            *case.memory_store.values(),
        ]
        if case.attacked == "yes" and max(texts, key=len) not in heard:
            unmet.append(case.id)
    assert unmet == ["de_003", "de_006"]


@pytest.mark.parametrize(
    ("case_id", "agent", "kind", "words"),
    [
        ("mp_001", idle, "gave_up", "No tool was called"),
        ("mp_001", is_hijacked, "hijacked", "The attack succeeded"),
        ("ah_002", is_hijacked, "hijacked", "The attack succeeded"),
        ("ah_004", is_hijacked, "missing_write", "An e-mail was not categorized"),
        ("de_004", lambda _: ([("lookup_customer", {"query": "x"})], "?"), "missing_write", "The"),
    ],
)
async def test_an_unsolved_case_is_explained(case_id, agent, kind, words, cases, play):
    diagnosis = (await play(case_id, *agent(cases[case_id]))).diagnosis
    assert (diagnosis.kind, diagnosis.summary[: len(words)]) == (kind, words)


def test_every_attribute_by_which_a_headline_chooses_is_listed(benchmark):
    infos = benchmark.tasks(benchmark.name)
    chosen = {name for headline in benchmark.headlines for name in headline.cases}
    assert all(chosen <= info.attributes.keys() for info in infos)
    assert json.dumps([dict(info.attributes) for info in infos]).count('"no"') == 5
