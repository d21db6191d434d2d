"""`python -m adk_agent`: serve the green agent; the entry point of the container image."""

from __future__ import annotations

import argparse
import sys

from adk_agent.cli import serve
from adk_agent.cli.edge import run_command


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m adk_agent")
    serve.add_arguments(parser)
    return run_command(serve.execute, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
