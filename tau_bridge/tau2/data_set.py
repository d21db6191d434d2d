"""The published data of τ²-bench: which commit is played, and which of its files are used."""

from __future__ import annotations

import re

from tau_bridge.data_sets.description import DataSet

DATA_DIR = "TAU2_DATA_DIR"
PROJECT = "tau2-bench"

_TABLE = r"(?:tasks|split_tasks|db|user_db)\.(?:json|toml)"
_POLICY = r"(?:policy|policy_solo|main_policy|main_policy_solo|tech_support_manual)\.md"
_KNOWLEDGE = r"tasks/task_\w+\.json|documents/[^/]+\.json|prompts/(?:components/)?[\w-]+\.md"
_USED = re.compile(
    rf"tau2/domains/(?:airline|mock|retail|telecom|banking_knowledge)/(?:{_TABLE}|{_POLICY})"
    rf"|tau2/domains/banking_knowledge/(?:{_KNOWLEDGE})"
    r"|tau2/user_simulator/simulation_guidelines(?:_tools)?\.md",
    re.ASCII,
)

TAU2_DATA = DataSet(
    title="τ²-bench 1.0.1 of August 2026",
    commit="a2c024725189473d2d7cea3a5cfdbcc67478e41f",
    digest="sha256:1176e60daefa26fa9d5da16244f87b731c318411868767a5ead39af56397ee39",
    address="https://github.com/sierra-research/tau2-bench/archive/{commit}.tar.gz",
    kept=_USED,
    folder="data/",
    variable=DATA_DIR,
)
