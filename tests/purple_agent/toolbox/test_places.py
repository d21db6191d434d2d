"""Where a URL leads to."""

from hypothesis import given
from hypothesis import strategies as st

from purple_agent.toolbox.failures import Code, EndpointError
from purple_agent.toolbox.places import read_place


@given(st.text(max_size=40))
def test_any_text_is_a_place_or_is_refused(text):
    for url in (text, f"http://{text}"):
        try:
            read = read_place(url)
        except EndpointError as error:
            read = error
        assert read.code is Code.ADDRESS if isinstance(read, EndpointError) else read.host
