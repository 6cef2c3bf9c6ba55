"""Ask one question through the product's own search and answering, and note what became of it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bio_mcp.answering.answers import Answer, Asked, answer
from bio_mcp.answering.reranking import find_reranked
from bio_mcp.answering.retrieving import Question
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.evaluating.outcomes import AnswerOutcome, CitedOutcome, Outcome, RankingOutcome
from bio_mcp.evaluating.questions import JudgedQuestion
from bio_mcp.evaluating.ranking_metrics import DEEPEST
from bio_mcp.evaluating.views import RememberedEmbeddings, asked_by_evaluation
from bio_mcp.literature.citations import CitedSpan
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.passages import PassageQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR_MISSES = 5  # papers most similar to one that answers the question, which do not answer it
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
        judged = _Judged(question, frozenset(near_misses(question, corpus)))
        answered = without = None
        if self._answers:
            answered = self._answered(judged, corpus)
        if self._answers and question.pmids:
            gone = asked_by_evaluation(self._backends, self._embeddings, (*question.pmids, *question.retracted))
            without = self._answered(judged, gone)
        ranking = self._ranking(question, judged.near_misses, corpus)
        has_rationale = bool(question.rationale)
        return Outcome(question.question_id, len(question.pmids), ranking, has_rationale, answered, without)

    def _answered(self, judged: "_Judged", corpus: Backends) -> AnswerOutcome:
        """The answer; a question that cannot be answered, as in a language that is not read, counts as withheld."""
        try:
            given = answer(Asked(judged.question.text), corpus, self._deadline)
        except InvalidInput:
            return AnswerOutcome(answered=False, confidence=0.0)
        return judged.outcome(given, self._backends)

    def _ranking(self, question: JudgedQuestion, near: Collection[str], corpus: Backends) -> RankingOutcome:
        found = find_reranked(Question(question.text), corpus, self._deadline).ranked
        candidates = [each.candidate for each in found]
        order = [each.pmid for each in candidates if each.retraction is not RetractionStatus.RETRACTED][:DEEPEST]
        place = {pmid: number for number, pmid in enumerate(order, 1)}
        places = tuple(sorted(place[pmid] for pmid in question.pmids if pmid in place))
        return RankingOutcome(places, min((place[pmid] for pmid in near if pmid in place), default=None))


def near_misses(question: JudgedQuestion, backends: Backends) -> list[str]:
    """The papers whose text is most similar to that of the papers that answer the question, and which do not.

    Similar by the best window's cosine to the mean vector of such a paper. Retracted papers are left out.
    """
    vectors = backends.passages.document_vectors(question.pmids)
    wrong = dict.fromkeys(pmid for vector in vectors.values() for pmid in _nearest(vector, question, backends))
    return list(wrong)


def _nearest(vector: "NDArray[np.float32]", question: JudgedQuestion, backends: Backends) -> list[str]:
    query = PassageQuery((), vector, depth=NEAR_MISSES + 2 * len(question.pmids))
    candidates = [
        each
        for each in backends.passages.hybrid_search(query)
        if each.pmid not in question.pmids and each.retraction is not RetractionStatus.RETRACTED
    ]
    candidates.sort(key=lambda each: (-(each.sim or 0), int(each.pmid)))
    return [each.pmid for each in candidates[:NEAR_MISSES]]


@dataclass(frozen=True, slots=True)
class _Judged:
    """Compares answers with what is known of their question."""

    question: JudgedQuestion
    near_misses: frozenset[str]

    def outcome(self, given: Answer, backends: Backends) -> AnswerOutcome:
        cited = tuple(self._cited(each.span, backends) for each in given.cited)
        sentences = tuple(each.cites for each in given.sentences)
        return AnswerOutcome(given.reason is None, given.confidence, cited, sentences)

    def _cited(self, span: CitedSpan, backends: Backends) -> CitedOutcome:
        try:
            article = backends.documents.at_version(span.pmid, span.version).article
        except NotFound:
            return CitedOutcome(intact=False)
        text = _text_of(article, span.field)
        quotes = [each.quote for each in self.question.rationale if each.pmid == span.pmid]
        return CitedOutcome(
            right=span.pmid in self.question.pmids,
            evidence=_is_evidence(text, span, quotes),
            intact=text[span.start : span.end] == span.quote != "",
            near_miss=span.pmid in self.near_misses,
            retracted=article.retraction is RetractionStatus.RETRACTED,
        )


def _text_of(article: Article, field: str) -> str:
    return abstract_text(article) if field == "abstract" else article.title or ""


def _is_evidence(text: str, span: CitedSpan, quotes: Iterable[str]) -> bool:
    """Whether the span and a rationale of its paper have half of the shorter in common."""
    for quote in quotes:
        start = text.find(quote)
        shared = min(span.end, start + len(quote)) - max(span.start, start)
        if start >= 0 and shared >= SHARED * min(span.end - span.start, len(quote)):
            return True
    return False
