"""What a reported call asked for, as one text."""

import pytest

from tests.tau_bridge.a2a.traceability.reports import agent, only


@pytest.mark.parametrize(
    "requests",
    [
        "hi\nthere",
        {"text": "hi\nthere"},
        {"message": "hi\nthere"},
        {"kind": "text", "text": "hi\nthere"},
        {"role": "user", "messageId": "m", "parts": [{"text": "hi"}, {"text": "there"}]},
        {"message": {"parts": [{"kind": "text", "text": "hi"}, {"root": {"text": "there"}}]}},
        {"jsonrpc": "2.0", "id": 1, "params": {"message": {"parts": [{"text": "hi\nthere"}]}}},
        [{"type": "text", "text": "hi"}, {"type": "text", "text": "there"}],
    ],
)
def test_a_request_that_is_a_message_is_reduced_to_its_text(requests):
    assert only(agent("b", action={"requests": requests})).request_text == "hi\nthere"


def test_data_parts_stand_behind_the_text_as_an_observer_writes_them():
    requests = {"parts": [{"data": {"order": 17.0}}, {"text": "look"}]}
    assert only(agent("b", action={"requests": requests})).request_text == 'look\n{"order": 17}'


def test_other_requests_are_canonical_json():
    requests = {"question": "x", "a": [1.0, None]}
    text = only(agent("b", action={"requests": requests})).request_text
    assert text == '{"a":[1,null],"question":"x"}'
