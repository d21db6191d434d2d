"""The sockets on which bundled agents are served."""

import asyncio
import socket

import pytest

from purple_agent.errors import ListenError
from purple_agent.sockets import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 - what a user may type
def test_a_listener_says_where_callers_on_this_machine_reach_it(host):
    listener = listen("null", host=host, port=0)
    with listener.sock:
        assert listener.url == f"http://127.0.0.1:{listener.sock.getsockname()[1]}"


def test_a_host_that_does_not_exist_is_named():
    with pytest.raises(ListenError, match=r"cannot listen on 999\.1\.1\.1:0 for 'null'"):
        listen("null", host="999.1.1.1", port=0)


async def test_connections_send_small_replies_at_once():
    listener = listen("null", host="127.0.0.1", port=0)
    accepted = asyncio.get_running_loop().create_future()

    async def on_connection(_reader, writer):
        accepted.set_result(
            writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        )
        writer.close()

    async with await asyncio.start_server(on_connection, sock=listener.sock):
        _, writer = await asyncio.open_connection(*listener.sock.getsockname())
        assert await asyncio.wait_for(accepted, 30) == 1
        writer.close()
        await writer.wait_closed()
