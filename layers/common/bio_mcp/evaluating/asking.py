"""Ask the questions of a set, with what a search or an answer needs for that."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bio_mcp.answering.answers import answer
from bio_mcp.answering.extracts import Extract
from bio_mcp.answering.search import Question, find_reranked
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.evaluating.figures import DEEPEST, AnswerOutcome, CitedOutcome, Outcome
from bio_mcp.evaluating.questions import JudgedQuestion
from bio_mcp.literature.records import CitedSpan, Document, RetractionStatus
from bio_mcp.ports import Backends, BackendsOver
from bio_mcp.ports.stores import Embeddings, StoredAnswer
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.passages import Candidate, PassageQuery
from bio_mcp.retrieval.sentence_roles import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMEMBERED = 20_000  # texts of either kind whose vectors are held in memory, 1.5 kB each


def asked_by_evaluation(backends: Backends, embeddings: Embeddings, gone: Collection[str] = ()) -> Backends:
    """The backends, with these embeddings, as if the papers in `gone` were not in the corpus.

    Statistics of words still count them. Answers are not stored.
    """
    own: dict[str, Any] = {"embeddings": embeddings, "answers": _NoAnswers()}
    if left_out := frozenset(gone):
        own["passages"] = _PassagesWithout(backends.passages, left_out)
        own["documents"] = _DocumentsWithout(backends.documents, left_out)
    return BackendsOver(backends, **own)


@dataclass(frozen=True)
class _Without:
    """A port over another, without the papers that are gone."""

    below: Any
    gone: frozenset[str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


class _PassagesWithout(_Without):
    """Passages of which a search returns what it would return if some papers were not there."""

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        """Search as deep as it takes to have the best `query.depth` of the other papers by each leg."""
        within = None if query.within is None else query.within - self.gone
        deeper = replace(query, depth=query.depth + len(self.gone), within=within)
        found = [each for each in self.below.hybrid_search(deeper) if each.pmid not in self.gone]
        for leg in ("bm25", "sim"):  # ties are broken by PMID, the highest first
            scored = [(score, int(each.pmid), each) for each in found if (score := getattr(each, leg)) is not None]
            for *_, beyond in sorted(scored, reverse=True)[query.depth :]:
                setattr(beyond, leg, None)
                if leg == "sim":
                    beyond.chunk_id = None
        return [each for each in found if each.bm25 is not None or each.sim is not None]


class _DocumentsWithout(_Without):
    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        there: dict[str, Document] = self.below.get_many([pmid for pmid in pmids if pmid not in self.gone])
        return there


class _NoAnswers:
    """The port `Answers` of a store that holds nothing."""

    def put(self, answer: StoredAnswer) -> None:
        """It is not stored."""

    def citing(self, pmid: str) -> list[StoredAnswer]:  # noqa: ARG002  the port's signature
        return []


class RememberedEmbeddings:
    """The port `Embeddings` over another, which embeds texts one by one, and each of the last `REMEMBERED` once."""

    def __init__(self, model: Embeddings) -> None:
        self.fingerprint, self.dim, self.max_tokens = model.fingerprint, model.dim, model.max_tokens
        self.count_tokens = model.count_tokens
        self._question = lru_cache(REMEMBERED)(lambda text: model.embed_questions([text])[0])
        self._passage = lru_cache(REMEMBERED)(lambda text: model.embed([text])[0])

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._stacked(map(self._question, texts))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._stacked(map(self._passage, texts))

    def _stacked(self, vectors: Iterable["NDArray[np.float32]"]) -> "NDArray[np.float32]":
        import numpy as np

        return np.array(list(vectors), np.float32).reshape(-1, self.dim)


SHARED = 0.5  # of the shorter of a quote and a rationale, which they overlap in at least


class Asking:
    """Asks the questions of one evaluation of a corpus; with `answers` they are answered too."""

    def __init__(self, backends: Backends, deadline: Deadline, *, answers: bool) -> None:
        self._backends, self._deadline, self._answers = backends, deadline, answers
        self._embeddings = RememberedEmbeddings(backends.embeddings)

    def ask(self, question: JudgedQuestion) -> Outcome:
        """Search for the question, answer it, and answer it once more without the papers that do.

        Raises what `find` and `answer` raise.
        """
        corpus = asked_by_evaluation(self._backends, self._embeddings)
        answered = self._answered(question, corpus) if self._answers else None
        without = None
        if answered and question.pmids:
            gone = asked_by_evaluation(self._backends, self._embeddings, (*question.citable, *question.retracted))
            without = self._answered(question, gone)
        order = ranking(question.text, corpus, self._deadline)
        places = tuple(place for place, pmid in enumerate(order, 1) if pmid in question.pmids)
        judged = bool(question.passages)
        return Outcome(question.question_id, len(question.pmids), places, judged, answered, without)

    def _answered(self, question: JudgedQuestion, corpus: Backends) -> AnswerOutcome:
        """The answer; a question that cannot be answered, as in a language that is not read, counts as withheld."""
        try:
            given = answer(question.text, corpus, self._deadline)
        except InvalidInput:
            return AnswerOutcome(answered=False, confidence=0.0)
        cited = tuple(self._cited(question, each) for each in given.cited)
        return AnswerOutcome(
            given.reason is None, given.confidence, cited, tuple(each.cites for each in given.sentences)
        )

    def _cited(self, question: JudgedQuestion, extract: Extract) -> CitedOutcome:
        span = extract.span
        try:
            article = self._backends.documents.at_version(span.pmid, span.version).article
        except NotFound:
            return CitedOutcome(intact=False)
        text = abstract_text(article)
        quotes = [each.quote for each in question.passages if each.pmid == span.pmid]
        return CitedOutcome(
            right=span.pmid in question.citable,
            finding=extract.role in (Role.RESULT, Role.CONCLUSION),
            evidence=_is_evidence(text, span, quotes),
            intact=text[span.start : span.end] == span.quote != "",
            retracted=article.retraction is RetractionStatus.RETRACTED,
        )


def ranking(text: str, corpus: Backends, deadline: Deadline) -> list[str]:
    """The first papers that a search finds, retracted ones left out; none for what it cannot read."""
    try:
        ranked = find_reranked(Question(text), corpus, deadline).ranked
    except InvalidInput:
        return []
    found = (each.candidate for each in ranked)
    return [each.pmid for each in found if each.retraction is not RetractionStatus.RETRACTED][:DEEPEST]


def _is_evidence(text: str, span: CitedSpan, quotes: Iterable[str]) -> bool:
    """Whether the span and a rationale of its paper have half of the shorter in common."""
    found = ((start, start + len(quote)) for quote in quotes if (start := text.find(quote)) >= 0)
    return any(
        min(span.end, end) - max(span.start, start) >= SHARED * min(span.end - span.start, end - start)
        for start, end in found
    )
