"""Courtesies: help, greetings, and a friendly word about everything else."""

from __future__ import annotations

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.requests.intent import Courtesy

_GREETINGS: dict[Courtesy, str] = {
    "greeting": "Hello. I evaluate A2A agents on the tasks of benchmarks.",
    "thanks": "You are welcome.",
    "goodbye": "Goodbye. Runs and their reports are kept.",
    "other": "All right.",
}
_MOST_NAMED = 5


def courtesy(kind: Courtesy, deps: ConversationDeps) -> str:
    """Return the answer to a courtesy."""
    if kind == "greeting":
        return f"{_GREETINGS[kind]} {_to_start(deps)} Ask 'what can you do?' for more."
    return _GREETINGS[kind]


def off_topic(deps: ConversationDeps) -> str:
    """Return the answer to a wish that has nothing to do with evaluations."""
    return f"I can only help with evaluations of A2A agents. {_to_start(deps)}"


def _to_start(deps: ConversationDeps) -> str:
    domain = next(iter(deps.benchmarks().domains), "DOMAIN")
    return f"Say, for example: 'Evaluate builtin:echo on two {domain} tasks'."


def help_text(deps: ConversationDeps) -> str:
    """Return what can be done here, with examples that work here."""
    domains = deps.benchmarks().domains
    domain = next(iter(domains), "DOMAIN")
    registered = [agent.name for agent in deps.registry.agents()][:_MOST_NAMED]
    agent = registered[0] if registered else "http://localhost:9010"
    named = f" Registered agents: {', '.join(registered)}." if registered else ""
    lines = [
        "I evaluate A2A agents on the tasks of benchmarks and report exact rewards.",
        "",
        f"- **Evaluate**: 'Evaluate {agent} on five {domain} tasks, two trials each'. Without an "
        f"agent of your own: 'Evaluate builtin:echo on two {domain} tasks'.",
        f"- **Compare agents**: 'builtin:echo against builtin:null on five {domain} tasks'.",
        f"- **Look around**: 'list the domains', 'list the {domain} tasks', 'which agents are "
        "there?', 'list the runs'.",
        "- **Follow a run**: 'status?', 'cancel it'.",
        "- **Understand it**: 'show the results', 'show the failures', 'why did they fail?', "
        "'why did task 3 fail?', 'compare the last two runs', 'what is pass^k?'.",
        "- **Go on**: 'run it again', 'run the failed ones again', 'the same with three trials', "
        "'resume'.",
        "- **Hand it over**: 'show the report', 'export it as junit', 'export the page'.",
        "",
        f"Domains: {', '.join(domains)}.{named} AgentBeats JSON is understood as well.",
    ]
    return "\n".join(lines)
