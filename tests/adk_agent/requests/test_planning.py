"""Requests become plans."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, ValidationError

from adk_agent.core.errors import RequestError
from adk_agent.core.plan import (
    EvaluationPlan,
    EvaluationRequest,
    Overrides,
    Participant,
    PlannedTasks,
    Selection,
)
from adk_agent.requests.description import describe, equivalent_command
from adk_agent.requests.planning import resolve
from evals.outcome import TaskResult
from tau_bridge.a2a.conversation import Conversation
from tau_bridge.benchmark import (
    Benchmark,
    DomainInfo,
    Judge,
    PlayContext,
    Played,
    TaskInfo,
    TaskRef,
)
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.business import scenarios
from tau_bridge.errors import DataError
from tau_bridge.exercises import questions
from tau_bridge.sampling import TaskKind

Read = Callable[[str], EvaluationRequest]

MMS = "[mms_issue]airplane_mode_on|bad_vpn[PERSONA:None]"
FILES: dict[str, dict[str, tuple[str, ...]]] = {
    "airline": {"base": tuple(str(n) for n in range(10)), "test": ("2", "6", "8")},
    "retail": {"base": tuple(str(n) for n in range(6))},
    "telecom": {"base": (MMS,), "full": (MMS, "[service_issue]bad_sim[PERSONA:Easy]")},
    "mock": {"base": ("create_task_1", "talk_first_1", "update_task_1")},
}
NEEDS_A_USER = {"talk_first_1"}


class SmallOptions(BaseModel):
    """The options of the small benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    solo: bool = False
    evaluation_type: str = "all"
    voice: str = "text"


class SmallBenchmark(Benchmark):
    """A benchmark of a few tasks, which nobody plays here."""

    name = "small"
    options_type = SmallOptions
    options: SmallOptions

    def domains(self) -> tuple[DomainInfo, ...]:
        return tuple(DomainInfo(name=name, has_gold=True) for name in FILES)

    def splits(self, domain: str) -> tuple[str, ...]:
        return tuple(FILES[domain])

    def tasks(self, domain: str, split: str = "base") -> Sequence[TaskInfo]:
        if split not in FILES[domain]:
            message = f"no split {split!r} in domain {domain!r}"
            raise DataError(message)
        return [TaskInfo(ref=self.ref(domain, each)) for each in FILES[domain][split]]

    def kinds(self, domain: str, task_ids: Iterable[str]) -> dict[str, TaskKind] | None:
        """Of airline: one kind for 0 to 3, which ask for nothing, and one for the others."""
        if domain == "retail":
            return None
        return {
            each: TaskKind(asks_nothing=domain == "airline" and each < "4", traits=())
            for each in task_ids
        }

    def unsupported(self, domain: str) -> str | None:
        if not self.options.solo or domain in ("telecom", "mock"):
            return None
        return "its tasks need a user"

    def unplayable(self, ref: TaskRef) -> str | None:
        return "it needs a user" if self.options.solo and ref.id in NEEDS_A_USER else None

    async def play(self, ref: TaskRef, agent: Conversation, context: PlayContext) -> Played:
        raise NotImplementedError

    async def score(self, ref: TaskRef, played: Played, judge: Judge | None) -> TaskResult | None:
        raise NotImplementedError


SMALL = Benchmarks([SmallBenchmark()])


def request(*selections: Selection, **fields: Any) -> EvaluationRequest:
    participants = fields.pop("participants", (Participant(address="http://localhost:9010"),))
    return EvaluationRequest(participants=participants, selections=selections, **fields)


def plan_of(asked: EvaluationRequest, **flags: Any) -> EvaluationPlan:
    return resolve(asked, SMALL, Overrides(**flags))


def refusal(asked: EvaluationRequest, **flags: Any) -> str:
    with pytest.raises(RequestError) as caught:
        plan_of(asked, **flags)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_a_domain_without_a_number_gives_all_tasks_of_its_split() -> None:
    assert plan_of(request(Selection(domain="airline"))).tasks[0].task_ids == tuple("0123456789")
    of_test = plan_of(request(Selection(domain="airline", split="test")))
    assert of_test.tasks[0].task_ids == ("2", "6", "8")


