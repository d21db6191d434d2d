"""Serve bundled agents from the command line.

    python -m purple_agent null --port 9010
    python -m purple_agent null oracle --port 0 --announce --gold gold.json

Exit codes: 0 after Ctrl-C, SIGTERM or (with --announce) the end of stdin; 2 where the command
cannot be used; 3 where the address cannot be listened on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from purple_agent.catalogue import DESCRIPTIONS, ORACLE, check_name
from purple_agent.errors import GoldScriptError, PurpleAgentError, UsageError
from purple_agent.sockets import Listener, listen

if TYPE_CHECKING:
    from purple_agent.oracle import GoldScript

DEFAULT_PORT = 9010
STDIN = "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.list:
        for name, description in DESCRIPTIONS.items():
            sys.stdout.write(f"{name:8} {description}\n")
        return 0
    try:
        _check(arguments)
        _run(arguments)
    except PurpleAgentError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return exc.exit_code
    except KeyboardInterrupt:  # before the loop took the signal over
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m purple_agent", description="Serve bundled agents over A2A."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="agents to serve; see --list")
    parser.add_argument("--list", action="store_true", help="name the bundled agents and exit")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--port",
        type=int,
        help=f"0 takes a free one (default: {DEFAULT_PORT}; with --announce or several agents 0)",
    )
    parser.add_argument("--card-url", help="address that the card states (one agent only)")
    parser.add_argument(
        "--gold", metavar="FILE", help="the oracle's gold scripts; - reads one line of stdin"
    )
    parser.add_argument("--streaming", action="store_true", help="offer and serve streams")
    parser.add_argument(
        "--announce",
        action="store_true",
        help="print the addresses as one JSON line once connections are accepted, "
        "ignore Ctrl-C, and end when stdin is closed",
    )
    return parser


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be served, and fill in the port."""
    names: list[str] = arguments.names
    if not names:
        raise UsageError(f"name an agent to serve: {', '.join(DESCRIPTIONS)}")
    for name in names:
        check_name(name)
    if len(set(names)) < len(names):
        raise UsageError(f"each agent can be named once, got {' '.join(names)}")
    if arguments.port is None:
        alone = len(names) == 1 and not arguments.announce
        arguments.port = DEFAULT_PORT if alone else 0
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port must be 0 to 65535, got {arguments.port}")
    if len(names) > 1 and arguments.port != 0:
        raise UsageError("several agents cannot share one port: leave --port out, or make it 0")
    if len(names) > 1 and arguments.card_url is not None:
        raise UsageError("--card-url is for one agent only")
    if (ORACLE in names) != (arguments.gold is not None):
        raise GoldScriptError("--gold and the oracle belong together: give both or neither")


def _run(arguments: argparse.Namespace) -> None:
    if arguments.announce:
        # The owner's Ctrl-C reaches the whole process group; the owner decides when we end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    scripts = _scripts(arguments.gold)
    with contextlib.ExitStack() as sockets:
        listeners: list[Listener] = []
        for name in arguments.names:
            listener = listen(name, host=arguments.host, port=arguments.port)
            sockets.enter_context(listener.sock)
            listeners.append(listener)
        asyncio.run(_serve(arguments, listeners, scripts))


def _scripts(source: str | None) -> Mapping[str, GoldScript] | None:
    if source is None:
        return None
    from purple_agent.oracle import parse_scripts  # pydantic, not needed by the others

    if source == STDIN:
        return parse_scripts(sys.stdin.buffer.readline())
    try:
        return parse_scripts(Path(source).read_bytes())
    except OSError as exc:
        raise GoldScriptError(f"the gold scripts cannot be read: {source}: {exc.strerror}") from exc


async def _serve(
    arguments: argparse.Namespace,
    listeners: Sequence[Listener],
    scripts: Mapping[str, GoldScript] | None,
) -> None:
    # The A2A server parts take over a second to import: every error above comes before them.
    from purple_agent.serving import serve, stop_on_signals

    stop = asyncio.Event()
    stop_on_signals(stop, signal.SIGTERM)
    if arguments.announce:
        _stop_at_end_of_stdin(stop)
    else:
        stop_on_signals(stop, signal.SIGINT)

    def ready() -> None:
        urls = {listener.name: listener.url for listener in listeners}
        if arguments.announce:
            sys.stdout.write(json.dumps({"agents": urls}) + "\n")
            sys.stdout.flush()
            return
        for name, url in urls.items():
            sys.stderr.write(f"{name} listens on {url} (Ctrl-C ends it)\n")

    await serve(
        listeners,
        stop=stop,
        card_url=arguments.card_url,
        scripts=scripts,
        streaming=arguments.streaming,
        on_ready=ready,
    )


def _stop_at_end_of_stdin(stop: asyncio.Event) -> None:
    """Set `stop` when stdin ends, so that the agents never outlive the program that started them.

    A thread reads the descriptor itself: pipes, files and terminals all work so, and no lock of
    `sys.stdin` is held when the interpreter shuts down.
    """
    loop = asyncio.get_running_loop()

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait, name="stdin", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
