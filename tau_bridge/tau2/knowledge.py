"""Knowledge: the documents of a knowledge base, and what an agent gets to see of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from tau_bridge.embedding import EmbeddingModel
from tau_bridge.errors import DataError, HarnessError
from tau_bridge.tau2.bm25 import Bm25
from tau_bridge.tau2.documents import Document
from tau_bridge.tau2.embedding_search import EmbeddingSearch
from tau_bridge.tau2.grep import count_matches
from tau_bridge.tau2.retrieval import Retrieval
from tau_bridge.tau2.tasks import Task

MOST_FOUND: Final = 10
"""Documents of a search's result, each in full."""
_COMPONENT: Final = re.compile(r"\{\{component:(\w+)\}\}")
_BETWEEN_DOCUMENTS: Final = "\n\n---\n\n"
_ANY_TASK: Final = "(the documents that the task requires, which differ by task)"


class Knowledge:
    """A knowledge base as one retrieval configuration shows it. Shared by all conversations.

    Args:
        documents: The documents, in the order in which equally good ones are found.
        retrieval: The configuration.
        prompts: The templates of policies, and their parts as `components/<name>`, by their stems.

    Raises:
        DataError: The template, or a part of it, is not there.
    """

    def __init__(
        self, documents: Sequence[Document], retrieval: Retrieval, prompts: Mapping[str, str]
    ) -> None:
        self.documents = tuple(documents)
        self.retrieval = retrieval
        self._meanings = EmbeddingSearch(self.texts)
        self._template = _COMPONENT.sub(
            lambda found: _prompt(prompts, f"components/{found[1]}"),
            _prompt(prompts, retrieval.template),
        )

    def policy(self, task: Task | None = None) -> str:
        """Return the policy for a task, with the documents that stand in it."""
        if self.retrieval.given == "all":
            sections = _BETWEEN_DOCUMENTS.join(each.section for each in self.documents)
            return self._template.replace("{{full_knowledge_base}}", sections)
        if self.retrieval.given == "required":
            return self._template.replace("{{required_documents}}", self._required(task))
        return self._template

    def _required(self, task: Task | None) -> str:
        if task is None:
            return _ANY_TASK
        found = []
        for name in task.required_documents or ():
            document = self._by_title.get(name) or self._by_id.get(name)
            if document is None:
                raise DataError(
                    f"task {task.id!r} requires the document {name!r}, which the data have not"
                )
            found.append(document.section)
        return _BETWEEN_DOCUMENTS.join(found) or "(No documents provided)"

    def search(self, query: str, model: EmbeddingModel | None = None) -> str:
        """Return the documents that rank highest, as `KB_search` does.

        Args:
            query: The words to look for.
            model: Makes the vectors that documents are ranked by, where they are.

        Raises:
            EmbeddingError: The model failed.
            HarnessError: There is no model.
        """
        if not query.strip():
            ranked = []
        elif self.retrieval.search == "bm25":
            ranked = self._words.top(query, MOST_FOUND)
        elif model is None:
            raise HarnessError("documents are searched by embeddings, and there is no model")
        else:
            ranked = self._meanings.top(query, MOST_FOUND, model)
        return show_found([(self.documents[place], score) for place, score in ranked])

    def grep(self, pattern: str) -> str:
        """Return the documents with the most matches of a regular expression, as `grep` does.

        Raises:
            TimeoutError: The pattern takes too long.
            HarnessError: The search broke.
        """
        counts = count_matches(pattern, self.texts) if pattern.strip() else []
        found = [(each, float(n)) for each, n in zip(self.documents, counts, strict=False) if n]
        if not found:
            return f"No matches found for pattern: {pattern}"
        found.sort(key=lambda each: each[1], reverse=True)
        return _listed(found[:MOST_FOUND])

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Return the texts that are searched: without their titles."""
        return tuple(each.content for each in self.documents)

    @cached_property
    def _words(self) -> Bm25:
        return Bm25(self.texts)

    @cached_property
    def _by_title(self) -> dict[str, Document]:
        return {each.title: each for each in self.documents}

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {each.id: each for each in self.documents}


def show_found(ranked: Sequence[tuple[Document, float]]) -> str:
    """Show what a search found, the best first.

    The official engine adds a line with milliseconds, which differ in every run: left out, so that
    the same call has the same result.
    """
    return _listed(ranked) if ranked else "No relevant documents found."


def _listed(ranked: Sequence[tuple[Document, float]]) -> str:
    return "\n".join(
        f"{place}. {document.title}\n   ID: {document.id}\n   Score: {score:.4f}\n"
        f"   Content: {document.content}\n"
        for place, (document, score) in enumerate(ranked, 1)
    )


def _prompt(prompts: Mapping[str, str], stem: str) -> str:
    if stem not in prompts:
        raise DataError(f"the data have no prompt {stem!r}, which this retrieval takes")
    return prompts[stem]
