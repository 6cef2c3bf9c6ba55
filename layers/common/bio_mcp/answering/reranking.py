"""Have a reranker read the best papers of a search, and order them anew."""

from collections.abc import Sequence
from dataclasses import replace

from bio_mcp.answering.retrieving import Question, Retrieved, find
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Failure
from bio_mcp.ports import Backends
from bio_mcp.retrieval.excerpts import best_chunk
from bio_mcp.retrieval.ranking import Ranked, rerank

BEST = 30  # papers that are read; the others stay behind them
FAILED = "The reranker did not answer, so the hits are in the order of the search: {}"


def find_reranked(question: Question, backends: Backends, deadline: Deadline = NEVER) -> Retrieved:
    """Find papers as `find` does, with the best `BEST` in the order of the reranker, if there is one.

    Where it fails the order is that of the search, and a warning says why. Raises what `find` raises, and
    `DeadlineExceeded` only where the call's own time is over.
    """
    retrieved = find(question, backends, deadline)
    reranker = backends.reranker
    if reranker is None or len(retrieved.ranked) < 2:
        return retrieved
    texts = _texts(retrieved.ranked[:BEST], retrieved, backends)
    if not texts:
        return retrieved
    try:
        scores = reranker.scores(question.text, list(texts.values()), deadline)
    except Failure as failure:
        deadline.check("answering in the order of the search")
        return replace(retrieved, warnings=(*retrieved.warnings, FAILED.format(failure)))
    return replace(retrieved, ranked=rerank(retrieved.ranked, dict(zip(texts, scores, strict=True))))


def _texts(best: Sequence[Ranked], retrieved: Retrieved, backends: Backends) -> dict[str, str]:
    """The title and the best passage of each paper that is still there, by PMID."""
    pmids = [each.candidate.pmid for each in best]
    documents, chunks = backends.documents.get_many(pmids), backends.passages.chunks(pmids, None)
    return {
        (pmid := each.candidate.pmid): _text(
            documents[pmid].article.title or "",
            best_chunk(chunks[pmid], each.candidate.chunk_id, retrieved.terms).text,
        )
        for each in best
        if each.candidate.pmid in documents and chunks.get(each.candidate.pmid)
    }


def _text(title: str, passage: str) -> str:
    return passage if passage.startswith(title) else f"{title} {passage}"
