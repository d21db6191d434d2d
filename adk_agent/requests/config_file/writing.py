"""Writes the text of a configuration file, with comments on what else it may say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from adk_agent.requests.config_file.model import TaskEntry

_HEAD = """\
# What Greenroom evaluates. Show the plan: {run} --dry-run. Play it: {run}
# A flag beats what stands here. Keys that begin with # are examples, or defaults.

# Addresses of agents, or names of bundled ones: greenroom list agents
agents = [{agents}]
# One with a token: agents = [{{ address = "http://...", name = "mine", token_env = "MY_TOKEN" }}]

trials = {trials}  # of each task
# seed = 300  # the same seed draws the same sample of tasks
# max_concurrency = 4  # conversations at once
# max_steps = 200  # of a conversation
# timeout_s = 300  # for one reply
# retry_user = 1  # play a trial again if its simulated user had a proven fault
# judge_user = true  # have the judge look for faults of simulated users, a call for each trial
# isolation = true  # probe for what agents tell of other conversations
# offline = true  # use no language model
"""
_TASKS = """
# What is played: greenroom list domains. Another [[tasks]] adds more.
{entries}# Instead of number: ids = ["3", "7"]; or about = "a topic"; or nothing, for all tasks
"""
_TAIL = """
# Language models by their LiteLLM names. Keys stay in the environment.
[models]
# default = "openai/gpt-4.1-mini"  # of every part that has no other
# user = "openai/gpt-4.1"  # plays the user
# judge = "openai/gpt-4.1"  # judges
# embedding = "openai/text-embedding-3-small"  # documents are searched with it, where asked for

[gates]
# fail_under = 0.6  # exit code 1 if an agent's pass^1 is below
# fail_under_faults = 0.9  # with [chaos]: exit code 1 if less of that is left under faults
# stop_when = "interval < 0.05 or minutes > 30"  # end early
# max_cost = 5  # US dollars for Greenroom's own models; then end early

# A file that is written after the run, in the format of another tool: greenroom export --help
# [[exports]]
# to = "junit"
# out = "junit.xml"
"""


def config_text(
    agents: Sequence[str],
    tasks: Iterable[TaskEntry],
    *,
    trials: int,
    run: str,
    schema: str | None = None,
) -> str:
    """Return the text of a configuration file.

    Args:
        agents: Addresses, or names of agents.
        tasks: What is played.
        trials: The trials of each task.
        run: The command that plays the file.
        schema: The file of the JSON Schema, which editors read; None to name none.
    """
    head = _HEAD.format(run=run, agents=", ".join(map(_value, agents)), trials=trials)
    entries = "".join(_entry(each) for each in tasks)
    directive = "" if schema is None else f"#:schema {schema}\n"
    return f"{directive}{head}{_TASKS.format(entries=entries)}{_TAIL}"


def _entry(entry: TaskEntry) -> str:
    given = entry.model_dump(mode="json", exclude_defaults=True)
    lines = [f"{key} = {_value(value)}" for key, value in given.items()]
    return "\n".join(["[[tasks]]", *lines, ""])


def _value(value: object) -> str:
    """Return a text, a number or a list of them as TOML; JSON writes these alike."""
    return json.dumps(value, ensure_ascii=False)
