"""Write passages to the index that is searched, and to the one beside it while there are two."""

from collections.abc import Sequence
from datetime import timedelta

from bio_mcp.errors import Conflict
from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.retrieval.passages import Entry
from bio_mcp.syncing.indexing import Embed, model_of, searched_index, slices, unless_removed, write_passages

WRITE_AFTER = timedelta(seconds=0.5)  # papers wait for those after them no longer; embedding 32 takes that long


class IndexWrites:
    """Embeds papers a slice at a time, and writes those of several slices together where embedding is quick.

    A transaction of an index costs as much as twenty papers in it. Where a paper goes to more than one index each slice
    is written at once, since the other may have all of it to embed.
    """

    def __init__(self, backends: Backends, embed: Embed) -> None:
        self._backends, self._embed = backends, embed
        self._began = backends.now()
        self._documents: list[Document] = []
        self._entries: list[Entry] = []
        self._fingerprint = ""
        self._several = False

    def add(self, documents: Sequence[Document]) -> None:
        """Embed the documents for the index that is searched."""
        with searched_index(self._backends) as (embeddings, passages):
            entries = self._embed(documents, embeddings, passages)
        if not self._documents:
            self._several = bool(self._backends.multilingual) or len(self._backends.indexes.all()) > 1
        if embeddings.fingerprint != self._fingerprint:
            self._entries, self._fingerprint = [], embeddings.fingerprint
        self._documents += documents
        self._entries += entries

    def is_due(self) -> bool:
        """Whether what was added should be written now."""
        return self._backends.now() - self._began > WRITE_AFTER or self._several

    def write(self) -> list[str]:
        """Replace the passages of the documents that were added in every index; returns their PMIDs.

        Searches may miss them until `refresh_all`. The indexes are looked up again after each write: one that was begun
        meanwhile is written to as well, so that nothing is missing from it when it is switched to.
        """
        documents, self._documents = self._documents, []
        if documents:
            with searched_index(self._backends) as (embeddings, passages):
                self._write(documents, embeddings, passages)
                written = {passages.name()}
                while others := [each for each in self._backends.indexes.all() if each.name not in written]:
                    for each in others:
                        twin = passages if each.fingerprint == embeddings.fingerprint else None
                        with unless_removed(each, self._backends):
                            _write_each(documents, model_of(each, self._backends), each.passages, twin)
                        written.add(each.name)
            if second := self._backends.multilingual:
                second.put(documents)
        self._entries, self._began = [], self._backends.now()
        return [document.article.pmid for document in documents]

    def _write(self, documents: Sequence[Document], embeddings: Embeddings, passages: Passages) -> None:
        if embeddings.fingerprint == self._fingerprint and len(self._entries) == len(documents):
            try:
                passages.upsert_chunks(self._entries, refresh=False)
                return
            except Conflict:  # a vector that was known is not stored any more
                pass
        _write_each(documents, embeddings, passages)


def _write_each(
    documents: Sequence[Document], embeddings: Embeddings, passages: Passages, twin: Passages | None = None
) -> None:
    for part in slices(documents):
        write_passages(part, embeddings, passages, twin=twin)
