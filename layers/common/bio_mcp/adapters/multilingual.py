"""The second index of papers: any engine's passages, with a multilingual model's vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bio_mcp.errors import ModelMismatch
from bio_mcp.literature.records import Document
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.retrieval.chunking import whole_chunk
from bio_mcp.retrieval.index_entries import entry_of
from bio_mcp.retrieval.passages import Candidate, Chunk, Entry, Filters, PassageQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MultilingualIndex:
    """The port `Multilingual` over passages of their own. Nothing is searched by words here."""

    def __init__(self, passages: Passages, model: Embeddings) -> None:
        self.passages, self._model = passages, model

    def search(self, text: str, filters: Filters, depth: int) -> list[Candidate]:
        self.passages.check_model(self._model.fingerprint, self._model.dim)
        query = PassageQuery((), self._model.embed_questions([text])[0], filters, depth)
        found = self.passages.hybrid_search(query)
        self.passages.check_model(self._model.fingerprint, self._model.dim)  # it may have been renewed meanwhile
        return sorted(found, key=lambda each: (-(each.sim or 0.0), -int(each.pmid)))

    def put(self, documents: Sequence[Document]) -> None:
        self.passages.ensure_schema(self._model.fingerprint, self._model.dim)
        stored = self.passages.chunk_texts([each.article.pmid for each in documents])
        count, most = self._model.count_tokens, self._model.max_tokens
        chunks = {each.article.pmid: whole_chunk(each.article, count, most) for each in documents}
        new = {
            pmid: chunk.embedded_text
            for pmid, chunk in chunks.items()
            if stored.get(pmid, {}).get(chunk.chunk_id) != chunk.embedded_sha256
        }
        embedded = self._model.embed(list(new.values())) if new else ()
        vectors = {pmid: {chunks[pmid].chunk_id: vector} for pmid, vector in zip(new, embedded, strict=True)}
        self.passages.upsert_chunks(
            [_entry(each, chunks[each.article.pmid], vectors.get(each.article.pmid, {})) for each in documents],
            refresh=False,
        )

    def refresh(self) -> None:
        self.passages.refresh(self._model.fingerprint, self._model.dim)

    def delete(self, pmids: Sequence[str]) -> None:
        self.passages.delete(pmids)

    def renew(self) -> None:
        model = (self._model.fingerprint, self._model.dim)
        try:
            self.passages.ensure_schema(*model)
        except ModelMismatch:
            self.passages.renew(*model)

    def count(self) -> int:
        return self.passages.count()[0]


def _entry(document: Document, chunk: Chunk, vectors: "Mapping[str, NDArray[np.float32]]") -> Entry:
    """The paper's entry, without the words that only the corpus' own index is searched by."""
    return replace(entry_of(document, [chunk], vectors), terms=[document.article.pmid])
