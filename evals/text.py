"""TextSimilarityEvaluator: closeness of an answer to the expected one. The example of a plugin."""

from __future__ import annotations

import unicodedata

from rapidfuzz import fuzz

from evals.base import BaseEvaluator, Evaluation, EvaluationContext, Tier

MAX_CHARACTERS = 20_000
"""Longer texts, as they came or normalised (one character can become 18), are not compared: the
time grows with the product of both lengths."""


def normalised(text: str) -> str:
    """Return `text` in the form in which it is compared.

    Compatibility characters are unified (Unicode NFKC), case is folded, and runs of white space
    become one space, with none at the ends.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class TextSimilarityEvaluator(BaseEvaluator):
    """Similarity of `context.answer` and `context.expected_answer`, both normalised, by rapidfuzz.

    - `ratio`, 0 to 1: 1 - insertions and deletions that turn one into the other / both lengths.
    - `token_set_ratio`, 0 to 1: the same over sets of words; 1 where one set contains the other.

    Neither knows what words mean. An answer that says more than was expected lowers `ratio` only.
    """

    name = "text_similarity"
    tier = Tier.TEXT
    version = "1"

    async def evaluate(self, context: EvaluationContext) -> Evaluation:
        """Return both similarities under `values`, rounded to six digits."""
        answer, expected = context.answer, context.expected_answer
        if expected is None or not expected.strip():
            return self.unscored("no expected answer to compare with")
        if answer is None:
            return self.unscored("the trace has no answer")
        given = (answer, expected)
        pair = [normalised(text) for text in given if len(text) <= MAX_CHARACTERS]
        longest = max(map(len, [*given, *pair]))
        if longest > MAX_CHARACTERS:
            return self.unscored(
                f"a text of {longest} characters: at most {MAX_CHARACTERS} are compared"
            )
        return self.scored(
            {
                "ratio": round(fuzz.ratio(*pair) / 100, 6),
                "token_set_ratio": round(fuzz.token_set_ratio(*pair) / 100, 6),
            },
            details={"normalisation": "NFKC, case folded, white space collapsed"},
        )
