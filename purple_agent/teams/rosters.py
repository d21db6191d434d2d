"""The reference teams by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from purple_agent.teams.plan import OUTSIDE, Ask, Fault, FaultKind, Member, Team

MANIFEST_VERSION = "1"

_CARE = ("notification",)
_LEDGER = ("shipping_quote", "loyalty_points", "arithmetic")
_MONEY = (*_LEDGER, *_CARE)
_ORDERS = ("order_lookup", "stock")
_POLICY = ("policy_lookup", "refund_decision")

_FOUR = (
    Member(name="lead"),
    Member(name="orders", skills=_ORDERS),
    Member(name="policy", skills=_POLICY),
    Member(name="money", skills=_MONEY),
)

Script = Mapping[tuple[str, str], tuple[Ask, ...]]


def _asks(*callees: str) -> tuple[Ask, ...]:
    return tuple(Ask(callee=callee) for callee in callees)


def _tree(entry: str, below: Mapping[str, tuple[str, ...]]) -> Script:
    """Make every member call those below whenever the one above calls it."""
    above = {callee: caller for caller, callees in below.items() for callee in callees}
    return {
        (name, above.get(name, OUTSIDE) if name != entry else OUTSIDE): _asks(*callees)
        for name, callees in below.items()
    }


def _mesh(entry: str, names: tuple[str, ...], *, rounds: int) -> Script:
    """Make every member call every other once per round.

    The entry calls the others in turn. Each of them then calls the rest, and the entry last, so
    that a call never directly reverses the one before.
    """
    others = tuple(name for name in names if name != entry)
    script = {(entry, OUTSIDE): _asks(*others) * rounds}
    for name in others:
        rest = tuple(other for other in others if other != name)
        script[(name, entry)] = _asks(*rest, entry)
    return script


_STAR5 = Team(
    name="star5",
    description="A lead asks four specialists in turn.",
    entry="lead",
    members=(
        *_FOUR[:3],
        Member(name="money", skills=_LEDGER),
        Member(name="care", skills=_CARE),
    ),
    script=_tree("lead", {"lead": ("orders", "policy", "money", "care")}),
    labels=("bottleneck", "hub", "over_centralized"),
    findings=("bottleneck", "distribution", "over_centralized"),
)

_CHAIN4 = Team(
    name="chain4",
    description="Each of four hands the question on to the next.",
    entry="lead",
    members=_FOUR,
    script=_tree("lead", {"lead": ("orders",), "orders": ("policy",), "policy": ("money",)}),
    labels=("bottleneck", "pipeline"),
    findings=("bottleneck", "distribution"),
)

_MESH4 = Team(
    name="mesh4",
    description="Each of four asks every other one once.",
    entry="lead",
    members=_FOUR,
    script=_mesh("lead", ("lead", "orders", "policy", "money"), rounds=1),
    labels=("balanced",),
    findings=("distribution",),
)

_TREE7 = Team(
    name="tree7",
    description="A lead over two heads, each over two specialists.",
    entry="lead",
    members=(
        Member(name="lead"),
        Member(name="desk"),
        Member(name="office"),
        *_STAR5.members[1:],
    ),
    script=_tree(
        "lead",
        {"lead": ("desk", "office"), "desk": ("orders", "policy"), "office": ("money", "care")},
    ),
    labels=("bottleneck", "hierarchy"),
    findings=("bottleneck", "distribution"),
)

_PINGPONG2 = Team(
    name="pingpong2",
    description="Two hand the same question back and forth, eight times, and give up.",
    entry="ping",
    members=(Member(name="ping"), Member(name="pong")),
    script={
        ("ping", OUTSIDE): (Ask(callee="pong", verbatim=True, max_hops=8),),
        ("ping", "pong"): (Ask(callee="pong", verbatim=True, max_hops=8),),
        ("pong", "ping"): (Ask(callee="ping", verbatim=True, max_hops=8),),
    },
    labels=("duplicate_work", "dyad", "loop", "no_progress", "ping_pong"),
    findings=("distribution", "duplicate_work", "loop", "ping_pong"),
)

_DEGRADED4 = Team(
    name="degraded4",
    description="One of three specialists always fails, and one is never asked.",
    entry="lead",
    members=(*_FOUR[:3], Member(name="archive", skills=_MONEY)),
    script=_tree("lead", {"lead": ("orders", "policy")}),
    faults=(Fault(kind=FaultKind.FAIL, member="policy"),),
    labels=("failed_member", "isolated_member", "over_centralized", "silent_failure"),
    findings=(
        "distribution",
        "failed_member",
        "isolated_agent",
        "over_centralized",
        "silent_failure",
    ),
)

_BRIDGE6 = Team(
    name="bridge6",
    description="Two teams of three whose heads alone know each other.",
    entry="lead",
    members=(*_FOUR[:3], Member(name="office"), *_STAR5.members[3:]),
    script=_tree("lead", {"lead": ("orders", "policy", "office"), "office": ("money", "care")}),
    labels=("bottleneck", "bridge", "hierarchy"),
    findings=("bottleneck", "distribution"),
)

_CHATTY6 = Team(
    name="chatty6",
    description="Each of six asks every other one, in three rounds: ninety calls.",
    entry="lead",
    members=(
        Member(name="lead"),
        Member(name="orders", skills=("order_lookup",)),
        Member(name="policy", skills=_POLICY),
        Member(name="stock", skills=("stock", "shipping_quote")),
        Member(name="money", skills=("loyalty_points", "arithmetic")),
        Member(name="care", skills=_CARE),
    ),
    script=_mesh("lead", ("lead", "orders", "policy", "stock", "money", "care"), rounds=3),
    labels=("balanced",),
    findings=("distribution",),
)

_HIERARCHY15 = Team(
    name="hierarchy15",
    description="Four levels: a lead, two heads, four sections, eight specialists.",
    entry="lead",
    members=(
        *(Member(name=name) for name in ("lead", "desk", "office")),
        *(Member(name=name) for name in ("records", "rules", "sales", "accounts")),
        Member(name="orders", skills=("order_lookup",)),
        Member(name="stock", skills=("stock",)),
        Member(name="policy", skills=("policy_lookup",)),
        Member(name="refunds", skills=("refund_decision",)),
        Member(name="shipping", skills=("shipping_quote",)),
        Member(name="loyalty", skills=("loyalty_points",)),
        Member(name="money", skills=("arithmetic",)),
        Member(name="care", skills=_CARE),
    ),
    script=_tree(
        "lead",
        {
            "lead": ("desk", "office"),
            "desk": ("records", "rules"),
            "office": ("sales", "accounts"),
            "records": ("orders", "stock"),
            "rules": ("policy", "refunds"),
            "sales": ("shipping", "loyalty"),
            "accounts": ("money", "care"),
        },
    ),
    labels=("bottleneck", "hierarchy"),
    findings=("bottleneck", "distribution"),
)

_RELAY4 = Team(
    name="relay4",
    description="The last of a relay fails, and the one before it answers as if nothing were.",
    entry="lead",
    members=(
        Member(name="lead"),
        Member(name="relay", skills=_MONEY),
        Member(name="orders", skills=_ORDERS, discreet=True),
        Member(name="policy", skills=_POLICY),
    ),
    script=_tree("lead", {"lead": ("relay",), "relay": ("orders",), "orders": ("policy",)}),
    faults=(Fault(kind=FaultKind.FAIL, member="policy"),),
    labels=("bottleneck", "failed_member", "pipeline", "silent_failure"),
    findings=("bottleneck", "distribution", "failed_member", "silent_failure"),
)

_DUPLICATE4 = Team(
    name="duplicate4",
    description="Three of four ask the fourth the very same question.",
    entry="lead",
    members=_FOUR,
    script={
        ("lead", OUTSIDE): (Ask(callee="orders", verbatim=True), *_asks("policy", "money")),
        ("policy", "lead"): (Ask(callee="orders", verbatim=True),),
        ("money", "lead"): (Ask(callee="orders", verbatim=True),),
    },
    labels=("duplicate_work",),
    findings=("distribution", "duplicate_work"),
)

_SLOW4 = Team(
    name="slow4",
    description="A lead asks three specialists, one of whom is slow.",
    entry="lead",
    members=_FOUR,
    script=_tree("lead", {"lead": ("orders", "policy", "money")}),
    faults=(Fault(kind=FaultKind.SLOW, member="policy"),),
    labels=("bottleneck", "hub", "over_centralized"),
    findings=("bottleneck", "distribution", "over_centralized"),
)

TEAMS: Mapping[str, Team] = MappingProxyType(
    {
        team.name: team
        for team in (
            _STAR5,
            _CHAIN4,
            _MESH4,
            _TREE7,
            _PINGPONG2,
            _DEGRADED4,
            _BRIDGE6,
            _CHATTY6,
            _HIERARCHY15,
            _RELAY4,
            _DUPLICATE4,
            _SLOW4,
        )
    }
)
"""Every reference team, in the order of listings."""


def manifest() -> dict[str, Any]:
    """Return the contents of `data/teams.json`: the rosters and correct results of each team."""
    return {
        "version": MANIFEST_VERSION,
        "teams": [
            {
                "name": team.name,
                "description": team.description,
                "entry": team.entry,
                "members": list(team.roster),
                "labels": list(team.labels),
                "findings": list(team.findings),
            }
            for team in TEAMS.values()
        ],
    }
