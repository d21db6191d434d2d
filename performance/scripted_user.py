"""What a polite agent learns from the scripted user: python performance/scripted_user.py

Per source and domain, of all base tasks: the share in which an agent that asks for every argument of
the gold actions learns them all, from the user's words and the gold actions' own reads; the same
where it looks up users, orders, reservations and customers of its own accord; and how many
arguments it never learned. `--against FILE` names another module with a `ScriptedUser`, for example
an older one, to compare with. The official data are read where TAU2_DATA_DIR names them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import runpy
from pathlib import Path

from tau_bridge.tau2.data import DataSource, open_source
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.scripted_user import ScriptedUser
from tests.fakes.polite_agent import PoliteAgent


async def learned(source: DataSource, name: str, user: type[ScriptedUser], looks_up: bool) -> str:
    domain = load_domain(source, name)
    missing = []
    for task_id in source.task_ids(name):
        task = source.task(name, task_id)
        agent = PoliteAgent(domain, task, looks_up=looks_up)
        missing.append(await agent.missing(user(task, tools=domain.user_schemas)))
    complete, arguments = missing.count([]), sum(map(len, missing))
    share = complete / len(missing)
    return f"{complete:3} of {len(missing)} ({share:4.0%}, {arguments:3} arguments missing)"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, metavar="FILE")
    against = parser.parse_args().against
    users = {"scripted": ScriptedUser}
    if against is not None:
        users[against.name] = runpy.run_path(str(against))["ScriptedUser"]
    folder = os.environ.get("TAU2_DATA_DIR")
    for root in [None, *([Path(folder)] if folder else [])]:
        source = open_source(root)
        for name in ("airline", "retail", "telecom"):
            for label, user in users.items():
                found = [await learned(source, name, user, looks_up) for looks_up in (False, True)]
                print(f"{source.name:14} {name:8} {label:20} {found[0]}; with look-ups {found[1]}")


if __name__ == "__main__":
    asyncio.run(main())
