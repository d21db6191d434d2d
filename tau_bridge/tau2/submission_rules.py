"""The rules of the τ²-bench leaderboard for runs, as reasons why some cannot be submitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tau_bridge.benchmark import MODEL_USER, Revision, content_of
from tau_bridge.run_view import PartView, RowView, RunView
from tau_bridge.tau2.data import DataSource
from tau_bridge.tau2.export import Conditions, is_same_data
from tau_bridge.tau2.model_user import OWN_GUIDELINES_NOTE

DOMAINS: Final = ("retail", "airline", "telecom", "banking_knowledge")
"""The domains of the leaderboard."""
LEAST_TRIALS: Final = 4
"""Trials of each task."""
VERSION: Final = "1.0.1"
"""The release of τ²-bench whose task data the leaderboard compares with."""
REVISIONS: Final[Mapping[str, str]] = {
    "airline": "sha256:a2c985b8ca5f",
    "retail": "sha256:6820fb8ddb30",
    "telecom": "sha256:60063e9e1408",
    "banking_knowledge": "sha256:68aec809689e",
}
"""The data of that release, by domain, as `DataSource.revision` has them."""
WITH_DOCUMENTS: Final = "banking_knowledge"
NO_DATA: Final = Revision(source="none", revision="none")
_SHOWN: Final = 5


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One domain of a submission: the run that played it, and the benchmark as it did."""

    run: RunView
    part: PartView
    conditions: Conditions

    @property
    def domain(self) -> str:
        """Return the domain."""
        return self.part[1]

    @property
    def retrieval(self) -> str | None:
        """Return how the agent searched documents; None where there are none."""
        return self.conditions.retrieval if self.domain == WITH_DOCUMENTS else None

    def rows(self) -> Sequence[RowView]:
        """Return the trials that ended."""
        return self.run.rows(self.part)


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A reason against a submission.

    Args:
        text: What is wrong, with what, and what to do.
        unfinished: Playing on would put it right.
    """

    text: str
    unfinished: bool = False


def selected(entries: Sequence[Entry], agents: Sequence[str]) -> tuple[list[Entry], list[Reason]]:
    """Return the entries of the agent that is submitted, and what is wrong with the choice.

    Args:
        entries: All that the runs have.
        agents: The addresses of the agent, where they were named.
    """
    found = list(dict.fromkeys(entry.part[0].address for entry in entries))
    if agents:
        unknown = [address for address in agents if address not in found]
        names = f"{', '.join(map(repr, unknown))}; they have {', '.join(map(repr, found))}"
        reasons = [Reason(text=f"the runs have no agent {names}")] if unknown else []
        return [entry for entry in entries if entry.part[0].address in agents], reasons
    if len(found) < 2:
        return list(entries), []
    text = (
        f"the runs evaluated several agents, {', '.join(found)}, and a submission is for one: name "
        f'it in the details, as in agents = ["{found[0]}"]; all its addresses where it has several'
    )
    return list(entries), [Reason(text=text)]


def reasons_of(
    entries: Sequence[Entry], source: DataSource, *, version: str | None, one_agent: bool
) -> Iterator[Reason]:
    """Yield every reason why these entries cannot be submitted together.

    Args:
        entries: All that are to be submitted.
        source: The data at hand.
        version: The release that the data are said to be of, where they are not those known here.
        one_agent: The entries are known to be of one agent.
    """
    yield from _together(entries, one_agent=one_agent)
    for entry in entries:
        name = f"{entry.domain} of run {entry.run.run_id}"
        if entry.domain not in DOMAINS:
            yield Reason(
                text=f"{name}: {entry.domain} is no domain of the leaderboard, which has "
                f"{', '.join(DOMAINS)}: submit runs without it"
            )
            continue
        yield from _options(entry, name)
        yield from _user(entry, name)
        yield from _data(entry, name, source, version)
        yield from _trials(entry, name)


def not_begun(run: RunView) -> Iterator[Reason]:
    """Yield a reason for each domain of a run of which no trial ended."""
    played = {domain for _, domain in run.parts()}
    for domain in run.planned:
        if domain not in played:
            text = (
                f"{domain} of run {run.run_id}: no trial has ended; greenroom resume {run.run_id}"
            )
            yield Reason(text=text, unfinished=True)


def _together(entries: Sequence[Entry], *, one_agent: bool) -> Iterator[Reason]:
    # Of several agents each has its domains, until it is known that they are one.
    found = Counter(
        (entry.domain, None if one_agent else entry.part[0].address) for entry in entries
    )
    for (domain, _), count in found.items():
        if count > 1:
            runs = sorted({entry.run.run_id for entry in entries if entry.domain == domain})
            yield Reason(
                text=f"{domain} is there {count} times (run {', '.join(runs)}), and the leaderboard "
                "takes each domain once: leave out all runs of it but one"
            )
    models = sorted({row.user for entry in entries for row in entry.rows() if _is_model(row.user)})
    if len(models) > 1:
        yield Reason(
            text=f"the users were played by several models, {', '.join(models)}, and the "
            "leaderboard takes one for all domains: play with one --user-model"
        )
    arguments = {repr(sorted(entry.run.user_llm_args.items())) for entry in entries}
    if len(arguments) > 1:
        yield Reason(
            text=f"the user's model had other arguments in each run, {', '.join(sorted(arguments))}, "
            "and the leaderboard takes the same for all domains"
        )


def _is_model(user: str) -> bool:
    return user.startswith(MODEL_USER)


def _options(entry: Entry, name: str) -> Iterator[Reason]:
    if entry.conditions.solo:
        yield Reason(text=f"{name}: it was played without a user (solo), which has no place there")
    if entry.conditions.actions_alone:
        yield Reason(
            text=f"{name}: its reward compares actions alone, and the leaderboard's is the official "
            "one: play it with evaluation_type all"
        )


def _user(entry: Entry, name: str) -> Iterator[Reason]:
    others = Counter(row.user for row in entry.rows() if not _is_model(row.user))
    for user, count in others.items():
        if not entry.conditions.solo:
            yield Reason(
                text=f"{name}: in {count} trials the user was {user!r}, and the leaderboard takes "
                "users that a language model plays: play it with --user-model"
            )
    if any(row.user.endswith(OWN_GUIDELINES_NOTE) for row in entry.rows()):
        yield Reason(
            text=f"{name}: the user's model had Greenroom's own guidelines, because the data have "
            "none: play it with TAU2_DATA_DIR at official data"
        )


def _data(entry: Entry, name: str, source: DataSource, version: str | None) -> Iterator[Reason]:
    played = entry.run.origins[entry.domain]
    told = f"{played.source} ({played.revision})"
    known = REVISIONS.get(entry.domain)
    if played.source != "official":
        yield Reason(
            text=f"{name}: its tasks are those of {told}, older than the leaderboard's: play it "
            "with TAU2_DATA_DIR at official data"
        )
        return
    if content_of(played.revision).partition(",")[0] != known and version is None:
        those = f"those of τ²-bench {VERSION} ({known or 'not known here'})"
        yield Reason(
            text=f"{name}: its data {told} are not {those}, with which the leaderboard compares: "
            "play it with these, or say in the details which release they are of, as "
            f'tau2_bench_version = "{VERSION}"'
        )
    there_is = entry.domain in source.domains()
    here = entry.conditions.revision(entry.domain) if there_is else NO_DATA
    if is_same_data(entry.run, entry.domain, here):
        yield from _tasks(entry, name, source.task_ids(entry.domain))
    else:
        yield Reason(
            text=f"{name}: it was played with {told}, and the data at hand are {here.source} "
            f"({here.revision}): set TAU2_DATA_DIR to the folder that it was played with"
        )


def _tasks(entry: Entry, name: str, wanted: Sequence[str]) -> Iterator[Reason]:
    planned = entry.run.planned[entry.domain]
    missing = [task_id for task_id in wanted if task_id not in planned]
    extra = [task_id for task_id in planned if task_id not in wanted]
    if missing:
        yield Reason(
            text=f"{name}: it lacks {len(missing)} of the {len(wanted)} tasks of the base split "
            f"({_some(missing)}): play all of them"
        )
    if extra:
        yield Reason(
            text=f"{name}: {len(extra)} of its tasks are not in the base split ({_some(extra)}): "
            "play that split alone"
        )


def _trials(entry: Entry, name: str) -> Iterator[Reason]:
    run_id, wanted = entry.run.run_id, entry.run.num_trials
    if wanted < LEAST_TRIALS:
        yield Reason(
            text=f"{name}: it has {wanted} trials of each task, and the leaderboard wants "
            f"{LEAST_TRIALS} or more: play it with --num-trials {LEAST_TRIALS}"
        )
    rows = entry.rows()
    open_ones = len(entry.run.planned[entry.domain]) * wanted - len(rows)
    if open_ones:
        yield Reason(
            text=f"{name}: {open_ones} trials have not ended: greenroom resume {run_id}",
            unfinished=True,
        )
    for status, what in (("failed", "failed"), ("unscored", "have no score")):
        affected = [row for row in rows if row.status == status]
        if affected:
            yield Reason(
                text=f"{name}: {len(affected)} trials {what} ({affected[0].reason}): "
                f"greenroom resume {run_id} --retry {status}",
                unfinished=True,
            )


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
