"""ReferenceSettings: the settings of the reference agent, from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from purple_agent.errors import UsageError

if TYPE_CHECKING:
    from pydantic import SecretStr

PREFIX = "PURPLE_"


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A language model's name for litellm, its address and its key, which is never shown."""

    name: str
    base_url: str | None = None
    api_key: SecretStr | None = None


@dataclass(frozen=True, kw_only=True)
class ReferenceSettings:
    """The settings of the reference agent.

    Args:
        primary: The main model; None for the deterministic reasoner.
        fallback: The model to use if the primary fails.
        small: The model used for summaries and from four fifths of a budget on; None for the
            primary.
        brainos_url: A streaming BrainOS endpoint that is called before the primary.
        business_tokens: Tokens that a business conversation may spend on models.
        tau2_tokens: Tokens that a τ² conversation may spend; its first message takes 5,000 to
            7,000.
        deadline_s: Seconds that one reply may take in total.
        tool_hosts: Hosts (`name` or `name:port`) besides loopback whose tools may be called.
        state_dir: The folder of the case memory and checkpoints. None to keep nothing, as in
            evaluations, where memory would make trials depend on each other.
        tasks_send: Also answer the older method `tasks/send`.
    """

    primary: ModelChoice | None = None
    fallback: ModelChoice | None = None
    small: ModelChoice | None = None
    brainos_url: str | None = None
    business_tokens: int = 10_000
    tau2_tokens: int = 400_000
    deadline_s: float = 240.0
    tool_hosts: tuple[str, ...] = ()
    state_dir: Path | None = None
    tasks_send: bool = False

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None) -> ReferenceSettings:
        """Read the variables `PURPLE_*`; see docs/reference-agent.md.

        Raises:
            UsageError: A value is not a number, or out of range.
        """
        values = os.environ if environment is None else environment
        base_url = values.get("PURPLE_LLM_BASE_URL") or None
        key = values.get("PURPLE_LLM_API_KEY")
        api_key = _secret(key) if key else None

        def model(variable: str) -> ModelChoice | None:
            name = values.get(f"{PREFIX}{variable}")
            return ModelChoice(name=name, base_url=base_url, api_key=api_key) if name else None

        hosts = values.get("PURPLE_TOOL_HOSTS", "")
        state_dir = values.get("PURPLE_STATE_DIR")
        return cls(
            primary=model("LLM_MODEL"),
            fallback=model("LLM_FALLBACK_MODEL"),
            small=model("LLM_SMALL_MODEL"),
            brainos_url=values.get("PURPLE_BRAINOS_URL") or None,
            business_tokens=_number(values, "BUSINESS_TOKENS", cls.business_tokens),
            tau2_tokens=_number(values, "TAU2_TOKENS", cls.tau2_tokens),
            deadline_s=float(_number(values, "DEADLINE_S", int(cls.deadline_s))),
            tool_hosts=tuple(host.strip() for host in hosts.split(",") if host.strip()),
            state_dir=Path(state_dir) if state_dir else None,
            tasks_send=_flag(values, "TASKS_SEND"),
        )


def _secret(text: str) -> SecretStr:
    # Imported late, since listing agents and reporting errors need no pydantic.
    from pydantic import SecretStr

    return SecretStr(text)


def _flag(values: Mapping[str, str], key: str) -> bool:
    text = values.get(f"{PREFIX}{key}", "").lower()
    if text in ("", "0", "false", "no"):
        return False
    if text in ("1", "true", "yes"):
        return True
    raise UsageError(f"{PREFIX}{key} must be true or false, got {text!r}")


def _number(values: Mapping[str, str], key: str, default: int) -> int:
    text = values.get(f"{PREFIX}{key}")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10**9:
        raise UsageError(f"{PREFIX}{key} must be a whole number from 1, got {text!r}")
    return int(text)
