"""Reader: a linear model that weighs how somebody asks for a datum; it learns what no rule says.

`scripts/train_privacy_reader.py` trains it and writes its weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from purple_agent.privacy.features import Instance, instances
from purple_agent.privacy.sentence import Words

WEIGHTS = "reader_weights.json"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Weights by feature, what is added to their sum, and above which score a text is refused.

    All are thousandths: whole numbers add up to the same sum in every order.
    """

    weights: dict[str, int]
    bias: int
    threshold: int

    def asks_for(self, text: Words) -> Iterator[Instance]:
        """The data that a text asks to have disclosed though they are not the speaker's."""
        return (each for each in instances(text) if self.score(each) > self.threshold)

    def score(self, instance: Instance) -> int:
        """How much speaks for a request to disclose: the logarithm of the odds, in thousandths."""
        weights = self.weights
        return self.bias + sum(weights.get(feature, 0) for feature in instance.features)


@cache
def trained() -> Reader:
    """The reader with the weights that come with the package."""
    # Read late: importing the package reads no file.
    data = json.loads(files(__package__).joinpath(WEIGHTS).read_text(encoding="utf-8"))
    return Reader(weights=data["weights"], bias=data["bias"], threshold=data["threshold"])
