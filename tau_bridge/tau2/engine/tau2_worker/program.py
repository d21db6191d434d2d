"""The program: says who it is, imports the engine, and serves."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys

from .identity import Unsupported, identity
from .link import JsonObject, described
from .server import Server


def load(data_dir: str) -> JsonObject:
    """Import the engine; return its domains.

    Raises:
        Unsupported: Something that is needed is not there.
    """
    os.environ["TAU2_DATA_DIR"] = data_dir
    # Else litellm asks the network for prices, which nobody here reads.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with contextlib.suppress(ImportError):
        importlib.import_module("loguru").logger.remove()
    for name in ("runner.build", "evaluator.evaluator", "user.user_simulator"):
        importlib.import_module(f"tau2.{name}")
    registry = importlib.import_module("tau2.registry").registry
    domains = registry.get_domains()
    if not domains:
        raise Unsupported("the engine registers no domain: its registry failed to load")
    features = {"fork": hasattr(os, "fork"), "runner": True, "retrieval": _has_retrieval()}
    return {"domains": domains, "features": [name for name, has in features.items() if has]}


def _has_retrieval() -> bool:
    simulation = importlib.import_module("tau2.data_model.simulation")
    return "retrieval_config" in simulation.TextRunConfig.model_fields


def main() -> None:
    """Play whatever the assessor orders."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--probe", action="store_true")
    parsed = parser.parse_args()
    source, sink = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # the engine prints
    server = Server(source, sink)
    try:
        told = identity(parsed.data_dir)
        if parsed.probe:
            server.send("identity", **told)
            return
        told |= load(told["data_dir"])
    except BaseException as error:  # noqa: BLE001 - the assessor is told of anything
        server.send("error", **described(error), phase="probe" if parsed.probe else "import")
        sys.exit(1)
    server.send("ready", **told)
    with contextlib.suppress(BrokenPipeError):  # there is no assessor any more
        server.serve()