def ids(plan: EvaluationPlan) -> tuple[str, ...]:
    (planned,) = plan.tasks
    return planned.task_ids


def test_a_number_gives_a_sample_with_every_kind_of_task_and_says_so() -> None:
    plan = plan_of(request(Selection(domain="airline", num_tasks=5)))
    assert len([each for each in ids(plan) if each < "4"]) == 2
    assert len([each for each in ids(plan) if each >= "4"]) == 3
    assert list(ids(plan)) == sorted(ids(plan))
    assert plan.warnings == (
        "the tasks are a sample: 5 of 10 airline tasks, drawn across kinds of task (seed 300); "
        "for tasks in order, ask for 'the first 5 airline tasks'",
    )
    assert plan.warnings[0] in describe(plan)


def test_one_task_is_never_one_that_a_silent_agent_passes() -> None:
    plans = [
        plan_of(request(Selection(domain="airline", num_tasks=1), seed=seed)) for seed in range(30)
    ]
    assert {ids(plan)[0] for plan in plans} == set("456789")
    assert (
        "(seed 29); for tasks in order, ask for 'the first airline task'" in plans[29].warnings[0]
    )


def test_the_seed_of_the_plan_draws_the_sample() -> None:
    asked = request(Selection(domain="airline", num_tasks=4), seed=1)
    assert ids(plan_of(asked)) == ids(plan_of(asked))
    by_flag = [ids(plan_of(asked, seed=seed)) for seed in range(10)]
    assert by_flag[1] == ids(plan_of(asked))
    assert len(set(by_flag)) > 1


def test_a_sample_of_a_split_is_of_that_split() -> None:
    plan = plan_of(request(Selection(domain="airline", split="test", num_tasks=1)))
    assert ids(plan)[0] in {"6", "8"}
    assert plan.warnings[0].startswith(
        "the tasks are a sample: 1 of 3 airline tasks of the split 'test'"
    )


def test_the_first_tasks_are_the_first_of_the_split() -> None:
    plan = plan_of(request(Selection(domain="airline", num_tasks=3, first=True)))
    assert plan.tasks == (PlannedTasks(domain="airline", task_ids=("0", "1", "2")),)
    assert plan.warnings == ()


def test_tasks_without_kinds_keep_their_order() -> None:
    plan = plan_of(request(Selection(domain="retail", num_tasks=3)))
    assert (ids(plan), plan.warnings) == (("0", "1", "2"), ())


def test_a_number_of_all_tasks_is_no_sample() -> None:
    plan = plan_of(request(Selection(domain="airline", num_tasks=10)))
    assert (ids(plan), plan.warnings) == (tuple("0123456789"), ())


def test_a_limit_makes_a_sample_smaller_and_keeps_the_first_of_what_is_named() -> None:
    five = request(Selection(domain="airline", num_tasks=5))
    three = request(Selection(domain="airline", num_tasks=3))
    whole = request(Selection(domain="airline"))
    limited = [plan_of(asked, limit=3) for asked in (five, whole)]
    assert [(each.tasks, each.warnings) for each in limited] == [
        (plan_of(three).tasks, plan_of(three).warnings)
    ] * 2
    assert plan_of(whole, limit=10) == plan_of(whole, limit=99) == plan_of(whole)
    named = request(Selection(domain="airline", task_ids=("7", "2", "5")))
    assert (ids(plan_of(named, limit=2)), plan_of(named, limit=2).warnings) == (("7", "2"), ())
    first = request(Selection(domain="airline", first=True))
    assert (ids(plan_of(first, limit=2)), plan_of(first, limit=2).warnings) == (("0", "1"), ())


