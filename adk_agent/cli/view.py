"""`greenroom view`: one run as a file, or all runs as a local site."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import webbrowser
from pathlib import Path
from urllib.parse import quote

from adk_agent.cli import values
from adk_agent.cli.edge import OK
from adk_agent.cli.flags import A_RUN, add_results_dir, run_of, settings_of
from adk_agent.cli.terminal import say
from adk_agent.core.errors import RequestError
from adk_agent.core.settings import variables
from adk_agent.present.page.writing import write_page
from adk_agent.runs.naming import LATEST
from adk_agent.runs.tracking import read_status
from adk_agent.service.listening import address_of, bound_socket, is_loopback
from tau_bridge.benchmarks import Benchmarks, open_benchmarks
from tau_bridge.errors import DataError

_LEAST_TOKEN_CHARS = 16
_ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - a comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Write a run's report.html, one file that needs no network, and open it. With --serve, or "
        "without a run at a terminal, serve all runs as a local site, running ones live."
    )
    parser.add_argument("run", nargs="?", help=f"{A_RUN}; without it, all runs, or the latest")
    add_results_dir(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="where to write it (default: the run's folder)"
    )
    parser.add_argument("--no-open", action="store_true", help="open no browser")
    parser.add_argument("--serve", action="store_true", help="serve all runs until Ctrl-C")
    parser.add_argument(
        "--port", type=values.port, default=0, help="of the site (default: a free one)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address of the site (default 127.0.0.1); on any other, visitors need a token",
    )
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable with that token (default: a new one, in the printed link)",
    )


def execute(parsed: argparse.Namespace) -> int:
    """Write a run's page, or serve all runs, and open it if there is a screen."""
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if parsed.serve or (parsed.run is None and parsed.out is None and at_terminal):
        return _serve(parsed)
    given = [
        flag
        for flag, is_given in (
            ("--port", parsed.port),
            ("--host", parsed.host != "127.0.0.1"),
            ("--token-env", parsed.token_env),
        )
        if is_given
    ]
    if given:
        raise RequestError(f"{given[0]} is for the site of all runs: add --serve")
    parsed.run = parsed.run or LATEST
    results_dir, run_id = run_of(parsed)
    path = write_page(
        results_dir,
        run_id,
        benchmarks=_installed(),
        out=Path(parsed.out) if parsed.out else None,
        secrets=settings_of(parsed).secrets(),
    )
    if not read_status(results_dir, run_id).has_ended:
        say(
            f"greenroom: run {run_id} is still running; these are its results so far",
            file=sys.stderr,
        )
    say(f"page: {path}")
    if not parsed.no_open and _has_screen():
        webbrowser.open(path.resolve().as_uri())
    return OK


def _serve(parsed: argparse.Namespace) -> int:
    """Serve all runs until interrupted."""
    # The server is loaded only here: the page of a run needs none.
    from adk_agent.site.access import Visitors
    from adk_agent.site.app import build_site
    from adk_agent.site.serving import serve_site
    from adk_agent.site.stream import Streams

    if parsed.out is not None:
        raise RequestError("--out is for the page of one run, and --serve for all: leave one out")
    token = _token(parsed)
    start = ""
    if parsed.run is None:
        settings = settings_of(parsed)
        results_dir = settings.results_dir
    else:
        results_dir, run_id = run_of(parsed)
        settings = settings_of(parsed)
        read_status(results_dir, run_id)  # it must exist
        start = f"runs/{quote(run_id)}"
    streams = Streams()
    with bound_socket(parsed.host, parsed.port) as listener:
        visitors = Visitors(host=parsed.host, port=listener.getsockname()[1], token=token)
        site = build_site(
            results_dir,
            visitors,
            benchmarks=_installed(),
            secrets=settings.secrets(),
            streams=streams,
        )
        address = f"{address_of(listener)}{start}"
        shows_token = token is not None and parsed.token_env is None
        link = f"{address}?token={token}" if shows_token else address

        def on_ready() -> None:
            say(f"runs: {link}", flush=True)
            if parsed.host in _ANY_ADDRESS:
                say(
                    f"greenroom: it listens on all addresses of this machine ({parsed.host}): on "
                    "another one, put this machine's name or address into that link",
                    file=sys.stderr,
                )
            if token is not None:
                say(
                    "greenroom: whoever has the token can read all runs, and it travels unencrypted: "
                    "on a network that you do not trust, use an SSH tunnel instead",
                    file=sys.stderr,
                )
            say("greenroom: Ctrl-C ends it", file=sys.stderr)
            if not parsed.no_open and _has_screen():
                webbrowser.open(link)

        serve_site(site, listener, streams, on_ready=on_ready)
    return OK


def _token(parsed: argparse.Namespace) -> str | None:
    """Return what visitors have to show; None where only this machine can reach the site.

    Raises:
        RequestError: The variable has no token, or one that can be guessed.
    """
    if parsed.token_env is None:
        return None if is_loopback(parsed.host) else secrets.token_urlsafe(32)
    token = os.environ.get(parsed.token_env, "")
    if len(token) < _LEAST_TOKEN_CHARS or not token.isascii() or not token.isprintable():
        raise RequestError(
            f"--token-env {parsed.token_env}: the variable must hold at least {_LEAST_TOKEN_CHARS} "
            "printable characters; make some with: openssl rand -hex 32"
        )
    return token


def _installed() -> Benchmarks:
    """Open the benchmarks; return none if data are missing, since a page needs them little."""
    try:
        return open_benchmarks(variables)
    except DataError as error:
        say(f"greenroom: the page cannot mark calls that change data: {error}", file=sys.stderr)
        return Benchmarks(())


def _has_screen() -> bool:
    """Tell whether a browser would open a window rather than take over the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
