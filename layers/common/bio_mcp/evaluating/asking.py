"""Ask one question through the product's own search, and note where its papers stand."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from bio_mcp.answering.retrieving import Question, find
from bio_mcp.deadline import Deadline
from bio_mcp.evaluating.metrics import DEEPEST
from bio_mcp.evaluating.outcomes import RankingOutcome
from bio_mcp.evaluating.questions import JudgedQuestion
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.passages import PassageQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR_MISSES = 5  # papers most similar to one that answers the question, which do not answer it


def ranked(question: JudgedQuestion, backends: Backends, deadline: Deadline) -> RankingOutcome:
    """Search for the question. Raises what `find` raises."""
    found = find(Question(question.text), backends, deadline).ranked
    candidates = [each.candidate for each in found]
    order = [each.pmid for each in candidates if each.retraction is not RetractionStatus.RETRACTED][:DEEPEST]
    place = {pmid: number for number, pmid in enumerate(order, 1)}
    places = tuple(sorted(place[pmid] for pmid in question.pmids if pmid in place))
    near = [place[pmid] for pmid in near_misses(question, backends) if pmid in place]
    return RankingOutcome(question.question_id, len(question.pmids), places, min(near, default=None))


def near_misses(question: JudgedQuestion, backends: Backends) -> list[str]:
    """The papers whose text is most similar to that of the papers that answer the question, and which do not.

    Similar by the best window's cosine to the mean vector of such a paper. Retracted papers are left out.
    """
    vectors = backends.passages.document_vectors(question.pmids)
    wrong = dict.fromkeys(pmid for vector in vectors.values() for pmid in _nearest(vector, {*question.pmids}, backends))
    return list(wrong)


def _nearest(vector: "NDArray[np.float32]", right: Collection[str], backends: Backends) -> list[str]:
    query = PassageQuery((), vector, depth=NEAR_MISSES + 2 * len(right))
    candidates = [
        each
        for each in backends.passages.hybrid_search(query)
        if each.pmid not in right and each.retraction is not RetractionStatus.RETRACTED
    ]
    candidates.sort(key=lambda each: (-(each.sim or 0), int(each.pmid)))
    return [each.pmid for each in candidates[:NEAR_MISSES]]
