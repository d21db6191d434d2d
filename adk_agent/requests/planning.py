"""Planning: a request checked against the real catalogue becomes a plan that lists every task."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from adk_agent.core.errors import RequestError
from adk_agent.core.plan import (
    BUILTIN_PREFIX,
    DEFAULT_MAX_CONCURRENCY,
    DEFAULT_MAX_STEPS,
    DEFAULT_SEED,
    EVERY_MEMBER,
    MAX_CONCURRENCY,
    MAX_SEED,
    MAX_STEPS,
    MAX_TASKS,
    MAX_TRIALS,
    NAMED_OPTIONS,
    NEEDS_GOLD,
    EvaluationPlan,
    EvaluationRequest,
    Overrides,
    Participant,
    PlannedTasks,
    Selection,
    options_of,
)
from adk_agent.requests.reading.addresses import TEAM_PREFIX, agent_key, parse_address, with_roles
from adk_agent.requests.reading.words import BUNDLED_AGENTS
from adk_agent.results.summary import REFERENCE_AGENTS
from evals.trace import ASSESSOR, USER
from tau_bridge import benchmark as names
from tau_bridge.benchmark import BASE_SPLIT, Benchmark
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError, UnknownTaskError
from tau_bridge.sampling import stratified_sample

_BUNDLED_TEAM = BUILTIN_PREFIX + TEAM_PREFIX
_IDS_SHOWN = 8


def resolve(
    request: EvaluationRequest,
    catalogue: Benchmarks,
    overrides: Overrides | None = None,
    *,
    bundled: Sequence[str] = BUNDLED_AGENTS,
) -> EvaluationPlan:
    """The plan of a request.

    A number of tasks is a stratified sample, drawn by the seed, or the first of the split where
    the request says so. Flags beat the request. `limit` makes the number of each domain smaller,
    of tasks that are named it keeps the first; then a shard keeps every `num_shards`-th of all
    tasks, counted through the domains. Tasks that cannot be played without a user are left out of
    a solo plan before anything is counted.

    Args:
        request: What was asked for, by whoever read it.
        catalogue: The benchmarks that there are.
        overrides: The command line's flags.
        bundled: The names of the bundled agents.

    Raises:
        RequestError: something that is asked for does not exist or cannot be played; the
            message names the nearest.
    """
    flags = overrides or Overrides()
    _check_flags(flags)
    request = _with_options_of(flags, request)
    warnings = list(request.warnings)
    named = _participants(request.participants, bundled, warnings)
    _refuse_unknown_domains(request, catalogue)
    participants, members = _team(named, request, catalogue, warnings)
    participants = _with_references(participants, request, catalogue, warnings)
    seed = _setting(flags.seed, request.seed, DEFAULT_SEED)
    planned = _planned(request, catalogue, flags.limit, seed, warnings)
    _refuse_what_cannot_work(participants, planned, catalogue)
    try:
        return EvaluationPlan(
            participants=participants,
            members=members,
            tasks=_shard(planned, request),
            num_trials=_setting(flags.num_trials, request.num_trials, 1),
            max_concurrency=_setting(
                flags.max_concurrency, request.max_concurrency, DEFAULT_MAX_CONCURRENCY
            ),
            seed=seed,
            max_steps=_setting(flags.max_steps, request.max_steps, DEFAULT_MAX_STEPS),
            solo=request.solo,
            evaluation_type=request.evaluation_type,
            options=request.options,
            user_llm=request.user_llm,
            user_llm_args=request.user_llm_args or {},
            reasoning=request.reasoning,
            warnings=tuple(dict.fromkeys(warnings)),
        )
    except ValidationError as exc:
        raise RequestError(f"the request cannot be planned: {exc}") from exc


def _with_options_of(flags: Overrides, request: EvaluationRequest) -> EvaluationRequest:
    """The request with the options of the flags, which beat its own."""
    if not request.options and not flags.options:
        return request
    options = {
        **request.options,
        **{key: _value(text) for key, text in (flags.options or {}).items()},
    }
    fields = {name: options.pop(name) for name in NAMED_OPTIONS if name in options}
    try:
        return EvaluationRequest.model_validate({**dict(request), **fields, "options": options})
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise RequestError(f"option {name!r} is {first['input']!r}: {first['msg']}") from exc


def _value(text: str) -> Any:
    """What a flag says: JSON, or else a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _refuse_unknown_domains(request: EvaluationRequest, catalogue: Benchmarks) -> None:
    try:
        for selection in request.selections:
            catalogue.of(selection.domain)
    except DataError as exc:
        raise RequestError(str(exc)) from exc


