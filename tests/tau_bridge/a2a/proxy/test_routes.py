"""Where the proxy's addresses lead."""

from urllib.parse import unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.a2a.proxy.routes import Routes


def routes() -> Routes:
    tokens = iter(("token-of-a-1234567", "token-of-b-1234567"))
    made = Routes({"A": "http://a:1", "B": "http://b:2/base"}, token_of=lambda _: next(tokens))
    made.origin = "http://127.0.0.1:5"
    return made


@given(st.lists(st.sampled_from(["a", ".", "/", "%2e", "%2f", "%25", ";", "\\", "%5c", "2e"])))
def test_whatever_is_asked_for_stays_below_the_peers_path(pieces: list[str]) -> None:
    route = routes().find("/p/token-of-a-1234567/B" + "".join(pieces))
    if route is not None:
        path = unquote(unquote(unquote(route.path)))
        assert path == "/base" or path.startswith("/base/")
        assert not {".", ".."} & {segment.partition(";")[0] for segment in path.split("/")}


@given(st.text(alphabet="abc/.%2", max_size=20))
def test_an_advertised_address_that_is_passed_on_leads_back_to_itself(path: str) -> None:
    known = routes()
    route = known.find("/p/token-of-a-1234567/B/")
    assert route is not None
    try:
        ours = route.proxy_url(f"http://b:2/base/{path}")
    except ValueError:
        return
    back = known.find(urlsplit(ours).path)
    assert back is not None
    assert back.path == f"/base/{path}"
