"""Processes that chunk and embed papers for the one that writes them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from concurrent.futures import Future

    from bio_mcp.literature.medline import OddRecord
    from bio_mcp.literature.records import Article
    from bio_mcp.retrieval.passages import Entry


class Workers(Protocol):
    """Some processes, each with the embedding model. They read and write nothing that is stored."""

    @property
    def fingerprint(self) -> str:
        """Of the model that makes the vectors."""
        ...

    @property
    def count(self) -> int:
        """How many processes work at once."""
        ...

    @property
    def died(self) -> int:
        """How many ended before their work was done, and were replaced."""
        ...

    def prepare(
        self, articles: "Sequence[Article]", known: Mapping[str, Mapping[str, str]]
    ) -> "Future[list[Entry | OddRecord]]":
        """Begin to make the index entries of `articles`, of version 1, in their order.

        Texts that are `known` (PMID -> chunk id -> SHA-256) get no vector. An article that fails or ends a process
        again, alone, is an `OddRecord`. The future raises `EmbeddingFailed` when no article can be embedded.
        """
        ...
