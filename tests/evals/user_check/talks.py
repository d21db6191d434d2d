"""Conversations of simulated users, to be checked."""

from evals.user_check import check_user, heard_in

INSTRUCTIONS = (
    "You want to cancel reservation EHGLP3 of May 17. Your name is Emma Kim, your user id is "
    "emma_kim_9957. If the agent says that it cannot be cancelled, mention that you have insurance."
)


def talk(*lines, results=()):
    """Messages in turn, the agent's first; `results` are of the user's own tools, at the end."""
    roles = ("assistant", "user")
    said = [{"role": roles[n % 2], "content": line} for n, line in enumerate(lines)]
    return said + [{"role": "tool", "requestor": "user", "content": each} for each in results]


def found(*lines, instructions=INSTRUCTIONS, began=0):
    """The faults of the user in a conversation, as kind and certainty."""
    faults = check_user(heard_in(talk(*lines), instructions, began=began)).faults
    return [(each.kind, each.certainty) for each in faults]


def proven(*lines, **given):
    """The kinds of the proven faults."""
    return [kind for kind, certainty in found(*lines, **given) if certainty == "proven"]
