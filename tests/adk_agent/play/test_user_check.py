"""Trials whose simulated user, a language model, was at fault: marked, repeated, reported."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import pytest

import greenroom
from adk_agent.core.errors import RequestError
from adk_agent.core.model_choice import ModelChoice, OpenedModels
from adk_agent.core.models import ModelSpec
from adk_agent.core.plan import EvaluationRequest, Overrides, Participant, Selection
from adk_agent.play.evaluation import evaluate, resume
from adk_agent.requests.planning import resolve
from adk_agent.results.markdown import render_markdown
from adk_agent.runs.store import iter_trials
from tau_bridge.completion import CompletionResult
from tests.fakes import serve
from tests.fakes.agents import scripted_agent

pytestmark = pytest.mark.requirement("test:simulator")

GOOD, INVENTING = "Please create the task.", "Please create the task for order W2378156."
FIRST_SEED = 626729
"""The seed of the first trial of a run with seed 300."""


class UserModel:
    """Plays a user who invents an order with some seeds, and stops once the agent is done."""

    spec = ModelSpec(name="tiny", litellm_name="openai/tiny")

    def __init__(self, is_faulty):
        self._is_faulty = is_faulty

    def seeded(self, seed):
        return partial(self._answer, INVENTING if self._is_faulty(seed) else GOOD)

    async def _answer(self, opening, messages, *, tools=()):
        is_first = len(messages) == 2
        return CompletionResult(content=opening if is_first else "###STOP###", model="tiny")


@dataclass(frozen=True, kw_only=True)
class PlayedBy(ModelChoice):
    model: UserModel
    user: Callable = lambda _name, arguments: replace(UserModel.spec, arguments=arguments)

    def labels(self, plan, needs):
        return {"user": "tiny", "judge": "rules"}

    async def opened(self, plan, needs, say, accept=lambda _: None):
        return OpenedModels(user=self.model, judge=None, embedding=None)


@pytest.fixture(scope="module")
def agent():
    with serve(scripted_agent(lambda text, context: "I did it.")) as url:
        yield url


@pytest.fixture
def play(make_deps, make_plan, agent):
    async def played(is_faulty, **plan):
        deps = make_deps(models=PlayedBy(model=UserModel(is_faulty)))
        return await evaluate(make_plan(agent, **plan), deps, request="")

    return played


async def test_a_user_that_invents_a_value_is_marked_with_its_words(play):
    report = await play(lambda seed: True)
    (trial,) = report.trials
    (fault,) = trial.user_check.proven
    assert fault.kind == "invented"
    assert "W2378156" in fault.reason
    assert fault.quote == INVENTING
    assert (trial.status, trial.user_seed, trial.play) == ("scored", FIRST_SEED, 0)
    (row,) = report.users
    assert (row.checked, row.with_fault, row.repeated) == (1, 1, 0)
    assert (row.score.pass_1, row.without_faults.pass_1) == (0.0, None)
    assert row.without_repeating is None
    assert report.summary[0].pass_hat_k["1"] == 0.0
    assert report.summary[0].user_faults == 1


async def test_a_trial_is_played_again_until_its_user_keeps_to_its_part(play, make_deps):
    report = await play(lambda seed: seed == FIRST_SEED, retry_user=3, num_trials=2)
    first, second = report.trials
    assert (first.play, second.play) == (1, 0)
    assert first.seed == FIRST_SEED != first.user_seed
    assert not first.has_user_fault
    (aside,) = report.repeated
    assert aside.has_user_fault
    assert aside.key == first.key
    (row,) = report.users
    assert (row.with_fault, row.repeated) == (0, 1)
    assert row.score.trials == row.without_repeating.trials == 2
    text = render_markdown(report)
    assert "1 play was set aside and repeated" in text
    assert "set aside, message 1, proven: the user gave the code" in text
    records = {each.row.trial: each for each in iter_trials(make_deps().results_dir, report.run_id)}
    (kept,) = records[0].repeated
    assert kept.trace.trace_id != records[0].trace.trace_id
    assert kept.messages[1]["content"] == INVENTING


async def test_repeating_ends_at_its_limit_and_the_last_play_counts(play):
    report = await play(lambda seed: True, retry_user=2)
    (trial,) = report.trials
    assert (trial.play, trial.has_user_fault) == (2, True)
    assert [each.play for each in report.repeated] == [0, 1]
    seeds = {trial.user_seed, *(each.user_seed for each in report.repeated)}
    assert len(seeds) == 3


async def test_a_run_that_repeated_plays_can_be_resumed(play, make_deps):
    report = await play(lambda seed: seed == FIRST_SEED, retry_user=1)
    (make_deps().results_dir / report.run_id / "report.json").unlink()
    deps = make_deps(models=PlayedBy(model=UserModel(lambda seed: True)))
    again = await resume(report.run_id, deps)
    assert again.trials == report.trials
    assert again.repeated == report.repeated
    assert again.users == report.users


async def test_a_run_keeps_how_the_users_model_was_called(play):
    report = await play(lambda seed: False, user_llm_args={"temperature": 0.7, "seed": 5})
    assert report.user.model_dump() == {
        "model": "tiny",
        "arguments": {"temperature": 0.7},
        "seed": 5,
    }
    assert report.trials[0].user_seed == 5


async def test_a_user_without_arguments_has_temperature_0_and_a_seed_of_each_trial(play):
    report = await play(lambda seed: False)
    assert (report.user.arguments, report.user.seed) == ({"temperature": 0.0}, None)


async def test_a_scripted_user_is_not_checked(make_deps, make_plan, agent):
    report = await evaluate(make_plan(agent, retry_user=3), make_deps(), request="")
    assert report.trials[0].user_check is None
    assert report.users == report.repeated == ()


def request_for(**changes):
    return EvaluationRequest(
        participants=(Participant(address="builtin:null"),),
        selections=(Selection(domain="mock", task_ids=("create_task_1",)),),
        **changes,
    )


@pytest.mark.parametrize(
    ("most", "arguments", "words"),
    [
        (11, None, "--retry-user 11 is too large"),
        (1, {"seed": 7}, "user_llm_args fixes the seed of the user's model"),
    ],
)
def test_repeating_that_cannot_be_is_refused(benchmarks, most, arguments, words):
    with pytest.raises(RequestError, match=words):
        resolve(request_for(user_llm_args=arguments), benchmarks, Overrides(retry_user=most))


def test_a_request_may_ask_for_both_and_a_flag_overrides_it(benchmarks):
    asked = request_for(retry_user=2, judge_user=True)
    plan = resolve(asked, benchmarks)
    assert (plan.retry_user, plan.judge_user) == (2, True)
    assert resolve(asked, benchmarks, Overrides(retry_user=0)).retry_user == 0


def test_python_takes_both_and_refuses_a_number_that_is_too_large(tmp_path):
    given = {"tasks": 1, "offline": True, "results_dir": tmp_path}
    report = greenroom.evaluate("builtin:null", "mock", retry_user=3, judge_user=True, **given)
    assert (report.plan.retry_user, report.plan.judge_user) == (3, True)
    with pytest.raises(RequestError, match="retry_user"):
        greenroom.evaluate("builtin:null", "mock", retry_user=11, **given)


@pytest.mark.parametrize("judges_users", [True, False])
def test_a_judge_is_opened_for_users_only_if_that_is_asked_for(make_plan, judges_users):
    plan = make_plan("builtin:null", judge_user=judges_users)
    spec = UserModel.spec
    choice = ModelChoice(user=lambda _name, _arguments: spec)
    assert choice.specs(plan, {"user"}) == (spec, spec if judges_users else None)
    assert choice.specs(plan, {"judge"}) == (None, spec)
    assert ModelChoice().specs(plan, {"user"}) == (None, None)
    assert bool(ModelChoice().warnings(plan)) == judges_users