@given(
    size=st.integers(1, 30),
    limit=st.none() | st.integers(1, 30),
    seed=st.integers(0, 999_999_999),
    split=st.sampled_from(["base", "test"]),
)
def test_a_plan_holds_as_many_different_tasks_of_the_split_as_were_asked_for(
    read: Read, size: int, limit: int | None, seed: int, split: str
) -> None:
    asked = request(Selection(domain="airline", num_tasks=size, split=split), seed=seed)
    plan = plan_of(asked, limit=limit)
    known = FILES["airline"][split]
    assert len(ids(plan)) == min(size, limit or size, len(known))
    assert [each for each in known if each in ids(plan)] == list(ids(plan))
    assert plan_of(asked, limit=limit) == plan
    assert comparable(again(read, plan)) == comparable(plan)


@pytest.mark.parametrize("domain", ["airline", "retail", "telecom", "mock", "business"])
def test_a_silent_agent_passes_its_share_of_a_sample_of_the_installed_data(
    benchmarks: Benchmarks, domain: str
) -> None:
    benchmark = benchmarks.of(domain)
    everything = benchmark.task_ids(domain)
    kinds = benchmark.kinds(domain, everything)
    assert kinds is not None
    of_all = sum(kind.asks_nothing for kind in kinds.values())
    for size in range(1, 9):
        asked = request(Selection(domain=domain, num_tasks=size))
        drawn = ids(resolve(asked, benchmarks))
        silent = sum(kinds[each].asks_nothing for each in drawn)
        assert silent <= min(math.ceil(size * of_all / len(everything)), size - 1)


def test_ten_business_scenarios_expect_different_outcomes_of_different_processes(
    benchmarks: Benchmarks,
) -> None:
    plan = resolve(request(Selection(domain="business", num_tasks=10)), benchmarks)
    drawn = [scenarios.scenario(each) for each in ids(plan)]
    # 20, 14, 10, 7, 4 and 3 of 58 scenarios.
    assert Counter(each.expected.outcome for each in drawn) == {
        "allow": 3, "block": 2, "require_approval": 2, "escalate": 1, "inform": 1, "clarify": 1,
    }  # fmt: skip
    assert len({each.process for each in drawn}) >= 5


def test_exercises_keep_their_order(benchmarks: Benchmarks) -> None:
    plan = resolve(request(Selection(domain="coordination", num_tasks=3)), benchmarks)
    assert ids(plan) == tuple(questions.exercises())[:3]
    assert plan.warnings == ()


def test_more_tasks_than_there_are_give_all_of_them_and_a_warning() -> None:
    plan = plan_of(request(Selection(domain="retail", num_tasks=100)))
    assert len(plan.tasks[0].task_ids) == 6
    assert "100" in plan.warnings[0]
    assert "6" in plan.warnings[0]


def test_defaults_are_the_official_ones() -> None:
    plan = plan_of(request(Selection(domain="mock")))
    assert (plan.num_trials, plan.seed, plan.max_steps) == (1, 300, 200)


def test_flags_beat_the_request() -> None:
    asked = request(Selection(domain="airline"), num_trials=5, seed=1, max_steps=9)
    plan = plan_of(asked, num_trials=2, seed=0, max_steps=30, max_concurrency=7, limit=4)
    assert (plan.num_trials, plan.seed, plan.max_steps, plan.max_concurrency) == (2, 0, 30, 7)
    assert len(plan.tasks[0].task_ids) == 4


@pytest.mark.parametrize(
    "flags",
    [{"num_trials": 0}, {"max_concurrency": 0}, {"seed": -1}, {"max_steps": 0}, {"limit": 0}],
)
def test_a_flag_that_is_too_small_is_refused_by_name(flags: dict[str, int]) -> None:
    message = refusal(request(Selection(domain="airline")), **flags)
    assert f"--{next(iter(flags)).replace('_', '-')} " in message
    assert "too small" in message


