"""Has worker processes embed the papers of later parts while those before them are written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article, Deletion, Document
from bio_mcp.one_index import one_index
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.ports.workers import Workers
from bio_mcp.retrieval.passages import Entry
from bio_mcp.syncing.indexing import SLICE, embedded, slices
from bio_mcp.syncing.revisions import revise

if TYPE_CHECKING:
    from concurrent.futures import Future

Record = Article | Deletion


@dataclass(slots=True)
class Piece:
    """Consecutive records that are settled together, and what the workers make of those that must be embedded.

    Which ones is a guess from what is stored while others are still being written: what turns out to be missing is
    embedded by the process that writes.
    """

    records: Sequence[Record]
    articles: Sequence[Article] = ()
    batches: "Sequence[Future[list[Entry | OddRecord]]]" = ()
    fingerprint: str = ""  # of the workers' model

    def odd(self) -> dict[str, OddRecord]:
        """PMID -> why it cannot be embedded. Waits for the workers; raises what they fail with."""
        return {article.pmid: each for article, each in self._made() if isinstance(each, OddRecord)}

    def embedded(self, documents: Sequence[Document], embeddings: Embeddings, passages: Passages) -> list[Entry]:
        """Do what `indexing.embedded` does, with the workers' entries where there are some of this model."""
        ours = self._made() if embeddings.fingerprint == self.fingerprint else ()
        made = {id(article): each for article, each in ours if isinstance(each, Entry)}
        rest = [document for document in documents if id(document.article) not in made]
        found = iter(embedded(rest, embeddings, passages) if rest else ())
        entries = [made.get(id(document.article)) or next(found) for document in documents]
        for document, entry in zip(documents, entries, strict=True):
            entry.version = document.version
        return entries

    def _made(self) -> Iterator[tuple[Article, Entry | OddRecord]]:
        return zip(self.articles, chain.from_iterable(batch.result() for batch in self.batches), strict=True)


def pieces(records: Sequence[Record], backends: Backends, workers: Workers | None) -> Iterator[Piece]:
    """Cut records into pieces, in order, and have the workers begin with each; without workers, into one of all.

    A piece has as many papers to embed as the index is refreshed after, at least `SLICE`.
    """
    if workers is None:
        yield Piece(records)
        return
    articles = [record for record in records if isinstance(record, Article)]
    heads = backends.documents.heads([article.pmid for article in articles])
    changed = {id(article) for article in articles if revise(article, heads.get(article.pmid)).document}
    most = max(SLICE, backends.passages.refresh_after())
    start, part = 0, list[Article]()
    for end, record in enumerate(records, 1):
        if isinstance(record, Article) and id(record) in changed:
            part.append(record)
        if len(part) == most or end == len(records):
            with one_index():
                known = backends.passages.chunk_texts([each.pmid for each in part if each.pmid in heads])
            batches = [workers.prepare(batch, known) for batch in slices(part)]
            yield Piece(records[start:end], part, batches, workers.fingerprint)
            start, part = end, []
