"""What the observing proxy adds to a call: python performance/proxy.py [--quick]

The same call straight to an agent and through the proxy, in turns, to an agent that answers after
20 ms: medians of the wall-clock time and their ratio, in one piece and as a stream of five events,
one after the other and 100 at once; and the CPU time of the proxy's process for each call.

The ratio that counts is the one of single calls in one piece (at most 1.15). 100 calls at once keep
the agent, the caller and the proxy busy on whatever processors there are: what is printed there is
their waiting for each other.

Agent and proxy run in processes of their own on loopback; nothing else is contacted. The whole
takes about a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tau_bridge.a2a.proxy import ObservingProxy
from tau_bridge.clock import Runtime
from tau_bridge.recorder import TraceRecorder
from tests.fakes import serve, sse, task_event

MAX_RATIO = 1.15
DELAY_S = 0.02
EVENTS = 5


def agent_app() -> Starlette:
    """Answers as A2A says, with as little work as possible."""

    async def events() -> AsyncIterator[bytes]:
        for _ in range(EVENTS - 1):
            yield sse(task_event("TASK_STATE_WORKING"))
            await asyncio.sleep(DELAY_S / (EVENTS - 1))
        yield sse(task_event("TASK_STATE_COMPLETED"))

    async def answer(request: Request) -> Response:
        asked = await request.json()
        if asked["method"] == "SendStreamingMessage":
            return StreamingResponse(events(), media_type="text/event-stream")
        await asyncio.sleep(DELAY_S)
        result = {"message": asked["params"]["message"]}
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    return Starlette(routes=[Route("/", answer, methods=["POST"])])


def run_agent() -> None:
    with serve(agent_app()) as url:
        print(url, flush=True)
        sys.stdin.read()  # until the parent closes its end, or is gone


async def run_proxy(url: str) -> None:
    """Serve a proxy; at each line of input, print the CPU seconds of this process so far."""
    loop = asyncio.get_running_loop()
    recorder = TraceRecorder("bench", runtime=Runtime.system())
    async with ObservingProxy({"a": url, "b": url}) as proxy:
        with proxy.recording(recorder):
            print(proxy.url_for("a", "b"), flush=True)
            while await loop.run_in_executor(None, sys.stdin.readline):
                print(time.process_time(), flush=True)


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, __file__, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        yield child.stdout.readline().strip(), child
        child.communicate(timeout=60)


def cpu_s(child: subprocess.Popen[str]) -> float:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    return float(child.stdout.readline())


async def call_s(client: httpx.AsyncClient, url: str, method: str) -> float:
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello " * 20}]}
    asked = {"jsonrpc": "2.0", "id": "1", "method": method, "params": {"message": message}}
    start = time.perf_counter()
    async with client.stream("POST", url, content=json.dumps(asked)) as response:
        response.raise_for_status()
        await response.aread()
    return time.perf_counter() - start


async def median_ms(clients: list[httpx.AsyncClient], url: str, method: str, calls: int) -> float:
    async def several(client: httpx.AsyncClient) -> list[float]:
        return [await call_s(client, url, method) for _ in range(calls)]

    taken = await asyncio.gather(*(several(client) for client in clients))
    return statistics.median(one for mine in taken for one in mine) * 1000


async def compare(
    direct: str,
    proxied: str,
    proxy: subprocess.Popen[str],
    method: str,
    *,
    at_once: int,
    rounds: int,
    calls: int,
) -> float:
    """Print one line; the ratio of the medians."""
    async with contextlib.AsyncExitStack() as stack:
        # A client each: one client's pool is slow with many connections.
        clients = [
            await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
            for _ in range(at_once)
        ]
        straight, through, used = [], [], 0.0
        for index in range(rounds + 1):
            straight.append(await median_ms(clients, direct, method, calls))
            before = cpu_s(proxy)
            through.append(await median_ms(clients, proxied, method, calls))
            used += cpu_s(proxy) - before if index else 0.0
    # The first round warms everything up.
    one, other = statistics.median(straight[1:]), statistics.median(through[1:])
    cpu_ms = used / (rounds * calls * at_once) * 1000
    kind = "stream" if "Streaming" in method else "unary"
    print(
        f"  {kind:6s} {at_once:3d} at once   direct {one:7.2f} ms   proxied {other:7.2f} ms"
        f"   ratio {other / one:5.2f}   CPU of the proxy {cpu_ms:5.2f} ms a call"
    )
    return other / one


async def main(*, quick: bool) -> int:
    print(f"a call of {DELAY_S * 1000:g} ms, medians")
    with process("--agent") as (direct, _), process("--proxy", direct) as (proxied, proxy):
        ratios = {}
        for at_once in (1, 100):
            rounds, calls = (2, 20 // at_once + 3) if quick else (7, 60 // at_once + 3)
            for method in ("SendMessage", "SendStreamingMessage"):
                ratios[method, at_once] = await compare(
                    direct, proxied, proxy, method, at_once=at_once, rounds=rounds, calls=calls
                )
    counted = ratios["SendMessage", 1]
    print(f"single calls in one piece: {counted:.2f}   (at most {MAX_RATIO})")
    return 0 if counted <= MAX_RATIO else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    parser.add_argument("--agent", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--proxy", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.agent:
        run_agent()
    elif options.proxy:
        asyncio.run(run_proxy(options.proxy))
    else:
        sys.exit(asyncio.run(main(quick=options.quick)))
