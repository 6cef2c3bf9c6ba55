"""A second index of the papers, for questions in a language that the corpus' model does not read."""

from collections.abc import Sequence
from typing import Protocol

from bio_mcp.literature.records import Document
from bio_mcp.retrieval.passages import Candidate, Filters


class Multilingual(Protocol):
    """One vector of each paper of the corpus, by a model that reads Thai as it reads English.

    Every method may raise `IndexUnavailable` and `EmbeddingFailed`, and all but `renew` raise `ModelMismatch` where the
    index holds another model's vectors.
    """

    def search(self, text: str, filters: Filters, depth: int) -> list[Candidate]:
        """Return the best `depth` papers for a question, best first, with the cosine as `sim`; ties: PMID descending.

        Their `chunk_id` is none of the corpus' passages.
        """
        ...

    def put(self, documents: Sequence[Document]) -> None:
        """Replace the papers' vectors, older versions excepted; the same text is not embedded again.

        The write is durable; searches may miss it until `refresh` is called.
        """
        ...

    def refresh(self) -> None:
        """Let searches see all that was written."""
        ...

    def delete(self, pmids: Sequence[str]) -> None:
        """Remove the papers; unknown PMIDs change nothing."""
        ...

    def renew(self) -> None:
        """Make the index if there is none, and empty one of another model."""
        ...

    def count(self) -> int:
        """Return how many papers it has. It lacks those that were stored while it was not configured."""
        ...
