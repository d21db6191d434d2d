"""Remove from the packages of an image what no agent uses, and compile what agents import.

    /opt/greenroom/bin/python trim_packages.py

Of the packages of the interpreter that runs it: pages of a proxy, viewers, sandboxes, benchmarks
that are not played. What agents import gets bytecode, because who runs an image cannot write it
beside the packages; bytecode of all would take another hundred megabytes.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

UNUSED = (
    "litellm/proxy/_experimental/out",
    "litellm/proxy/swagger",
    "litellm/rust_bridge/_native.abi3.so",
    "inspect_ai/binaries",
    "inspect_ai/_view/dist",
    "botocore/data/[!_]*",
)
BENCHMARKS = {"agent_threat_bench", "agentdojo", "tau2", "utils"}
"""The folders of inspect_evals that are used."""
IMPORTED = (
    *("a2a.client", "a2a.server.request_handlers", "a2a.server.routes", "a2a.server.tasks"),
    *("google.adk.agents", "google.adk.models.lite_llm", "google.adk.runners"),
    *("httpx", "httpx2", "jinja2", "jsonschema", "lark", "litellm", "mcp", "networkx", "numpy"),
    *("openai", "pydantic_settings", "rapidfuzz", "regex", "rich.table", "sqlalchemy.ext.asyncio"),
    *("sse_starlette", "starlette.applications", "uvicorn", "yaml"),
    *("inspect_evals.tau2", "inspect_evals.agentdojo", "inspect_evals.agent_threat_bench"),
)
"""Modules whose import writes the bytecode. A package that is not installed is passed over."""


def main() -> None:
    """Trim the packages of this interpreter, and compile them."""
    packages = Path(sysconfig.get_path("purelib"))
    for pattern in UNUSED:
        for path in packages.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in packages.glob("inspect_evals/*/"):
        if path.name not in BENCHMARKS:
            shutil.rmtree(path)
    for module in IMPORTED:
        path = packages.joinpath(*module.split("."))
        if path.exists() or path.with_suffix(".py").exists():
            subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


if __name__ == "__main__":
    main()
