"""Stated confidence is taken out of replies, in words, in JSON and in data."""

import json

import pytest

from tau_bridge.a2a.confidence import without_confidence
from tau_bridge.a2a.replies import Reply

pytestmark = pytest.mark.requirement("test:chaos")


def reply(text="", *data):
    return Reply(
        text=text,
        data=data,
        context_id=None,
        task_id=None,
        state=None,
        metadata=(),
        source="message",
    )


@pytest.mark.parametrize(
    ("said", "left", "stated"),
    [
        ("Done.\n[confidence: 80%]", "Done.", 0.8),
        ("Done. [Confidence:7.5 %]", "Done.", 0.075),
        ("Done. [confidence: 90]", "Done.", 0.9),
        ("Done. [confidence: 0.9]", "Done.", 0.9),
        ("[confidence: 10%] Wait. [confidence: 60%]", " Wait.", 0.6),
        ("Done. [confidence: 900%]", "Done.", None),
        ("My confidence is 80%. [confidence: high]", None, None),
        ("Your seat is [12A].", None, None),
    ],
)
def test_the_last_statement_counts_and_none_is_left(said, left, stated):
    found, share = without_confidence(reply(said))
    assert (found.text, share) == (said if left is None else left, stated)


def test_a_reply_in_json_stays_json_without_the_statement():
    said = {"name": "respond", "arguments": {"content": "Done.\n\n[confidence: 80%]"}}
    in_text, stated = without_confidence(reply(json.dumps(said, indent=2)))
    left = {"name": "respond", "arguments": {"content": "Done."}}
    assert (json.loads(in_text.text), stated) == (left, 0.8)
    in_data, stated = without_confidence(reply("", said))
    assert (in_data.data, stated) == ((left,), 0.8)
