"""The pupil: the small network that `purple_agent/privacy/reader.py` runs, while it learns."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np
import torch
from encoder import batches
from torch import nn
from torch.nn import functional

from purple_agent.privacy.disguise import fold
from purple_agent.privacy.pieces import UNKNOWN, Pieces
from purple_agent.privacy.reader import WINDOW
from purple_agent.privacy.sentence import read

WIDTH, HIDDEN, DEPTH = 96, 128, 3
EPOCHS, BATCH, RATE = 8, 64, 2e-3
DROPPED = 0.3
HIDDEN_WORDS = 0.08
"""How many pieces are hidden while it learns, so that it leans on none."""
_PLAIN = re.compile(r"(##)?[a-z0-9?.,'_]+")
_COMMON = 22_000
"""Of pieces that begin words only the first so many: the encoder has them by frequency."""


class Network(nn.Module):
    """Vectors, convolutions that look ever farther, and a sum over what stands out.

    Args:
        vectors: What it begins with, of shape (pieces, width).
    """

    def __init__(self, vectors: np.ndarray) -> None:
        super().__init__()
        self.vectors = nn.Embedding.from_pretrained(torch.tensor(vectors), freeze=False)
        self.layers = nn.ModuleList(
            nn.Conv1d(HIDDEN if depth else WIDTH, HIDDEN, 3, padding=2**depth, dilation=2**depth)
            for depth in range(DEPTH)
        )
        self.heed = nn.Linear(HIDDEN, 1, bias=False)
        self.output = nn.Linear(2 * HIDDEN, 1)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, numbers: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """The logarithms of the odds, of shape (texts,); counts are 0 where a text has ended."""
        rows = self.drop(self.vectors(numbers) * counts[..., None]).transpose(1, 2)
        for depth, layer in enumerate(self.layers):
            found = functional.relu(layer(rows)) * counts[:, None]
            rows = rows + found if depth else found
        outside = 1e4 * (1 - counts)
        highest = (rows - outside[:, None]).amax(2)
        shares = torch.softmax(self.heed(rows.transpose(1, 2)).squeeze(2) - outside, 1)
        seen = torch.cat((highest, (rows * shares[:, None]).sum(2)), 1)
        return self.output(self.drop(seen)).squeeze(1)


def vocabulary(pieces: Sequence[str]) -> list[int]:
    """The numbers of the encoder's pieces that are kept: plain letters, and none that is rare."""
    return [
        number
        for number, piece in enumerate(pieces)
        if _PLAIN.fullmatch(piece) and (piece.startswith("##") or number < _COMMON)
    ]


def narrowed(vectors: np.ndarray) -> np.ndarray:
    """The vectors by their first principal components, of shape (pieces, WIDTH)."""
    rows = vectors - vectors.mean(0)
    _, _, axes = np.linalg.svd(rows, full_matrices=False)
    found = rows @ axes[:WIDTH].T
    return (found / (2 * np.sqrt((found**2).mean()))).astype(np.float32)


def numbered(texts: Sequence[str], pieces: Pieces) -> list[list[int]]:
    """Texts as the guard reads them, cut into pieces; of long ones the first window."""
    words = (read(fold(text)).words for text in texts)
    return [[n for word in each for n in pieces.of(word)][:WINDOW] or [UNKNOWN] for each in words]


def learn(
    vectors: np.ndarray, texts: Sequence[list[int]], odds: Sequence[float], seed: int
) -> Network:
    """A network that comes near to what is said of the texts.

    Args:
        vectors: What it begins with.
        texts: Their pieces.
        odds: How likely each is an attack, from 0 to 1.
        seed: Decides the order, and what is hidden.
    """
    torch.manual_seed(seed)
    chance = random.Random(seed)  # noqa: S311 - what is learned from is no secret
    network = Network(vectors)
    begun = [network.vectors.weight]
    others = [each for name, each in network.named_parameters() if name != "vectors.weight"]
    optimizer = torch.optim.AdamW(
        [{"params": others, "lr": RATE}, {"params": begun, "lr": RATE / 2}], weight_decay=0.01
    )
    items = list(zip(texts, odds, strict=True))
    steps = EPOCHS * sum(1 for _ in batches(items, BATCH, chance, _length))
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, [RATE, RATE / 2], total_steps=steps)
    for _ in range(EPOCHS):
        for batch in batches(items, BATCH, chance, _length):
            hidden = [[_hidden(number, chance) for number in numbers] for numbers, _ in batch]
            wanted = torch.tensor([share for _, share in batch])
            loss = functional.binary_cross_entropy_with_logits(network(*_padded(hidden)), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pace.step()
    return network.eval()


def weights(network: Network, pieces: Sequence[str]) -> dict[str, np.ndarray]:
    """What the guard's reader reads, vectors rounded to 255 steps a column."""
    state = {name: value.detach().numpy() for name, value in network.named_parameters()}
    units = np.abs(state["vectors.weight"]).max(0) / 127
    found = {
        "pieces": np.frombuffer("\n".join(pieces).encode(), dtype=np.uint8),
        "vectors": np.rint(state["vectors.weight"] / units).astype(np.int8),
        "units": units.astype(np.float32),
        "heed": state["heed.weight"][0].astype(np.float16),
        "output": state["output.weight"][0].astype(np.float16),
        "bias": state["output.bias"][0].astype(np.float32),
    }
    for depth in range(DEPTH):
        kernel = state[f"layers.{depth}.weight"]  # (width, width before, 3)
        rows = kernel.transpose(2, 1, 0).reshape(-1, HIDDEN)
        found[f"kernel_{depth}"] = rows.astype(np.float16)
        found[f"bias_{depth}"] = state[f"layers.{depth}.bias"].astype(np.float16)
    return found


def _length(item: tuple[list[int], float]) -> int:
    return len(item[0])


def _hidden(number: int, chance: random.Random) -> int:
    return UNKNOWN if chance.random() < HIDDEN_WORDS else number


def _padded(texts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    numbers = torch.tensor([each + [0] * (longest - len(each)) for each in texts])
    counts = torch.tensor([[1.0] * len(each) + [0.0] * (longest - len(each)) for each in texts])
    return numbers, counts