@pytest.mark.parametrize(
    ("name", "most"),
    [("num_trials", 100), ("max_concurrency", 1_000), ("seed", 999_999_999), ("max_steps", 10_000)],
)
def test_a_flag_has_the_bounds_of_a_request(name: str, most: int) -> None:
    asked = request(Selection(domain="airline"))
    assert getattr(plan_of(asked, **{name: most}), name) == most
    message = refusal(asked, **{name: most + 1})
    assert f"--{name.replace('_', '-')} {most + 1} is too large" in message
    assert f"to {most}" in message
    with pytest.raises(ValidationError):
        request(Selection(domain="airline"), **{name: most + 1})


def test_an_unknown_domain_names_the_nearest() -> None:
    assert "'airline'" in refusal(request(Selection(domain="airlines2")))


def test_an_unknown_task_names_the_nearest() -> None:
    message = refusal(request(Selection(domain="mock", task_ids=("create_task_2",))))
    assert "'create_task_2'" in message
    assert "'create_task_1'" in message


def test_an_unknown_split_is_refused() -> None:
    assert "'dev'" in refusal(request(Selection(domain="airline", split="dev")))


def test_an_id_outside_the_base_split_may_be_named() -> None:
    other = FILES["telecom"]["full"][1]
    plan = plan_of(request(Selection(domain="telecom", task_ids=(other,))))
    assert plan.tasks[0].task_ids == (other,)


def test_an_id_outside_a_split_that_was_named_is_refused() -> None:
    message = refusal(request(Selection(domain="airline", split="test", task_ids=("3",))))
    assert "'3'" in message


def test_an_empty_list_of_ids_is_refused() -> None:
    assert "empty" in refusal(request(Selection(domain="airline", task_ids=())))


def test_ids_named_twice_are_played_once_with_a_warning() -> None:
    plan = plan_of(request(Selection(domain="airline", task_ids=("4", "1", "4"))))
    assert plan.tasks[0].task_ids == ("4", "1")
    assert "4" in plan.warnings[0]


def test_shards_share_the_tasks_of_all_domains() -> None:
    selections = (
        Selection(domain="airline", num_tasks=3, first=True),
        Selection(domain="retail", num_tasks=2),
    )
    first = plan_of(request(*selections, shard_index=0, num_shards=2))
    second = plan_of(request(*selections, shard_index=1, num_shards=2))
    assert first.tasks == (
        PlannedTasks(domain="airline", task_ids=("0", "2")),
        PlannedTasks(domain="retail", task_ids=("1",)),
    )
    assert second.tasks == (
        PlannedTasks(domain="airline", task_ids=("1",)),
        PlannedTasks(domain="retail", task_ids=("0",)),
    )


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"shard_index": 2, "num_shards": 2}, "0 to 1"),
        ({"shard_index": 1}, "num_shards is missing"),
        ({"num_shards": 3}, "shard_index is missing"),
        ({"shard_index": 7, "num_shards": 8}, "holds no task"),
    ],
)
def test_a_shard_that_is_none_is_refused(fields: dict[str, int], named: str) -> None:
    assert named in refusal(request(Selection(domain="retail"), **fields))


def test_solo_is_for_telecom_and_mock_only() -> None:
    assert plan_of(request(Selection(domain="telecom"), solo=True)).solo
    message = refusal(request(Selection(domain="mock"), Selection(domain="retail"), solo=True))
    assert "'retail' cannot be played solo: its tasks need a user" in message


def test_tasks_that_need_a_user_are_left_out_of_a_solo_plan_with_a_warning() -> None:
    plan = plan_of(request(Selection(domain="mock"), solo=True))
    assert plan.tasks[0].task_ids == ("create_task_1", "update_task_1")
    assert len(plan.warnings) == 1
    assert "talk_first_1 cannot be played solo" in plan.warnings[0]
    assert "talk_first_1" in plan_of(request(Selection(domain="mock"))).tasks[0].task_ids