def _refuse_what_cannot_work(
    participants: Sequence[Participant], planned: Sequence[PlannedTasks], catalogue: Benchmarks
) -> None:
    without = [each.domain for each in planned if not catalogue.domain(each.domain).has_gold]
    if without and any(participant.builtin == NEEDS_GOLD for participant in participants):
        raise RequestError(
            f"{BUILTIN_PREFIX}{NEEDS_GOLD} replays the gold actions of tasks, and those of "
            f"{without[0]!r} name none, so it would reject every one; name another agent or domain"
        )


def _check_flags(flags: Overrides) -> None:
    """Flags keep to the bounds of a request."""
    bounds = {
        "num_trials": (1, MAX_TRIALS),
        "max_concurrency": (1, MAX_CONCURRENCY),
        "seed": (0, MAX_SEED),
        "max_steps": (1, MAX_STEPS),
        "limit": (1, MAX_TASKS),
    }
    for name, (least, most) in bounds.items():
        value = getattr(flags, name)
        if value is not None and not least <= value <= most:
            flag = f"--{name.replace('_', '-')}"
            raise RequestError(
                f"{flag} {value} is too {'small' if value < least else 'large'}: "
                f"write a whole number from {least} to {most}"
            )


def _setting(flag: int | None, asked: int | None, default: int) -> int:
    return flag if flag is not None else asked if asked is not None else default


def _participants(
    asked: Sequence[Participant], bundled: Sequence[str], warnings: list[str]
) -> tuple[Participant, ...]:
    if not asked:
        raise RequestError("no agent is named to evaluate: give an address, or builtin:null")
    distinct: dict[str, Participant] = {}
    for participant in asked:
        address = parse_address(participant.address, bundled)
        first = distinct.setdefault(
            agent_key(address), participant.model_copy(update={"address": address})
        )
        if first.address.rstrip("/") != address.rstrip("/"):
            warnings.append(f"{address} is the same agent as {first.address}: it is evaluated once")
        elif first.role != participant.role:
            warnings.append(
                f"{address} is named twice ({first.role!r} and {participant.role!r}): "
                "it is evaluated once"
            )
    return _with_roles_of_their_own(tuple(distinct.values()))


def _with_roles_of_their_own(participants: tuple[Participant, ...]) -> tuple[Participant, ...]:
    if len({participant.role for participant in participants}) < len(participants):
        return with_roles([participant.address for participant in participants])
    return participants


def _with_references(
    participants: tuple[Participant, ...],
    request: EvaluationRequest,
    catalogue: Benchmarks,
    warnings: list[str],
) -> tuple[Participant, ...]:
    """The participants, and beside them the bundled agents that play floor and ceiling.

    Of all domains, or none: a figure over some of the tasks would mark nothing. The agent of the
    ceiling replays the gold actions, so the tasks have to name them.
    """
    if not request.references:
        return participants
    if request.entry is not None:
        warnings.append("config.references was ignored: a team has no floor and no ceiling")
        return participants
    domains = [catalogue.domain(each.domain) for each in request.selections]
    without = {
        name: [
            domain.name
            for domain in domains
            if name not in domain.references or (name == names.CEILING and not domain.has_gold)
        ]
        for name in REFERENCE_AGENTS
    }
    if all(without.values()):
        warnings.append(
            f"config.references was ignored: the tasks of {without[names.FLOOR][0]!r} have no floor "
            "and no ceiling"
        )
    else:
        warnings += [
            f"config.references brings no {name}: the tasks of {lacking[0]!r} have none that an "
            "agent can play"
            for name, lacking in without.items()
            if lacking
        ]
    playing = {participant.address for participant in participants}
    beside = [
        Participant(role=name, address=address)
        for name, address in REFERENCE_AGENTS.items()
        if not without[name] and address not in playing
    ]
    return _with_roles_of_their_own((*participants, *beside))


