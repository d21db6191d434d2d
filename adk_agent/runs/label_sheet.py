"""Label sheets: verdicts of a judge as a text for people to label, blind, and their labels."""

from __future__ import annotations

import hashlib
import random
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from adk_agent.core.errors import RequestError
from adk_agent.runs.judgements import Judgement

Label = Literal["yes", "no", "unsure"]
MOST_CHARS: Final = 12_000
"""Characters of a case's material; a longer one is cut in the middle."""
_HEAD: Final = """\
# Cases to label

Key: {key}

Answer each question by what stands below it, and by nothing else. Write yes, no or unsure behind
"Label" and change nothing else. Work alone; do not look at the key or at another person's labels.
"""
_KEY: Final = re.compile(r"^Key: (\S.*)$", re.MULTILINE)
_LABEL: Final = re.compile(r"^Label (\d+):[ \t]*(.*)$", re.MULTILINE)
_LABELS: Final[Mapping[str, Label]] = {"yes": "yes", "no": "no", "unsure": "unsure"}


class KeyEntry(BaseModel):
    """The verdict behind one case of a sheet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str
    criterion: str
    verdict: bool
    trial: str
    prompt: str = ""


class SheetKey(BaseModel):
    """The verdicts behind a sheet, kept apart from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sample: str
    """Identifies the sample: a hash of its cases."""
    run_id: str
    entries: tuple[KeyEntry, ...]


def sheet_of(
    judgements: Iterable[Judgement], *, size: int, seed: int, run_id: str, key_name: str
) -> tuple[str, SheetKey]:
    """Draw cases without replacement, in random order; return the sheet and its key.

    Args:
        judgements: The verdicts of a run.
        size: How many cases.
        seed: Of the draw.
        run_id: The run.
        key_name: The key's file name, which the sheet names.

    Raises:
        RequestError: The run has fewer verdicts.
    """
    known = sorted(judgements, key=lambda each: (each.trial, each.criterion, each.question))
    if not known:
        raise RequestError(
            f"run {run_id} has no verdict of a language model: rules judged it, no task asks for a "
            "judge, or a version that did not keep verdicts played it"
        )
    if size > len(known):
        raise RequestError(f"--size {size}: run {run_id} has {len(known)} verdicts; ask for fewer")
    drawn = random.Random(seed).sample(known, size)  # noqa: S311 - nothing to keep secret
    cases = [_case(number, each) for number, each in enumerate(drawn, start=1)]
    text = "\n".join([_HEAD.format(key=key_name), *cases])
    entries = tuple(
        KeyEntry(
            judge=each.judge,
            criterion=each.criterion,
            verdict=each.verdict,
            trial=each.trial,
            prompt=each.prompt,
        )
        for each in drawn
    )
    sample = hashlib.blake2s("\n".join(cases).encode(), digest_size=6).hexdigest()
    return text, SheetKey(sample=sample, run_id=run_id, entries=entries)


def _case(number: int, judgement: Judgement) -> str:
    material = judgement.material
    if len(material) > MOST_CHARS:
        half = MOST_CHARS // 2
        material = f"{material[:half]}\n[... {len(material) - MOST_CHARS} characters ...]\n{material[-half:]}"
    # Indented, so that no text of a conversation can stand where a label does.
    quoted = textwrap.indent(material, "    ", lambda _: True)
    question = " ".join(judgement.question.split())
    return f"## {number}\n\n{question}\n\nLabel {number}:\n\n{quoted}\n"


def key_named_in(text: str, *, name: str) -> str:
    """Return the file name of the key that a sheet names.

    Raises:
        RequestError: It names none.
    """
    found = _KEY.search(text)
    if found is None:
        raise RequestError(f"{name} is no sheet of greenroom judge sample: no line names its key")
    return found[1].strip()


def labels_in(text: str, key: SheetKey, *, name: str) -> Sequence[Label]:
    """Read the labels of a sheet, in the order of its cases.

    Raises:
        RequestError: One is missing, stands twice, or is no label; the message names the first.
    """
    labels: dict[int, Label] = {}
    for number_text, written in _LABEL.findall(text):
        number = int(number_text)
        label = _LABELS.get(written.strip().strip("*`.").lower())
        if label is None:
            raise RequestError(
                f"{name}, label {number} is {written.strip()!r}: write yes, no or unsure"
            )
        if number in labels:
            raise RequestError(f"{name} has label {number} twice")
        labels[number] = label
    wanted = range(1, len(key.entries) + 1)
    for number in (*wanted, *labels):
        if (number in labels) != (number in wanted):
            problem = "lacks" if number in wanted else "should not have"
            raise RequestError(f"{name} {problem} label {number}: its key has {len(wanted)} cases")
    return [labels[number] for number in wanted]
