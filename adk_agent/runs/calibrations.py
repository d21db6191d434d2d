"""Calibrations: what people's labels say of judges, kept beside the runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from adk_agent.core.files import PRIVATE_FILE, SCHEMA, read_kept, write_whole
from adk_agent.results.judges import Calibration, JudgeRow
from adk_agent.runs.label_sheet import Label, SheetKey
from evals.agreement import Agreement, agreement_of

CALIBRATIONS: Final = "judge-calibrations.json"


class Calibrations(BaseModel):
    """All calibrations of a folder of runs, one of each sample, judge and criterion."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA
    found: tuple[Calibration, ...] = ()


def calibrations_of(key: SheetKey, sheets: Sequence[Sequence[Label]]) -> tuple[Calibration, ...]:
    """Return how far people and judges agree on the cases of one sample.

    Args:
        key: The judges' verdicts.
        sheets: The labels of each person, in the order of the cases.
    """
    places: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, entry in enumerate(key.entries):
        places[entry.judge, entry.criterion, entry.prompt].append(place)
    return tuple(_calibration(key, sheets, judge, mine) for judge, mine in sorted(places.items()))


def _calibration(
    key: SheetKey,
    sheets: Sequence[Sequence[Label]],
    judged_by: tuple[str, str, str],
    places: list[int],
) -> Calibration:
    judge, criterion, prompt = judged_by
    labels = {place: {sheet[place] for sheet in sheets} for place in places}
    sure = [place for place in places if len(labels[place]) == 1 and "unsure" not in labels[place]]
    both = [place for place in places if all(sheet[place] != "unsure" for sheet in sheets[:2])]
    return Calibration(
        judge=judge,
        criterion=criterion,
        prompt=prompt,
        samples=(key.sample,),
        readers=len(sheets),
        disputed=len(places) - len(sure),
        agreement=agreement_of(
            ("yes" in labels[place], key.entries[place].verdict) for place in sure
        ),
        between_readers=None
        if len(sheets) == 1
        else agreement_of((sheets[0][p] == "yes", sheets[1][p] == "yes") for p in both),
    )


def load_calibrations(results_dir: Path) -> Calibrations:
    """Load the calibrations of a folder of runs; there may be none.

    Raises:
        StorageError: They cannot be read.
    """
    path = results_dir / CALIBRATIONS
    if not path.exists():
        return Calibrations()
    remedy = "delete it, and read the labels again: greenroom judge agreement"
    return read_kept(path, Calibrations, "file of calibrations", remedy=remedy)


def keep_calibrations(results_dir: Path, found: Sequence[Calibration]) -> None:
    """Add calibrations; those of the same sample, judge and criterion are replaced.

    Raises:
        StorageError: They cannot be read or written.
    """
    kept = {_key(each): each for each in load_calibrations(results_dir).found}
    kept |= {_key(each): each for each in found}
    whole = Calibrations(found=tuple(kept[key] for key in sorted(kept)))
    results_dir.mkdir(parents=True, exist_ok=True)
    write_whole(
        results_dir / CALIBRATIONS, whole.model_dump_json(indent=2) + "\n", mode=PRIVATE_FILE
    )


def judge_rows(
    verdicts: Mapping[tuple[str, str, str], int], calibrations: Calibrations
) -> tuple[JudgeRow, ...]:
    """Return the judges of a run with their calibrations, the samples of each added up.

    Args:
        verdicts: How many verdicts there are, by judge, criterion and version of the prompt.
        calibrations: All that are known.
    """
    known: dict[tuple[str, str], dict[str, list[Calibration]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for each in calibrations.found:
        known[each.judge, each.criterion][each.prompt].append(each)
    return tuple(
        JudgeRow(
            judge=judge,
            criterion=criterion,
            prompt=prompt,
            verdicts=count,
            calibration=_together(known[judge, criterion][prompt])
            if prompt in known[judge, criterion]
            else None,
            other_prompts=tuple(sorted(known[judge, criterion].keys() - {prompt})),
        )
        for (judge, criterion, prompt), count in sorted(verdicts.items())
    )


def _together(found: Sequence[Calibration]) -> Calibration:
    between = [each.between_readers for each in found if each.between_readers is not None]
    return Calibration(
        judge=found[0].judge,
        criterion=found[0].criterion,
        prompt=found[0].prompt,
        samples=tuple(sample for each in found for sample in each.samples),
        readers=max(each.readers for each in found),
        disputed=sum(each.disputed for each in found),
        agreement=_sum(each.agreement for each in found),
        between_readers=_sum(between) if between else None,
    )


def _sum(found: Iterable[Agreement]) -> Agreement:
    every = list(found)
    return Agreement(
        both=sum(each.both for each in every),
        only_reference=sum(each.only_reference for each in every),
        only_measured=sum(each.only_measured for each in every),
        neither=sum(each.neither for each in every),
    )


def _key(each: Calibration) -> tuple[str, str, str, tuple[str, ...]]:
    return each.judge, each.criterion, each.prompt, each.samples
