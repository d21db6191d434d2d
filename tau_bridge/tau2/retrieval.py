"""Retrieval configurations: the ways in which an agent gets at a knowledge base.

They bear their official names. Their texts come with the data: each has a template for the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

RetrievalName = Literal[
    "bm25_grep",
    "bm25",
    "grep_only",
    "embeddings_grep",
    "golden_retrieval",
    "full_kb",
    "no_knowledge",
]
DEFAULT_RETRIEVAL: Final[RetrievalName] = "bm25_grep"
"""Needs no key. The official default, `alltools`, does."""

SEARCHING_TOOLS: Final = frozenset({"KB_search", "grep"})
"""The tools that search documents; each configuration has some of them."""


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """One configuration.

    Args:
        template: The stem of the policy's template.
        search: What the tool `KB_search` ranks documents by; None: there is no such tool.
        grep: There is a tool `grep`.
        given: Documents that stand in the policy itself.
    """

    template: str
    search: Literal["bm25", "embeddings"] | None = None
    grep: bool = False
    given: Literal["all", "required"] | None = None

    @property
    def missing_tools(self) -> frozenset[str]:
        """Return the tools that there are not."""
        offered = {"KB_search"} if self.search is not None else set()
        return SEARCHING_TOOLS - offered - ({"grep"} if self.grep else set())


RETRIEVALS: Final[Mapping[RetrievalName, Retrieval]] = MappingProxyType(
    {
        "bm25_grep": Retrieval(template="classic_rag_bm25", search="bm25", grep=True),
        "bm25": Retrieval(template="classic_rag_bm25_no_grep", search="bm25"),
        "grep_only": Retrieval(template="grep_only", grep=True),
        "embeddings_grep": Retrieval(template="classic_rag", search="embeddings", grep=True),
        "golden_retrieval": Retrieval(template="required_docs", given="required"),
        "full_kb": Retrieval(template="full_kb", given="all"),
        "no_knowledge": Retrieval(template="no_knowledge"),
    }
)

OFFICIAL_RETRIEVALS: Final = tuple(name for name in RETRIEVALS if name != "embeddings_grep")
"""Those that the official engine has under the same name."""

_MODEL = "it takes {}; write embeddings_grep to search with an embedding model of your own"
_RERANKER = "no language model ranks documents here"
_SHELL = "agents get no shell here"
_OPENAI = _MODEL.format("OpenAI's text-embedding-3-large")
_QWEN = _MODEL.format("Qwen3-Embedding-8B at OpenRouter")

NOT_HERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "alltools": _SHELL,
        "alltools-qwen": _SHELL,
        "terminal_use": _SHELL,
        "terminal_use_write": _SHELL,
        "openai_embeddings": _OPENAI,
        "openai_embeddings_grep": _OPENAI,
        "openai_embeddings_reranker": _RERANKER,
        "openai_embeddings_reranker_grep": _RERANKER,
        "qwen_embeddings": _QWEN,
        "qwen_embeddings_grep": _QWEN,
        "qwen_embeddings_reranker": _RERANKER,
        "qwen_embeddings_reranker_grep": _RERANKER,
        "bm25_reranker": _RERANKER,
        "bm25_reranker_grep": _RERANKER,
    }
)
"""The official configurations that cannot be played here, each with the reason."""
