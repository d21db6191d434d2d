"""What was read out of a text stays with its conversation."""

from purple_agent.remembered import LONGEST, per_conversation, remembering


def test_what_is_read_out_of_a_text_is_kept_with_its_conversation_alone():
    asked = []

    @per_conversation
    def shout(text):
        asked.append(len(text))
        return text.upper()

    kept, long = {}, "a" * (LONGEST + 1)
    with remembering(kept):
        assert [shout("a"), shout("a"), shout(long), shout(long)] == ["A", "A", *[long.upper()] * 2]
    shout("a")
    assert asked == [1, len(long), len(long), 1]
    assert list(kept.values()) == ["A"]