def test_a_number_of_solo_tasks_counts_those_that_can_be_played() -> None:
    two = plan_of(request(Selection(domain="mock", num_tasks=2), solo=True))
    assert two.tasks[0].task_ids == ("create_task_1", "update_task_1")
    one = plan_of(request(Selection(domain="mock", num_tasks=1, first=True), solo=True))
    assert (one.tasks[0].task_ids, one.warnings) == (("create_task_1",), ())
    drawn = plan_of(request(Selection(domain="mock", num_tasks=1), solo=True))
    assert drawn.tasks[0].task_ids[0] in {"create_task_1", "update_task_1"}
    assert "talk_first_1 cannot be played solo" in drawn.warnings[0]
    assert drawn.warnings[1].startswith("the tasks are a sample: 1 of 2 mock tasks")
    many = plan_of(request(Selection(domain="mock", num_tasks=3), solo=True))
    assert "2 that can be played solo" in many.warnings[1]


def test_a_task_that_needs_a_user_and_is_named_is_left_out_of_a_solo_plan() -> None:
    named = Selection(domain="mock", task_ids=("talk_first_1", "update_task_1"))
    plan = plan_of(request(named, Selection(domain="telecom"), solo=True))
    assert [each.task_ids for each in plan.tasks] == [("update_task_1",), (MMS,)]
    assert "talk_first_1" in plan.warnings[0]


def test_a_domain_of_which_no_solo_task_is_left_is_left_out() -> None:
    alone = Selection(domain="mock", task_ids=("talk_first_1",))
    plan = plan_of(request(alone, Selection(domain="telecom"), solo=True))
    assert [each.domain for each in plan.tasks] == ["telecom"]
    assert "talk_first_1" in plan.warnings[0]
    assert "none of these tasks of mock can be played solo" in refusal(request(alone, solo=True))


def test_the_tasks_of_the_installed_data_that_need_a_user_are_known(
    benchmarks: Benchmarks,
) -> None:
    benchmark = benchmarks.of("mock").with_options({"solo": True})

    def needing_a_user(domain: str) -> list[str]:
        ids = benchmark.task_ids(domain)
        return [each for each in ids if benchmark.unplayable(benchmark.ref(domain, each))]

    assert needing_a_user("mock") == [
        "update_task_with_message_history",
        "update_task_with_history_and_env_assertions",
    ]
    assert needing_a_user("telecom") == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://localhost:9010", "http://127.0.0.1:9010/"),
        ("http://a.example", "http://a.example:80"),
    ],
)
def test_two_spellings_of_one_address_are_evaluated_once_with_a_warning(
    first: str, second: str
) -> None:
    both = (Participant(role="a", address=first), Participant(role="b", address=second))
    plan = plan_of(request(Selection(domain="mock"), participants=both))
    assert [each.address for each in plan.participants] == [first]
    assert plan.warnings == (f"{second} is the same agent as {first}: it is evaluated once",)


def test_the_same_address_twice_is_evaluated_once_with_a_warning() -> None:
    twice = (
        Participant(role="a", address="http://localhost:9010"),
        Participant(role="b", address="http://LOCALHOST:9010/"),
    )
    plan = plan_of(request(Selection(domain="mock"), participants=twice))
    assert [each.role for each in plan.participants] == ["a"]
    assert len(plan.warnings) == 1


def test_participants_of_one_role_get_roles_of_their_own() -> None:
    both = (Participant(address="http://a.example"), Participant(address="http://b.example"))
    plan = plan_of(request(Selection(domain="mock"), participants=both))
    assert [each.role for each in plan.participants] == ["agent_1", "agent_2"]


@pytest.mark.parametrize("address", ["ftp://a.example", "builtin:wizard", "http://", "a b"])
def test_an_address_that_cannot_be_called_is_refused_whoever_made_the_request(address: str) -> None:
    asked = request(Selection(domain="mock"), participants=(Participant(address=address),))
    assert refusal(asked)


def test_a_request_without_agent_or_domain_is_refused() -> None:
    assert "agent" in refusal(request(Selection(domain="mock"), participants=()))
    assert "domain" in refusal(request())


