"""What was read out of a text stays with its conversation."""

from purple_agent.session_cache import LONGEST, cached_per_session, using_cache


def test_what_is_read_out_of_a_text_is_kept_with_its_conversation_alone():
    asked = []

    @cached_per_session
    def shout(text):
        asked.append(len(text))
        return text.upper()

    kept, long = {}, "a" * (LONGEST + 1)
    with using_cache(kept):
        assert [shout("a"), shout("a"), shout(long), shout(long)] == ["A", "A", *[long.upper()] * 2]
    shout("a")
    assert asked == [1, len(long), len(long), 1]
    assert list(kept.values()) == ["A"]