def _team(
    named: tuple[Participant, ...],
    request: EvaluationRequest,
    catalogue: Benchmarks,
    warnings: list[str],
) -> tuple[tuple[Participant, ...], tuple[Participant, ...]]:
    """Who plays, and who belongs to the same team; nobody where each stands for itself."""
    entry = request.entry
    remote = [participant for participant in named if participant.builtin is None]
    watched = any("team" in catalogue.domain(each.domain).needs for each in request.selections)
    if entry is None:
        if len(remote) > 1 and watched:
            roles = ", ".join(repr(participant.role) for participant in remote)
            warnings.append(
                f"{roles} are assessed one by one; to assess them as one team, send JSON with "
                '"entry" in its config: the role that answers for the team, or "all"'
            )
        return named, ()
    if len(named) < 2:
        raise RequestError(
            f"entry {entry!r} makes a team of the participants, and only one agent is named "
            "(roles at the same address count once)"
        )
    taken = sorted({each.role.lower() for each in named} & {EVERY_MEMBER, USER, ASSESSOR})
    if taken:
        raise RequestError(f"{taken[0]!r} cannot be a member's role: it has a meaning of its own")
    teams = [each.address for each in named if each.address.startswith(_BUNDLED_TEAM)]
    if teams:
        raise RequestError(
            f"{teams[0]} is a team of its own and can be no member of one: leave 'entry' out"
        )
    if entry == EVERY_MEMBER:
        return named, named
    playing = tuple(participant for participant in named if participant.role == entry)
    if not playing:
        roles = ", ".join(repr(participant.role) for participant in named)
        raise RequestError(f"entry {entry!r} is no participant's role: write {roles} or 'all'")
    return playing, named


def _planned(
    request: EvaluationRequest,
    catalogue: Benchmarks,
    limit: int | None,
    seed: int,
    warnings: list[str],
) -> list[PlannedTasks]:
    if not request.selections:
        known = ", ".join(catalogue.domains)
        raise RequestError(f"no domain is named to play tasks of; known: {known}")
    catalogue = _with_options(request, catalogue)
    merged: dict[str, list[str]] = {}
    for selection in request.selections:
        merged.setdefault(selection.domain, []).extend(
            _ids(selection, catalogue.of(selection.domain), request, limit, seed, warnings)
        )
    if not any(merged.values()):
        raise RequestError(
            f"none of these tasks of {' and '.join(merged)} can be played {_how(request)}: "
            f"{'; '.join(dict.fromkeys(warnings))}; leave that out, or name other tasks"
        )
    planned = []
    for domain, ids in merged.items():
        if not ids:
            continue
        distinct = tuple(dict.fromkeys(ids))
        if len(distinct) < len(ids):
            twice = sorted({task_id for task_id in ids if ids.count(task_id) > 1})
            warnings.append(
                f"{domain}: {', '.join(twice[:_IDS_SHOWN])} named more than once; each is played "
                "once (num_trials repeats tasks)"
            )
        planned.append(PlannedTasks(domain=domain, task_ids=distinct[:limit]))
    return planned


def _with_options(request: EvaluationRequest, catalogue: Benchmarks) -> Benchmarks:
    """The benchmarks with the request's options, each of which a benchmark that is played has."""
    played = [catalogue.of(selection.domain) for selection in request.selections]
    for name in request.options:
        if not any(name in benchmark.options_type.model_fields for benchmark in played):
            known = sorted({each for other in played for each in other.options_type.model_fields})
            raise RequestError(
                f"there is no option {name!r} of {played[0].name}: "
                f"{'its options are ' + ', '.join(known) if known else 'it has none'}"
            )
    for selection, benchmark in zip(request.selections, played, strict=True):
        without = "evaluation_type" not in benchmark.options_type.model_fields
        if request.evaluation_type == "action" and without:
            raise RequestError(
                f"{selection.domain!r} has no action-only scoring: its tasks name no actions that "
                "an agent has to take, since several ways are right; leave evaluation_type out, or "
                "the domain"
            )
    try:
        return catalogue.with_options(lambda benchmark: options_of(request, benchmark))
    except DataError as exc:
        raise RequestError(str(exc)) from exc


def _how(request: EvaluationRequest) -> str:
    """How tasks are to be played, where that makes a difference to whether they can be."""
    return "solo" if request.solo else "with these options"


def _refuse_unsupported(domain: str, benchmark: Benchmark, request: EvaluationRequest) -> None:
    """Refuse a domain of which no task can be played with the request's options."""
    no_solo = request.solo and "solo" not in benchmark.options_type.model_fields
    reason = "its tasks need a user" if no_solo else benchmark.unsupported(domain)
    if reason is not None:
        raise RequestError(f"{domain!r} cannot be played {_how(request)}: {reason}")


def _ids(
    selection: Selection,
    benchmark: Benchmark,
    request: EvaluationRequest,
    limit: int | None,
    seed: int,
    warnings: list[str],
) -> tuple[str, ...]:
    """The ids that a selection means, checked. None may be left of those that can be played."""
    domain = selection.domain
    _refuse_unsupported(domain, benchmark, request)
    try:
        of_split = benchmark.task_ids(domain, selection.split)
        how = _how(request)
        if selection.task_ids is not None:
            named = _named(selection, selection.task_ids, of_split, benchmark)
            return _playable(domain, named, None, benchmark, how, warnings)
        wanted = selection.num_tasks if selection.first else None
        playable = _playable(domain, of_split, wanted, benchmark, how, warnings)
        left = "" if playable == of_split else f" that can be played {how}"
        size = _size(selection, len(playable), limit, left, warnings)
        if selection.first or size == len(playable):
            return playable[:size]
        return _sample(selection, playable, size, benchmark, warnings, seed=seed)
    except DataError as exc:
        raise RequestError(str(exc)) from exc


