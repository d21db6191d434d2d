"""The reference agent without a model: CPU of a turn beside that of a bare A2A server.

Both servers run in this process, and so does their client: what the client costs is in both figures,
and the difference is the agent's. 200 conversations at once, in the τ² wire with fifteen tools, and as
plain business requests. Exits with 1 where the difference is over 2 ms a turn.

Usage: python performance/reference.py [--conversations N] [--turns N]
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
import uuid

import httpx

from purple_agent.reference.server import build_reference_app
from purple_agent.server import build_app
from purple_agent.settings import ReferenceSettings

BOUND_MS = 2.0
ROUNDS = 3
URL = "http://127.0.0.1:1/"


def tool(number):
    properties = {"record_id": {"type": "string"}, "note": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["record_id"]}
    verb = ("get", "update", "cancel")[number % 3]
    function = {
        "name": f"{verb}_record_{number}",
        "description": "Works on a record.",
        "parameters": parameters,
    }
    return {"type": "function", "function": function}


WIRE = "\n".join(
    (
        "# Policy",
        "Ask for confirmation before a change. " * 40,
        "Here's a list of tools you can use (you can use at most one tool at a time):",
        json.dumps([tool(number) for number in range(15)], indent=2),
        "Additionally, you can respond to the user with the following call:",
        "{}",
        "Please respond in JSON format.",
        "Now here are the user messages:",
        "agent: Hi! How can I help you today?",
        "user: I would like to know where my order is.",
    )
)
LATER = ("My name is Ada Lovelace.", "It was ordered last week.", "Is there any news?")
DIALECTS = {
    "τ² wire": (WIRE, *LATER),
    "business": ("I would like to know where my order is.", *LATER),
}


async def converse(http, texts, turns):
    context_id = str(uuid.uuid4())
    for turn in range(turns):
        text = texts[turn] if turn < len(texts) else texts[1 + turn % (len(texts) - 1)]
        message = {
            "messageId": str(uuid.uuid4()),
            "contextId": context_id,
            "role": "ROLE_USER",
            "parts": [{"text": text}],
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
        answer = await http.post(URL, json=body, headers={"A2A-Version": "1.0"})
        assert answer.json()["result"]["message"]["parts"][0]["text"]


async def cpu_ms(app, texts, conversations, turns):
    http = httpx.AsyncClient(transport=httpx.ASGITransport(app=app))
    async with app.router.lifespan_context(app), http:
        await converse(http, texts, turns)
        started = time.process_time()
        await asyncio.gather(*(converse(http, texts, turns) for _ in range(conversations)))
        spent = time.process_time() - started
    return 1000 * spent / (conversations * turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--turns", type=int, default=8)
    options = parser.parse_args()
    missed = False
    print(f"{'ms of CPU a turn':<24}{'bare':>8}{'reference':>12}{'difference':>12}{'bound':>8}")
    for name, texts in DIALECTS.items():
        figures = {"bare": [], "reference": []}
        for _ in range(ROUNDS):
            for kind, values in figures.items():
                app = (
                    build_app("null", card_url=URL)
                    if kind == "bare"
                    else build_reference_app(ReferenceSettings(), card_url=URL)
                )
                values.append(asyncio.run(cpu_ms(app, texts, options.conversations, options.turns)))
        bare, ours = (statistics.median(figures[kind]) for kind in figures)
        late = ours - bare > BOUND_MS
        missed |= late
        print(
            f"{name:<24}{bare:>8.2f}{ours:>12.2f}{ours - bare:>12.2f}{BOUND_MS:>8.1f}"
            f"{'  MISSED' if late else ''}",
            flush=True,
        )
    sys.exit(missed)


if __name__ == "__main__":
    main()
