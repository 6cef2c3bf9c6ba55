"""Compare two indexes of the papers by what they find: the one that is searched and the one beside it.

A set with a corpus of its own is asked of two corpora apart, embedded by either model; any other of the papers
themselves. How alike the first ten are is always measured on the papers themselves, and of two indexes of one model,
which ought to find the same, it is a figure; corpora apart would say nothing about these."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import fmean

from bio_mcp.deadline import Deadline, Progress
from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.asking import RememberedEmbeddings, ranking
from bio_mcp.evaluating.figures import DEEPEST, interval_of_mean, ndcg, recall
from bio_mcp.evaluating.questions import EvaluationSet, JudgedQuestion, fill
from bio_mcp.ports import Backends, BackendsOver
from bio_mcp.ports.models import PaperIndex
from bio_mcp.syncing.indexing import model_of

FIRST = 10  # papers that people look at
APART = 0.1  # of these, in which two indexes of one model may differ: more than any way of storing vectors changes

Measure = Callable[[Sequence[int], int], float]
MEASURES: dict[str, Measure] = {
    f"nDCG@{FIRST}": lambda places, relevant: ndcg(places, relevant, FIRST),
    f"R@{FIRST}": lambda places, relevant: recall(places, relevant, FIRST),
    f"R@{DEEPEST}": lambda places, relevant: recall(places, relevant, DEEPEST),
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures, and the mean share of the first ten papers that both indexes have in common, with its interval."""

    differences: tuple[Difference, ...]
    overlap: float
    overlap_low: float
    overlap_high: float

    @property
    def worse(self) -> list[Difference]:
        """The figures by which the other index is worse by more than chance, and by more than is tolerated."""
        return [each for each in self.differences if each.high < -each.tolerated]


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
    here = [
        BackendsOver(backends, embeddings=RememberedEmbeddings(model_of(each, backends)), passages=each.passages)
        for each in (searched, other)
    ]
    alike = [_alike(*(ranking(each.text, one, deadline) for one in here)) for each in _counted(asked, progress)]
    overlap, low, high = fmean(alike), *interval_of_mean(alike)
    found = list[Difference]()
    same = searched.fingerprint == other.fingerprint
    if same:
        found.append(Difference(f"alike@{FIRST}", 1.0, overlap, low - 1, high - 1, len(asked), APART))
    if not (same and questions.articles):
        with _corpora(questions, here, backends, deadline, progress) as corpora:
            places = []
            for each in _counted(asked, progress):
                found_by = [ranking(each.text, one, deadline) for one in corpora]
                places.append([[at for at, pmid in enumerate(order, 1) if pmid in each.pmids] for order in found_by])
        found += (_difference(name, measure, asked, places) for name, measure in MEASURES.items())
    return Comparison(tuple(found), overlap, low, high)


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
    return Difference(name, fmean([old for old, _ in values]), fmean([new for _, new in values]), low, high, len(asked))


def _counted(asked: Sequence[JudgedQuestion], progress: Progress) -> Iterator[JudgedQuestion]:
    for number, each in enumerate(asked, 1):
        yield each
        progress(number, len(asked), f"{number:,} questions")


ALIKE = 1e-6  # figures are rounded to six decimals


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its interval. `rising`: more is better."""

    value: float
    low: float
    high: float
    rising: bool = True


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figures of one set at one time."""

    version: str
    model: str
    figures: Mapping[str, Figure]

    def regressions(self, version: str, model: str, values: Mapping[str, float], *, whole: bool = True) -> list[str]:
        """A sentence for each figure that is worse; none where nothing is.

        A `whole` evaluation has every figure of the baseline. Another version of the set, and another model, cannot be
        compared, which is a regression too.
        """
        for what, ours, theirs in (("version of the set", version, self.version), ("model", model, self.model)):
            if ours != theirs:
                return [f"the baseline is of another {what}; look at the figures and renew it"]
        worse = []
        for name, was in self.figures.items():
            value = values.get(name)
            if value is None:
                worse += [f"{name} is missing; it was {was.value:.3f}"] if whole else []
            elif value < was.low - ALIKE if was.rising else value > was.high + ALIKE:
                worse.append(f"{name} is {value:.3f}; it was {was.value:.3f} ({was.low:.3f} to {was.high:.3f})")
        return worse


def baselines_in(content: str) -> dict[str, Baseline]:
    """The baselines of a file, by name of the set. Raises `InvalidInput` for another file."""
    try:
        return {
            name: Baseline(each["version"], each["model"], {of: Figure(**it) for of, it in each["figures"].items()})
            for name, each in json.loads(content).items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput("BIO_MCP_EVAL_BASELINE: this is no file of baselines") from None


def written(baselines: Mapping[str, Baseline]) -> str:
    return json.dumps({name: asdict(each) for name, each in sorted(baselines.items())}, indent=1) + "\n"