def _named(
    selection: Selection, ids: tuple[str, ...], of_split: tuple[str, ...], benchmark: Benchmark
) -> tuple[str, ...]:
    """The ids of a selection, all of which there are."""
    domain = selection.domain
    known = of_split if selection.split != BASE_SPLIT else benchmark.all_task_ids(domain)
    present = set(known)
    for task_id in ids:
        if task_id not in present:
            raise UnknownTaskError(domain, task_id, known)
    if not ids:
        raise RequestError(f"{domain}: the list of task ids is empty; leave it out for all tasks")
    return ids


def _playable(
    domain: str,
    ids: Iterable[str],
    wanted: int | None,
    benchmark: Benchmark,
    how: str,
    warnings: list[str],
) -> tuple[str, ...]:
    """The first `wanted` ids that can be played, with a warning for the others."""
    kept: list[str] = []
    left_out: dict[str, str] = {}
    for task_id in ids:
        if len(kept) == wanted:
            break
        reason = benchmark.unplayable(benchmark.ref(domain, task_id))
        if reason is None:
            kept.append(task_id)
        else:
            left_out[task_id] = reason
    if left_out:
        more = len(left_out) - _IDS_SHOWN
        shown = ", ".join(list(left_out)[:_IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        warnings.append(
            f"{domain}: {shown} cannot be played {how} "
            f"({'; '.join(dict.fromkeys(left_out.values()))}) and "
            f"{'is' if len(left_out) == 1 else 'are'} left out"
        )
    return tuple(kept)


def _size(
    selection: Selection, available: int, limit: int | None, left: str, warnings: list[str]
) -> int:
    """How many tasks a selection without ids means, with a warning where there are fewer."""
    wanted = selection.num_tasks
    if wanted is not None and wanted > available:
        warnings.append(
            f"{selection.domain}: {wanted} tasks were asked for and the split "
            f"{selection.split!r} has {available}{left}: all of them are played"
        )
    return min(number for number in (wanted, limit, available) if number is not None)


def _sample(
    selection: Selection,
    of_split: tuple[str, ...],
    size: int,
    benchmark: Benchmark,
    warnings: list[str],
    *,
    seed: int,
) -> tuple[str, ...]:
    """A stratified sample in the order of the split, with a warning that says what it is.

    Of a domain with one kind of task: the first tasks.
    """
    kinds = benchmark.kinds(selection.domain, of_split)
    if kinds is None:
        return of_split[:size]
    drawn = stratified_sample(kinds, size, seed=seed)
    split = "" if selection.split == BASE_SPLIT else f" of the split {selection.split!r}"
    first = f"{size} {selection.domain} tasks" if size > 1 else f"{selection.domain} task"
    warnings.append(
        f"{size} of {len(of_split)} {selection.domain} tasks{split}: a sample stratified by kind of "
        f"task (seed {seed}); 'the first {first}' takes the first"
    )
    return tuple(task_id for task_id in of_split if task_id in drawn)


def _shard(planned: Sequence[PlannedTasks], request: EvaluationRequest) -> tuple[PlannedTasks, ...]:
    """Every `num_shards`-th task, from `shard_index` on, counted through the domains."""
    index, shards = request.shard_index, request.num_shards
    if index is None and shards in (None, 1):
        return tuple(planned)
    if index is None or shards is None:
        missing = "shard_index" if index is None else "num_shards"
        raise RequestError(f"{missing} is missing: a shard needs shard_index and num_shards")
    if index >= shards:
        raise RequestError(
            f"shard_index {index} is too large: with num_shards {shards} it is 0 to {shards - 1}"
        )
    tasks = [(each.domain, task_id) for each in planned for task_id in each.task_ids]
    kept = tasks[index::shards]
    if not kept:
        raise RequestError(
            f"shard {index} of {shards} holds no task: there are {len(tasks)}; use fewer shards"
        )
    return tuple(
        PlannedTasks(
            domain=domain, task_ids=tuple(task_id for name, task_id in kept if name == domain)
        )
        for domain in dict.fromkeys(name for name, _ in kept)
    )
