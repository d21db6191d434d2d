"""citations: where in a trial the evidence of its diagnosis stands, as links of the page."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adk_agent.present.page.step_tree import shown_steps
from adk_agent.runs.store import TrialRecord
from evals.diagnosis import Diagnosis, ReplyFormat
from evals.trace import ASSESSOR

MOST_CITED = 60
"""Links beside that to the checks."""
_MOST_REPEATED = 12
_BROKEN = {"agent_error", "no_reply", "infrastructure", "harness"}
_Item = Mapping[str, Any]


def citations(
    record: TrialRecord, items: Sequence[_Item], missing: Sequence[_Item]
) -> list[tuple[str, str]]:
    """Return the evidence of a trial's diagnosis: the words of each link, and its target.

    A target is `turn-3`, `missing-0`, `step-7` or `checks`: the place in `items`, in `missing`
    and among the steps of the timeline, and the table of what was checked.

    Args:
        record: The trial.
        items: Its conversation, as `trial_json` tells it.
        missing: The calls of the gold path that were not made, as `trial_json` tells them.
    """
    diagnosis = record.row.diagnosis
    if diagnosis is None:
        return []
    kinds = {diagnosis.kind, *diagnosis.also}
    found = [*_calls(items)]
    found += _departing_step(record, diagnosis)
    found += _deciding_steps(record)
    found += [
        (f"{each['name']} is in the gold path and was not called", f"missing-{place}")
        for place, each in enumerate(missing)
    ]
    if diagnosis.reply_format is not None:
        found += _quoted(diagnosis.reply_format, items)
    if "loop" in kinds:
        found += list(_repeated(items)) or list(_last_turn(items))
    if "gave_up" in kinds:
        found += _last_turn(items)
    if kinds & _BROKEN:
        found += _failed_steps(record)
    return [*found[:MOST_CITED], *_unmet(record)]


def _calls(items: Sequence[_Item]) -> Iterator[tuple[str, str]]:
    for place, item in enumerate(items):
        said = []
        if item.get("departs"):
            said.append("the world left the gold path here")
        if item.get("gold") == "differs":
            said.append(f"differs from the gold path in {', '.join(item['differing'])}")
        elif item.get("gold"):
            said.append("is not in the gold path")
        said += [item[note] for note in ("note", "result_note") if item.get(note)]
        if said:
            yield f"{item.get('name', 'a message')}: {'; '.join(said)}", f"turn-{place}"


def _departing_step(record: TrialRecord, diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    departure = diagnosis.departure
    if departure is None or departure.step_id is None:
        return
    for place, (step, _) in enumerate(shown_steps(record.trace)):
        if step.step_id == departure.step_id:
            yield f"{departure.call} in the timeline", f"step-{place}"


def _deciding_steps(record: TrialRecord) -> Iterator[tuple[str, str]]:
    """Yield the steps of a team that most likely decided the outcome, the most likely first."""
    if record.row.attribution is None:
        return
    places = {step.step_id: place for place, (step, _) in enumerate(shown_steps(record.trace))}
    for each in record.row.attribution.candidates:
        if each.step_id in places:
            yield (
                f"the step of {each.agent} that may have decided it",
                f"step-{places[each.step_id]}",
            )


def _quoted(wrote: ReplyFormat, items: Sequence[_Item]) -> Iterator[tuple[str, str]]:
    """Yield the first message of the agent that the example quotes."""
    quoted = wrote.example.removesuffix("...")
    for place, item in enumerate(items):
        if item["who"] != "assistant" or not quoted:
            continue
        if " ".join(str(item.get("text", "")).split()).startswith(quoted):
            yield "the reply that is quoted above", f"turn-{place}"
            return


def _repeated(items: Sequence[_Item]) -> Iterator[tuple[str, str]]:
    """Yield the call, or the words of the agent, that came most often in the same form."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        if item["who"] in ("user", "system"):
            continue
        same = (item.get("name"), item.get("args"), item.get("result"), item.get("text"))
        places[json.dumps(same)].append(place)
    most = max(places.values(), key=len, default=[])
    if len(most) < 2:
        return
    what = items[most[0]].get("name") or "the same words"
    for number, place in enumerate(most[:_MOST_REPEATED], 1):
        yield f"{what}, time {number} of {len(most)}", f"turn-{place}"


def _last_turn(items: Sequence[_Item]) -> Iterator[tuple[str, str]]:
    for place in reversed(range(len(items))):
        if items[place]["who"] == "assistant":
            yield "the agent's last turn", f"turn-{place}"
            return


def _failed_steps(record: TrialRecord) -> Iterator[tuple[str, str]]:
    """Yield the last call of the assessor that failed."""
    shown = shown_steps(record.trace)
    for place in reversed(range(len(shown))):
        step = shown[place][0]
        if step.error is not None and step.caller == ASSESSOR:
            yield f"the call of {step.callee} that failed", f"step-{place}"
            return


def _unmet(record: TrialRecord) -> Iterator[tuple[str, str]]:
    if any(check.met is False for each in record.row.components for check in each.checks):
        yield "the checks that were not met", "checks"