def again(read: Read, plan: EvaluationPlan) -> EvaluationPlan:
    """The plan that its equivalent command makes."""
    program, verb, sentence, *flags = shlex.split(equivalent_command(plan))
    assert (program, verb) == ("greenroom", "run")
    values = {
        flag.removeprefix("--").replace("-", "_"): int(value)
        for flag, value in zip(flags[::2], flags[1::2], strict=True)
    }
    return resolve(read(sentence), SMALL, Overrides(**values))


def comparable(plan: EvaluationPlan) -> EvaluationPlan:
    return plan.model_copy(update={"reasoning": "", "warnings": (), "shortfalls": ()})


@pytest.mark.parametrize(
    "text",
    [
        "Evaluate http://localhost:9010 on five airline tasks, two trials each",
        "Evaluate the bundled oracle and null agents on all retail tasks and airline task 7",
        f"Run telecom task {MMS} solo against http://[::1]:9010, seed 4, 50 steps, 3 at a time",
        "Evaluate http://localhost:9010/it's on mock with o3-mini as the user, action-only",
        "Evaluate http://a.example:1234 and http://b.example:1234 on two airlne tasks",
    ],
)
def test_the_equivalent_command_makes_the_same_plan(read: Read, text: str) -> None:
    plan = plan_of(read(text))
    assert comparable(again(read, plan)) == comparable(plan)
    assert again(read, plan).warnings == ()


@given(
    selections=st.lists(
        st.sampled_from(sorted(FILES)).flatmap(
            lambda domain: st.builds(
                Selection,
                domain=st.just(domain),
                task_ids=st.lists(st.sampled_from(FILES[domain]["base"]), min_size=1).map(tuple),
            )
        ),
        min_size=1,
        max_size=4,
    ),
    trials=st.integers(1, 100),
    seed=st.integers(0, 10_000),
    arguments=st.fixed_dictionaries(
        {},
        optional={
            "temperature": st.floats(0, 2),
            "stop": st.text(min_size=1, max_size=5),
            "seed": st.integers(0, 2**63 - 1),
        },
    ),
)
def test_the_equivalent_command_makes_the_same_plan_whatever_the_plan(
    read: Read, selections: list[Selection], trials: int, seed: int, arguments: dict[str, Any]
) -> None:
    plan = plan_of(
        request(*selections, num_trials=trials, seed=seed, user_llm_args=arguments or None)
    )
    assert comparable(again(read, plan)) == comparable(plan)


def test_the_description_names_what_will_be_played(read: Read) -> None:
    plan = plan_of(
        read("Evaluate http://localhost:9010 on the first nine airlne tasks, twice each")
    )
    text = describe(plan)
    assert "agent: http://localhost:9010" in text
    assert "airline: 9 (0, 1, 2, 3, 4, 5, 6, 7, 1 more)" in text
    assert "Conversations in all: 18" in text
    assert "Warning: 'airlne'" in text


TEAM = {"lead": "http://127.0.0.1:9001", "orders": "http://127.0.0.1:9002"}


def team_request(read: Read, participants: dict[str, str], **config: Any) -> EvaluationRequest:
    config = {"domain": "coordination", **config}
    return read(json.dumps({"participants": participants, "config": config}))


def test_an_entry_makes_one_team_of_the_participants(read: Read, benchmarks: Benchmarks) -> None:
    plan = resolve(team_request(read, TEAM, entry="lead"), benchmarks)
    assert [each.role for each in plan.participants] == ["lead"]
    assert [each.role for each in plan.members] == ["lead", "orders"]
    assert plan.total_trials == len(questions.exercises())


def test_the_entry_all_asks_every_member(read: Read, benchmarks: Benchmarks) -> None:
    plan = resolve(team_request(read, TEAM, entry="all", num_tasks=2), benchmarks)
    assert plan.participants == plan.members
    assert plan.total_trials == 4


def test_without_an_entry_participants_are_assessed_one_by_one_with_a_warning(
    read: Read, benchmarks: Benchmarks
) -> None:
    plan = resolve(team_request(read, TEAM), benchmarks)
    assert (len(plan.participants), plan.members) == (2, ())
    assert any('"entry"' in warning for warning in plan.warnings)


