"""The corpus as an evaluation asks it: without some papers, storing no answer, and embedding each sentence once."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends
from bio_mcp.ports.answers import StoredAnswer
from bio_mcp.ports.stores import Documents, Embeddings, Passages
from bio_mcp.retrieval.passages import Candidate, PassageQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]

REMEMBERED = 20_000  # texts whose vectors are held in memory, 1.5 kB each


def asked_by_evaluation(backends: Backends, embeddings: Embeddings, gone: Collection[str] = ()) -> Backends:
    """The backends, with these embeddings, as if the papers in `gone` were not in the corpus.

    Statistics of words still count them. Answers are not stored.
    """
    return cast(Backends, _View(backends, embeddings, frozenset(gone)))


def over_index(backends: Backends, embeddings: Embeddings, passages: Passages) -> Backends:
    """The backends, searching these passages by this model."""
    return cast(Backends, _OverIndex(backends, embeddings, passages))


class _OverIndex:
    """`Backends` over others, with an index of its own."""

    def __init__(self, backends: Backends, embeddings: Embeddings, passages: Passages) -> None:
        self._backends, self.embeddings, self.passages = backends, embeddings, passages

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backends, name)


class _View:
    """`Backends` over others, some ports aside."""

    def __init__(self, backends: Backends, embeddings: Embeddings, gone: frozenset[str]) -> None:
        self._backends, self.embeddings, self.answers = backends, embeddings, _NoAnswers()
        self.passages = _PassagesWithout(backends.passages, gone) if gone else backends.passages
        self.documents = _DocumentsWithout(backends.documents, gone) if gone else backends.documents

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backends, name)


class _PassagesWithout:
    """Passages of which a search returns what it would return if some papers were not there."""

    def __init__(self, passages: Passages, gone: frozenset[str]) -> None:
        self._passages, self._gone = passages, gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._passages, name)

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        """Search as deep as it takes to have the best `query.depth` of the other papers by each leg."""
        within = None if query.within is None else query.within - self._gone
        deeper = replace(query, depth=query.depth + len(self._gone), within=within)
        found = [each for each in self._passages.hybrid_search(deeper) if each.pmid not in self._gone]
        lexical, semantic = _best(found, "bm25", query.depth), _best(found, "sim", query.depth)
        cut = (_of_legs(each, each.pmid in lexical, each.pmid in semantic) for each in found)
        return [each for each in cut if each.bm25 is not None or each.sim is not None]


def _best(candidates: Sequence[Candidate], leg: str, depth: int) -> set[str]:
    """The best `depth` papers of a leg, which breaks ties by PMID, the highest first."""
    scored = [(score, int(each.pmid), each.pmid) for each in candidates if (score := getattr(each, leg)) is not None]
    return {pmid for _, _, pmid in sorted(scored, reverse=True)[:depth]}


def _of_legs(candidate: Candidate, lexical: bool, semantic: bool) -> Candidate:
    """The candidate with the scores of those legs that returned it."""
    return replace(
        candidate,
        bm25=candidate.bm25 if lexical else None,
        sim=candidate.sim if semantic else None,
        chunk_id=candidate.chunk_id if semantic else None,
    )


class _DocumentsWithout:
    """Documents, some of which cannot be read."""

    def __init__(self, documents: Documents, gone: frozenset[str]) -> None:
        self._documents, self._gone = documents, gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        """Those that are there."""
        return self._documents.get_many([pmid for pmid in pmids if pmid not in self._gone])


class _NoAnswers:
    """The port `Answers` of a store that holds nothing."""

    def put(self, answer: StoredAnswer) -> None:
        """It is not stored."""

    def citing(self, pmid: str) -> list[StoredAnswer]:  # noqa: ARG002  the port's signature
        """None."""
        return []


class RememberedEmbeddings:
    """The port `Embeddings` over another, which embeds each of the first `REMEMBERED` texts once."""

    def __init__(self, model: Embeddings) -> None:
        self._model = model
        self.fingerprint, self.dim, self.max_tokens = model.fingerprint, model.dim, model.max_tokens
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As the model counts them."""
        return self._model.count_tokens(texts)

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One unit vector per question."""
        return self._remembered("question", texts, self._model.embed_questions)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One unit vector per passage."""
        return self._remembered("passage", texts, self._model.embed)

    def _remembered(self, kind: str, texts: Sequence[str], embed: "Embed") -> "NDArray[np.float32]":
        import numpy as np

        asked = [(kind, text) for text in texts]
        new = [each for each in dict.fromkeys(asked) if each not in self._vectors]
        fresh = dict(zip(new, embed([text for _, text in new]), strict=True)) if new else {}
        vectors = np.stack([fresh[each] if each in fresh else self._vectors[each] for each in asked])
        if len(self._vectors) + len(fresh) <= REMEMBERED:
            self._vectors.update(fresh)
        return vectors
