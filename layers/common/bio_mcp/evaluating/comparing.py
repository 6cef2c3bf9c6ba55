"""Compare two indexes of the papers by what they find: the one that is searched and the one beside it.

A set with a corpus of its own is asked of two corpora apart, embedded by either model; any other of the papers
themselves. How alike the first ten are is always measured on the papers themselves, and of two indexes of one model,
which ought to find the same, it is a figure; corpora apart would say nothing about these.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bio_mcp.answering.reranking import find_reranked
from bio_mcp.answering.retrieving import Question
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating import measures
from bio_mcp.evaluating.bootstrap import interval_of_mean
from bio_mcp.evaluating.corpora import fill
from bio_mcp.evaluating.questions import EvaluationSet, JudgedQuestion
from bio_mcp.evaluating.ranking_metrics import DEEPEST
from bio_mcp.evaluating.views import RememberedEmbeddings, over_index
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.indexes import PaperIndex
from bio_mcp.progress import Progress
from bio_mcp.syncing.indexing import model_of

FIRST = 10  # papers that people look at
APART = 0.1  # of these, in which two indexes of one model may differ: more than any way of storing vectors changes

Measure = Callable[[Sequence[int], int], float]
MEASURES: dict[str, Measure] = {
    f"nDCG@{FIRST}": lambda places, relevant: measures.ndcg(places, relevant, FIRST),
    f"R@{FIRST}": lambda places, relevant: measures.recall(places, relevant, FIRST),
    f"R@{DEEPEST}": lambda places, relevant: measures.recall(places, relevant, DEEPEST),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of both indexes, and the 95 % interval of `next - searched`, question by question."""

    name: str
    searched: float
    next: float
    low: float
    high: float
    questions: int
    tolerated: float = 0.0

    @property
    def is_worse(self) -> bool:
        """Whether the other index is worse by more than chance, and by more than is tolerated."""
        return self.high < -self.tolerated


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures, and the mean share of the first ten papers that both indexes have in common, with its interval."""

    differences: tuple[Difference, ...]
    overlap: float
    overlap_low: float
    overlap_high: float

    @property
    def worse(self) -> list[Difference]:
        """The figures that are worse by more than chance."""
        return [each for each in self.differences if each.is_worse]


def compare(
    questions: EvaluationSet,
    searched: PaperIndex,
    other: PaperIndex,
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
) -> Comparison:
    """Ask all questions of both indexes. Raises `InvalidInput` for a set of which no question has an answer."""
    asked = [each for each in questions.questions if each.pmids]
    if not asked:
        raise InvalidInput("The set has no question with papers that answer it.")
    here = [_over(each, backends) for each in (searched, other)]
    alike = [_alike(*(_ranking(each, one, deadline) for one in here)) for each in _counted(asked, progress)]
    overlap, low, high = _mean(alike), *interval_of_mean(alike)
    found = list[Difference]()
    same = searched.fingerprint == other.fingerprint
    if same:
        found.append(Difference(f"alike@{FIRST}", 1.0, overlap, low - 1, high - 1, len(asked), APART))
    if not (same and questions.articles):
        with _corpora(questions, here, backends, deadline, progress) as corpora:
            places = [[_places(each, one, deadline) for one in corpora] for each in _counted(asked, progress)]
        found += (_difference(name, measure, asked, places) for name, measure in MEASURES.items())
    return Comparison(tuple(found), overlap, low, high)


def _over(index: PaperIndex, backends: Backends) -> Backends:
    return over_index(backends, RememberedEmbeddings(model_of(index, backends)), index.passages)


@contextmanager
def _corpora(
    questions: EvaluationSet, here: Sequence[Backends], backends: Backends, deadline: Deadline, progress: Progress
) -> Iterator[Sequence[Backends]]:
    """The two corpora that the questions are about."""
    if questions.articles is None:
        yield here
        return
    name = f"{questions.name}-{questions.version}"
    old, new = (each.embeddings for each in here)
    with backends.scratch(name, old) as one, backends.scratch(name, new) as other:
        for each in (one, other):
            fill(questions.articles(), each, deadline, progress)
            deadline.check("embedding the papers of the set")
        yield one, other


def _ranking(question: JudgedQuestion, corpus: Backends, deadline: Deadline) -> list[str]:
    found = (each.candidate for each in find_reranked(Question(question.text), corpus, deadline).ranked)
    return [each.pmid for each in found if each.retraction is not RetractionStatus.RETRACTED][:DEEPEST]


def _places(question: JudgedQuestion, corpus: Backends, deadline: Deadline) -> list[int]:
    order = _ranking(question, corpus, deadline)
    return [place for place, pmid in enumerate(order, 1) if pmid in question.pmids]


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the first papers of either that both have; 1 where neither finds any."""
    most = max(len(one[:FIRST]), len(other[:FIRST]))
    return len(set(one[:FIRST]) & set(other[:FIRST])) / most if most else 1.0


def _difference(
    name: str, measure: Measure, asked: Sequence[JudgedQuestion], places: Sequence[Sequence[Sequence[int]]]
) -> Difference:
    values = [
        [measure(each, len(question.pmids)) for each in both] for question, both in zip(asked, places, strict=True)
    ]
    low, high = interval_of_mean([new - old for old, new in values])
    return Difference(name, _mean([old for old, _ in values]), _mean([new for _, new in values]), low, high, len(asked))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _counted(asked: Sequence[JudgedQuestion], progress: Progress) -> Iterator[JudgedQuestion]:
    for number, each in enumerate(asked, 1):
        yield each
        progress(number, len(asked), f"{number:,} questions")