@pytest.mark.parametrize(
    ("participants", "entry", "named"),
    [
        (TEAM, "boss", "'boss'"),
        ({"lead": TEAM["lead"]}, "lead", "only one"),
        ({"lead": TEAM["lead"], "team": "builtin:team:star5"}, "lead", "builtin:team:star5"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(
    read: Read, benchmarks: Benchmarks, participants: dict[str, str], entry: str, named: str
) -> None:
    with pytest.raises(RequestError, match=re.escape(named)):
        resolve(team_request(read, participants, entry=entry), benchmarks)


def test_an_exercise_that_there_is_not_names_the_nearest(
    read: Read, benchmarks: Benchmarks
) -> None:
    with pytest.raises(RequestError, match="did you mean 'ex01_return_with_fee'"):
        resolve(
            team_request(read, TEAM, entry="lead", task_ids=["ex01_return_with_fees"]), benchmarks
        )


@pytest.mark.parametrize("entry", ["lead", "all", None])
def test_the_equivalent_command_keeps_the_team_and_its_entry(
    read: Read, benchmarks: Benchmarks, entry: str | None
) -> None:
    config = {} if entry is None else {"entry": entry}
    plan = resolve(team_request(read, TEAM, num_tasks=2, **config), benchmarks)
    words = shlex.split(equivalent_command(plan))
    assert comparable(resolve(read(words[2]), benchmarks)) == comparable(plan)
    text = describe(plan)
    assert all(f"{role}: {address}" in text for role, address in TEAM.items())
    assert ("its entry" in text) == (entry is not None)


@pytest.mark.parametrize(
    ("sentence", "addresses", "tasks"),
    [
        (
            "Compare the coordination of the bundled teams star5, mesh4 and pingpong2",
            ["builtin:team:star5", "builtin:team:mesh4", "builtin:team:pingpong2"],
            None,
        ),
        (
            "Assess how the team at http://127.0.0.1:9010 coordinates on three exercises",
            ["http://127.0.0.1:9010"],
            3,
        ),
    ],
)
def test_sentences_about_coordination_become_exercises(
    read: Read, benchmarks: Benchmarks, sentence: str, addresses: list[str], tasks: int | None
) -> None:
    plan = resolve(read(sentence), benchmarks)
    assert [each.address for each in plan.participants] == addresses
    [planned] = plan.tasks
    assert planned.domain == "coordination"
    assert len(planned.task_ids) == (tasks or len(questions.exercises()))


def test_an_option_of_a_benchmark_is_planned_and_a_flag_beats_it() -> None:
    asked = request(Selection(domain="retail"), options={"voice": "loud"})
    assert plan_of(asked).options == {"voice": "loud"}
    assert plan_of(asked, options={"voice": "soft"}).options == {"voice": "soft"}
    assert plan_of(asked, options={"solo": "false"}).options == {"voice": "loud"}


def test_the_equivalent_command_keeps_the_options(read: Read) -> None:
    plan = plan_of(request(Selection(domain="mock"), options={"voice": "loud", "solo": True}))
    assert plan.solo
    assert comparable(again(read, plan)) == comparable(plan)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"tone": "soft"}, "there is no option 'tone' of small"),
        ({"voice": "5"}, "option 'voice' of small"),
        ({"solo": "perhaps"}, "option 'solo' is 'perhaps'"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(options: dict[str, str], named: str) -> None:
    assert named in refusal(request(Selection(domain="mock")), options=options)


@pytest.mark.parametrize("domain", ["business", ["mock", "business"], "coordination"])
def test_action_only_scoring_is_refused_where_tasks_name_no_actions(read, benchmarks, domain):
    config = {"domain": domain, "evaluation_type": "action"}
    request = read(
        json.dumps({"participants": {"agent": "http://localhost:9010"}, "config": config})
    )
    with pytest.raises(RequestError, match=r"'(business|coordination)' has no action-only scoring"):
        resolve(request, benchmarks)
