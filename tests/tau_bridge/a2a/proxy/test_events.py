"""The events of a stream, however its bytes come."""

from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.a2a.proxy.events import EventReader


@given(
    st.lists(st.text(alphabet="ab:é ", max_size=6), max_size=5),
    st.sampled_from(["\n", "\r", "\r\n"]),
    st.lists(st.integers(1, 9), max_size=20),
)
def test_events_are_the_same_wherever_the_stream_was_cut(
    texts: list[str], end: str, cuts: list[int]
) -> None:
    stream = "".join(f": ping{end}{end}id: 1{end}data: {text}{end}{end}" for text in texts).encode()
    reader, seen, at = EventReader(), [], 0
    for cut in [*cuts, len(stream)]:
        seen += list(reader.feed(stream[at : at + cut]))
        at += cut
    assert [data.decode() for data in seen] == texts


def test_the_lines_of_one_event_belong_together() -> None:
    assert list(EventReader().feed(b"data: a\ndata:b\ndata\nevent: x\n\n")) == [b"a\nb\n"]
