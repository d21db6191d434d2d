"""Pieces of work, each in a process of its own: play a conversation, or score one."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable
from typing import Any, NoReturn

from .link import JsonObject, Link, described
from .participants import agent_of, call_record, decide_by, record, user_of


def work(link: Link, order: JsonObject, task: Any) -> NoReturn:
    """Do one piece of work, tell how it ended, and exit.

    Who has played a conversation waits for the order to score it: one process for both takes half
    the time of two.
    """
    code = 1
    try:
        try:
            link.send("end", **WORK[order["type"]](link, order, task))
            if order["type"] == "run":
                link.said = list
                link.send("end", **evaluate(link, link.receive(), task))
        except BaseException as error:  # noqa: BLE001 - the assessor is told of anything
            said = [record(each) for each in link.said()]
            link.send("error", **described(error), phase=link.phase, messages=said)
        code = 0
    finally:
        os._exit(code)  # no clean-up of what the parent shares with it


def run(link: Link, order: JsonObject, task: Any) -> JsonObject:
    """Play one conversation. The agent, and the user or their model, are asked of the assessor."""
    from tau2.orchestrator.orchestrator import Orchestrator
    from tau2.runner.build import build_environment

    kwargs, solo = environment_kwargs(order, task), order["solo"]
    environment = build_environment(order["domain"], solo_mode=solo, env_kwargs=kwargs)
    report_tools(environment, link)
    tools, user_tools = offered_tools(order, task)
    policy = environment.get_policy()
    agent = agent_of(link, policy, solo=solo)
    user = user_of(link, order, task, environment)
    orchestrator = Orchestrator(
        domain=order["domain"],
        agent=agent,
        user=user,
        environment=environment,
        task=task,
        max_steps=order["max_steps"],
        max_errors=order["max_errors"],
        seed=order["seed"],
        solo_mode=solo,
    )
    link.said = lambda: list(orchestrator.trajectory)
    link.send("begin", policy=policy, tools=tools, user_tools=user_tools)
    link.phase = "play"
    simulation = orchestrator.run()
    return {
        "termination": simulation.termination_reason.value,
        "messages": [record(each) for each in simulation.messages],
        "steps": orchestrator.step_count,
    }


def evaluate(link: Link, order: JsonObject, task: Any) -> JsonObject:
    """Score one conversation by the official evaluation."""
    link.phase = "evaluate"
    decide_by(order["verdicts"] or {})
    try:
        reward = official_reward(order, task)
    except Exception:
        if not assertions_hold_or_fail_after_gold(order, task):
            raise
        count_as_unmet()
        reward = official_reward(order, task)
    return {"reward_info": reward.model_dump(mode="json")}


def official_reward(order: JsonObject, task: Any) -> Any:
    """Return the official `RewardInfo` of a conversation."""
    from pydantic import TypeAdapter
    from tau2.data_model.message import Message
    from tau2.data_model.simulation import SimulationRun
    from tau2.data_model.tasks import RewardType
    from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation

    simulation = SimulationRun(
        id="1",
        task_id=task.id,
        start_time="",
        end_time="",
        duration=0.0,
        termination_reason=order["termination"],
        messages=TypeAdapter(list[Message]).validate_python(order["messages"]),
    )
    criteria = task.evaluation_criteria
    by_statements = criteria is not None and RewardType.NL_ASSERTION in criteria.reward_basis
    lenient = "strict_replay" in inspect.signature(evaluate_simulation).parameters
    return evaluate_simulation(
        simulation=simulation,
        task=task,
        # The older releases refuse statements that count without this.
        evaluation_type=EvaluationType.ALL_WITH_NL_ASSERTIONS
        if by_statements or order["verdicts"]
        else EvaluationType.ALL,
        solo_mode=order["solo"],
        domain=order["domain"],
        env_kwargs=environment_kwargs(order, task),
        **({"strict_replay": False} if lenient and order["recorded"] else {}),
    )


def assertions_hold_or_fail_after_gold(order: JsonObject, task: Any) -> bool:
    """Tell whether all assertions of a task can be evaluated after its gold actions.

    If so, one that cannot be after what the agent did is not met: something is missing that should
    have been done. The official evaluation has no reward for that; Greenroom's own engine has 0.
    """
    from tau2.runner.build import build_environment

    criteria = task.evaluation_criteria
    if criteria is None or not criteria.env_assertions:
        return False
    gold = build_environment(order["domain"], env_kwargs=environment_kwargs(order, task))
    state = task.initial_state
    gold.set_state(
        initialization_data=state.initialization_data if state else None,
        initialization_actions=state.initialization_actions if state else None,
        message_history=(state.message_history if state else None) or [],
    )
    for action in criteria.actions or ():
        with contextlib.suppress(Exception):  # as in the official evaluation
            gold.make_tool_call(action.name, requestor=action.requestor, **action.arguments)
    try:
        for assertion in criteria.env_assertions:
            gold.run_env_assertion(assertion, raise_assertion_error=False)
    except Exception:  # noqa: BLE001 - then it is the task that is wrong
        return False
    return True


def count_as_unmet() -> None:
    """Have assertions that cannot be evaluated count as not met."""
    from tau2.environment.environment import Environment

    run_assertion = Environment.run_env_assertion

    def guarded(self: Any, assertion: Any, *arguments: Any, **named: Any) -> bool:
        try:
            return bool(run_assertion(self, assertion, *arguments, **named))
        except Exception:  # noqa: BLE001 - the official evaluation would end here
            return False

    Environment.run_env_assertion = guarded


WORK: dict[str, Callable[[Link, JsonObject, Any], JsonObject]] = {"run": run, "evaluate": evaluate}


_SCHEMAS: dict[tuple[str, str | None], tuple[list[JsonObject], list[JsonObject]]] = {}
"""The schemas of the agent's and the user's tools, by domain and way of retrieval."""


def describe_tools(order: JsonObject, task: Any) -> None:
    """Make the schemas of a domain's tools, which takes as long as playing a short conversation.

    Called before the fork, so that all conversations share them.
    """
    from tau2.runner.build import build_environment

    key = (order["domain"], order["retrieval"])
    if key not in _SCHEMAS:
        made = build_environment(order["domain"], env_kwargs=environment_kwargs(order, task))
        user_tools = made.get_user_tools() if made.user_tools is not None else ()
        _SCHEMAS[key] = (
            [tool.openai_schema for tool in made.get_tools()],
            [tool.openai_schema for tool in user_tools],
        )


def offered_tools(order: JsonObject, task: Any) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the schemas of the tools that the agent and the user are offered."""
    tools, user_tools = _SCHEMAS[order["domain"], order["retrieval"]]
    if order["solo"]:
        return [*tools, *user_tools], []
    names = getattr(task, "user_tools", None)
    theirs = [each for each in user_tools if names is None or each["function"]["name"] in names]
    return tools, theirs


def environment_kwargs(order: JsonObject, task: Any) -> JsonObject:
    """Return what the official runner passes to the constructor of an environment."""
    from tau2.data_model.simulation import TextRunConfig
    from tau2.runner import build

    config = TextRunConfig(
        domain=order["domain"], agent="llm_agent", retrieval_config=order["retrieval"]
    )
    # Private, but it decides what a reward is, and differs from release to release.
    kwargs: JsonObject = build._build_env_kwargs(config, task)  # noqa: SLF001
    return kwargs


def report_tools(environment: Any, link: Link) -> None:
    """Have the assessor told of each call that runs; not of those that repeat a history."""
    respond, set_state = environment.get_response, environment.set_state
    repeating = False

    def reported(call: Any) -> Any:
        if repeating:
            return respond(call)
        link.send("tool_call", call=call_record(call))
        result = respond(call)
        link.send("tool_result", message=record(result))
        return result

    def silent(*arguments: Any, **named: Any) -> None:
        nonlocal repeating
        repeating = True
        try:
            set_state(*arguments, **named)
        finally:
            repeating = False

    environment.get_response, environment.set_state = reported, silent
