"""What a messenger turn costs: python performance/messenger.py [--quick]

1. A turn of the messenger against the same turn of the bare a2a-sdk client, one after the other in
   one run: medians of the wall-clock time of a turn over several rounds, and their ratio
   (at most 1.5).
2. CPU time of this process for each turn with 1, 100 and 500 conversations in flight, against an
   agent that answers after 1 s. Beside it the cheapest way to use the bare client: an HTTP client
   of its own for each conversation, over one TLS context.

The agents run in processes of their own on loopback; nothing else is contacted. The whole takes
about a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory, create_client
from a2a.helpers import new_text_message
from a2a.types import Role, SendMessageRequest

from tau_bridge.a2a.guard import default_ssl_context
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.clock import Runtime
from tau_bridge.recorder import TraceRecorder

MAX_RATIO = 1.5
TURN_BOUND_S = 300.0


def run_agent(delay_s: float) -> None:
    """Serve an agent that answers after `delay_s`, and print its address."""
    from tests.fakes import scripted_agent, serve

    async def answer(text: str, _: str) -> str:
        await asyncio.sleep(delay_s)
        return text

    with serve(scripted_agent(answer)) as url:
        print(url, flush=True)
        sys.stdin.read()  # until the parent closes its end, or is gone


@contextlib.contextmanager
def agent(delay_s: float) -> Iterator[str]:
    command = [sys.executable, __file__, "--agent", str(delay_s)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate(timeout=60)


def recorder() -> TraceRecorder:
    return TraceRecorder("bench", runtime=Runtime.system())


async def bare_turn(client: Client, text: str) -> None:
    message = new_text_message(text, role=Role.ROLE_USER)
    async for _ in client.send_message(SendMessageRequest(message=message)):
        pass


async def turn_times(turn: Callable[[], Awaitable[object]], count: int) -> list[float]:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        await turn()
        times.append(time.perf_counter() - start)
    return times


async def compare(url: str, *, rounds: int, turns: int) -> tuple[float, float]:
    """Medians of a turn in ms: the bare client, the messenger."""
    messenger = Messenger()
    conversation = messenger.conversation(url, recorder=recorder())
    async with httpx.AsyncClient(timeout=TURN_BOUND_S) as http:
        client = await create_client(url, ClientConfig(httpx_client=http))

        bare = functools.partial(bare_turn, client, "hello")
        ours = functools.partial(conversation.send, "hello")
        bare_ms, our_ms = [], []
        for _ in range(rounds + 1):
            bare_ms.append(statistics.median(await turn_times(bare, turns)) * 1000)
            our_ms.append(statistics.median(await turn_times(ours, turns)) * 1000)
    await messenger.aclose()
    # The first round warms both up.
    return statistics.median(bare_ms[1:]), statistics.median(our_ms[1:])


async def measured(talks: list[Callable[[str], Awaitable[object]]], turns: int) -> float:
    """CPU ms of this process for each turn of all these conversations at once."""

    async def converse(talk: Callable[[str], Awaitable[object]]) -> None:
        for turn in range(turns):
            await talk(f"message {turn}")

    gc.collect()
    start = time.process_time()
    async with asyncio.timeout(TURN_BOUND_S), asyncio.TaskGroup() as group:
        for talk in talks:
            group.create_task(converse(talk))
    return (time.process_time() - start) / (len(talks) * turns) * 1000


async def in_flight(url: str, *, conversations: int, turns: int) -> float:
    """CPU ms a turn of the messenger."""
    messenger = Messenger()
    await messenger.card(url)
    talks = [messenger.conversation(url, recorder=recorder()) for _ in range(conversations)]
    cost = await measured([talk.send for talk in talks], turns)
    await messenger.aclose()
    return cost


async def bare_in_flight(url: str, *, conversations: int, turns: int) -> float:
    """CPU ms a turn of the bare client, with an HTTP client for each conversation."""
    tls = default_ssl_context()
    async with contextlib.AsyncExitStack() as stack:
        https = [
            await stack.enter_async_context(httpx.AsyncClient(timeout=TURN_BOUND_S, verify=tls))
            for _ in range(conversations)
        ]
        card = await A2ACardResolver(https[0], url).get_agent_card()
        talks = []
        for http in https:
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            talks.append(functools.partial(bare_turn, client))
        return await measured(talks, turns)


async def main(*, quick: bool) -> int:
    with agent(0.0) as url:
        rounds, turns = (2, 20) if quick else (7, 60)
        bare, ours = await compare(url, rounds=rounds, turns=turns)
    print(f"turn, medians of {rounds} rounds of {turns}")
    print(f"  bare a2a-sdk client  {bare:7.2f} ms")
    print(f"  messenger            {ours:7.2f} ms")
    print(f"  ratio                {ours / bare:7.2f}    (at most {MAX_RATIO})")
    print("CPU a turn, replies after 1 s")
    for conversations in (1, 100) if quick else (1, 100, 500):
        turns = 2 if quick else 10 if conversations == 1 else 5
        with agent(1.0) as url:
            cpu = await in_flight(url, conversations=conversations, turns=turns)
        with agent(1.0) as url:
            bare_cpu = await bare_in_flight(url, conversations=conversations, turns=turns)
        head = f"{conversations:4d} at once x {turns:2d}"
        print(f"  {head}  {cpu:6.2f} ms   (bare, a client each: {bare_cpu:.2f} ms)")
    return 0 if ours / bare <= MAX_RATIO else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns, no 500 at once")
    parser.add_argument("--agent", type=float, metavar="DELAY_S", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.agent is not None:
        run_agent(options.agent)
    else:
        sys.exit(asyncio.run(main(quick=options.quick)))
