"""Rebuild the passage index from the stored papers: after a restore, or for another embedding model."""

from collections.abc import Iterable, Iterator, Sequence

from bio_mcp.errors import ModelMismatch
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Passages
from bio_mcp.progress import Progress, silent
from bio_mcp.syncing.settling import slices, write_passages


def reindex(backends: Backends, progress: Progress = silent) -> bool:
    """Bring the index to what the stored papers say, and the multilingual one where it is configured. True if the index
    had another model's vectors and was rebuilt.

    Texts whose vectors are stored are not embedded again, so a second run is quick and a stopped one can be repeated.
    No paper is marked as indexed: changes that a stopped sync has not announced are left for the next sync to announce.
    `progress` is called with the number of papers written and of all papers.
    """
    embeddings, passages, papers = backends.embeddings, backends.passages, backends.documents.count()
    second, done = backends.multilingual, 0
    if second:
        second.renew()

    def write(pmids: Iterable[str], into: Passages) -> None:
        nonlocal done
        for part in slices(pmids):
            documents = list(backends.documents.get_many(part).values())
            write_passages(documents, embeddings, into)
            into.delete(withdrawn := _withdrawn(part, backends))
            if second:
                second.put(documents)
                second.refresh()
                second.delete(withdrawn)
            done += len(documents)
            progress(done, max(done, papers), str(done))

    try:
        passages.ensure_schema(embeddings.fingerprint, embeddings.dim)
    except ModelMismatch:
        passages.renew(embeddings.fingerprint, embeddings.dim, write)
        write(_missing(backends), passages)
        return True
    write(backends.documents.pmids(), passages)
    return False


def _withdrawn(pmids: Sequence[str], backends: Backends) -> list[str]:
    """PMIDs that a sync deleted while they were being written."""
    heads = backends.documents.heads(pmids)
    return [pmid for pmid in pmids if pmid not in heads]


def _missing(backends: Backends) -> Iterator[str]:
    """Yield the stored papers that have no entry in the index, not even an empty one."""
    for part in slices(backends.documents.pmids()):
        there = backends.passages.chunk_texts(part)
        yield from (pmid for pmid in part if pmid not in there)
