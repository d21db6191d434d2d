"""The proxy itself: its addresses, and what it is given."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tau_bridge.a2a.proxy import ObservingProxy
from tau_bridge.recorder import TraceRecorder
from tests.tau_bridge.a2a.conftest import Serving
from tests.tau_bridge.a2a.proxy.calls import NOWHERE, holds, only_step, post


async def test_closing_the_proxy_gives_up_what_is_in_flight(
    serving: Serving, recorder: TraceRecorder
) -> None:
    arrived, given_up = asyncio.Event(), asyncio.Event()
    async with ObservingProxy({"A": NOWHERE, "B": serving(holds(arrived, given_up))}) as proxy:
        with proxy.recording(recorder):
            url = proxy.url_for("A", "B")
            call = asyncio.create_task(post(url))
            await arrived.wait()
        assert only_step(recorder).error == "no answer yet when the recording ended"
    assert (await call).status_code == 503
    await given_up.wait()
    with pytest.raises(httpx.ConnectError):
        await post(url)


async def test_wiring_and_aliases_name_every_pair() -> None:
    peers = {"A": "http://127.0.0.1:1/", "B/2 é": "http://127.0.0.1:2/x"}
    async with ObservingProxy(peers) as proxy:
        wiring, aliases = proxy.wiring(), proxy.aliases()
    assert {caller: set(known) for caller, known in wiring.items()} == {
        "A": {"B/2 é"},
        "B/2 é": {"A"},
    }
    assert wiring["A"]["B/2 é"].endswith("/B%2F2%20%C3%A9/")
    assert aliases["http://127.0.0.1:1"] == "A"
    assert aliases["http://127.0.0.1:2/x"] == "B/2 é"
    assert aliases[wiring["A"]["B/2 é"]] == "B/2 é"
    tokens = {url.split("/")[4] for url in aliases if "/p/" in url}
    assert len(tokens) == 2
    assert all(len(token) > 40 for token in tokens)


@pytest.mark.parametrize(
    ("peers", "token_of"),
    [
        ({"": NOWHERE}, None),
        ({"..": NOWHERE}, None),
        ({"x" * 501: NOWHERE}, None),
        ({"A": "ftp://127.0.0.1"}, None),
        ({"A": "http://user:password@127.0.0.1"}, None),
        ({"A": NOWHERE}, lambda _: "short"),
        ({"A": NOWHERE, "B": NOWHERE}, lambda _: "the-same-for-everyone"),
    ],
)
def test_peers_and_tokens_that_cannot_be_used_are_refused(
    peers: Mapping[str, str], token_of: Any
) -> None:
    options = {} if token_of is None else {"token_of": token_of}
    with pytest.raises(ValueError, match=r".") as caught:
        ObservingProxy(peers, **options)
    assert "password" not in str(caught.value).replace("user name or password", "")


async def test_a_proxy_has_no_addresses_before_it_starts_and_starts_once() -> None:
    proxy = ObservingProxy({"A": NOWHERE, "B": NOWHERE})
    with pytest.raises(RuntimeError, match="before it is started"):
        proxy.wiring()
    async with proxy:
        with pytest.raises(KeyError):
            proxy.url_for("A", "Z")
    with pytest.raises(RuntimeError, match="started before"):
        await proxy.__aenter__()
