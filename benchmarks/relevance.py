"""Fit the probabilities of rag.search, and print how well they hold on questions that were left out.

    python -m benchmarks.relevance [--write]

Every development question of SciFact and NFCorpus is asked twice, of the whole corpus and of one without the papers
that were judged to fit it; both again of 450 of its papers, so that the coefficients hold in a small corpus too. The
questions of other fields in off_topic.txt have no relevant paper anywhere. Each set weighs the same, a small one half.
Five folds over questions: both ways of asking one are in the same fold. PubMedQA, and off_topic_held_out.txt, are in
no fit and show how it carries over. `--write` replaces calibration.json, but for the confidence of answers, which
follows from these: then run `python -m benchmarks.answers --write`. Vectors are kept as the benchmark `retrieval` keeps
them.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.off_topic import asked, off_topic, papers
from benchmarks.retrieval import MODEL, NO_TITLES, KeptEmbeddings, fill
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.search import Question, Retrieved, search_papers
from bio_mcp.literature.clock import EASTERN
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.retrieval import relevance as calibration
from bio_mcp.retrieval.passages import Candidate, PassageQuery
from bio_mcp.retrieval.ranking import Ranked
from bio_mcp.retrieval.relevance import (
    FIRST,
    OF_PAPER,
    OF_PAPERS,
    background,
    features_of_paper,
    features_of_papers,
    shipped,
)

FITTED = {"scifact": 1.0, "nfcorpus": 1.0, "scifact, 450 papers": 0.5, "nfcorpus, 450 papers": 0.5}
CARRIED = ("pubmedqa",)
HITS, SMALL, JUDGED_AT_MOST = 20, 450, 10
FOLDS, BINS, RIDGE, STEPS, SEED = 5, 10, 1.0, 50, 2026
PLACE = Path(calibration.__file__).with_name("calibration.json")

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Without:
    """Passages without some papers. What they are asked for within others is not looked at."""

    def __init__(self, passages: SqlitePassages, pmids: frozenset[str]) -> None:
        self._passages, self._pmids, self.gone = passages, pmids, frozenset[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._passages, name)

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        if self.gone and query.within is None:
            query = replace(query, within=self._pmids - self.gone)
        return self._passages.hybrid_search(query)


@dataclass(frozen=True)
class Asked:
    """A question of `corpus` as it was asked: `kind` is whole, gone (without its judged papers) or a list's name."""

    corpus: str
    kind: str
    question: str
    right: frozenset[str]
    retrieved: Retrieved

    @property
    def first(self) -> list[Ranked]:
        return sorted(self.retrieved.ranked, key=lambda each: (-each.fused.score, -int(each.candidate.pmid)))


@dataclass
class Samples:
    """Rows of features with what they stand for: `right` 0 or 1, and the question as asked."""

    features: Numbers
    right: Numbers
    asked: list[Asked]

    @property
    def weights(self) -> Numbers:
        """What each row counts in a fit."""
        corpora = [each.corpus for each in self.asked]
        sizes = {name: corpora.count(name) for name in set(corpora)}
        shares = [FITTED.get(each.corpus, 0) * (each.kind != "off_topic_held_out") for each in self.asked]
        return np.array([1000 * share / sizes[name] for share, name in zip(shares, corpora, strict=True)])

    def of(self, corpus: str, *kinds: str) -> Mask:
        return np.array([each.corpus == corpus and each.kind in kinds for each in self.asked])


def corpora() -> Iterator[tuple[str, list[Article], list[tuple[str, frozenset[str]]]]]:
    """Each corpus by name: its papers, and its questions with the papers that were judged to fit."""
    for name in (*FITTED, *CARRIED):
        judged = asked(name.partition(",")[0])
        pairs = [(each, frozenset(grades)) for each, grades in zip(judged.questions, judged.grades, strict=True)]
        every = list(papers(name.partition(",")[0]))
        yield (name, *(small(every, pairs) if "," in name else (every, pairs)))


def small(
    every: list[Article], pairs: list[tuple[str, frozenset[str]]]
) -> tuple[list[Article], list[tuple[str, frozenset[str]]]]:
    """Some questions with few judged papers, these, and other papers up to `SMALL`."""
    chance = random.Random(SEED)  # noqa: S311  a sample, no secret
    few = [each for each in chance.sample(pairs, len(pairs)) if len(each[1]) <= JUDGED_AT_MOST]
    chosen, taken = set[str](), list[tuple[str, frozenset[str]]]()
    while few and len(chosen | few[-1][1]) <= SMALL // 2:
        taken.append(few.pop())
        chosen |= taken[-1][1]
    others = sorted(each.pmid for each in every if each.pmid not in chosen)
    chosen |= set(chance.sample(others, SMALL - len(chosen)))
    return [each for each in every if each.pmid in chosen], taken


def ask(model: KeptEmbeddings) -> Iterator[Asked]:
    for name, articles, pairs in corpora():
        with tempfile.TemporaryDirectory() as scratch:
            stored = SqlitePassages(Database(Path(scratch)))
            fill(stored, articles, model)
            passages = Without(stored, frozenset(each.pmid for each in articles))
            backends = SimpleNamespace(
                passages=passages, embeddings=model, documents=NO_TITLES, today=lambda: datetime.now(EASTERN).date()
            )
            for question, right in pairs:
                for kind, gone in (("whole", frozenset[str]()), ("gone", right)):
                    passages.gone = gone
                    yield Asked(name, kind, question, right, retrieved(question, backends))
            passages.gone = frozenset()
            for kind, questions in off_topic().items():
                yield from (Asked(name, kind, each, frozenset(), retrieved(each, backends)) for each in questions)


def retrieved(question: str, backends: object) -> Retrieved:
    return search_papers(Question(question, quality_bias=False), cast(Backends, backends))


def of_hits(asked: Sequence[Asked]) -> Samples:
    """A row for each of the first `HITS` hits: is it one that was judged to fit?"""
    rows, right, owners = [], [], []
    for each in asked:
        behind = background(each.retrieved.ranked, len(each.retrieved.terms))
        for hit in each.first[:HITS]:
            rows.append(features_of_paper(hit, behind))
            right.append(each.kind == "whole" and hit.candidate.pmid in each.right)
            owners.append(each)
    return Samples(np.array(rows), np.array(right, float), owners)


def of_papers(asked: Sequence[Asked]) -> Samples:
    """A row for each question: is one that was judged to fit among the first hits?"""
    rows, right = [], []
    for each in asked:
        some = each.first[:FIRST]
        behind = background(each.retrieved.ranked, len(each.retrieved.terms))
        rows.append(features_of_papers(some, behind))
        right.append(each.kind == "whole" and any(hit.candidate.pmid in each.right for hit in some))
    return Samples(np.array(rows), np.array(right, float), list(asked))


def fit(features: Numbers, right: Numbers, weights: Numbers) -> Numbers:
    """Logistic regression by Newton's method, with a small ridge on standardised weights; the intercept comes first."""
    used = weights > 0
    features, right, weights = features[used], right[used], weights[used]
    mean, spread = features.mean(axis=0), features.std(axis=0)
    rows = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[0, 0] = 0.0
    solution = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = sigmoid(rows @ solution)
        slope = rows.T @ (weights * (chances - right)) + ridge @ solution
        bend = (rows * (weights * chances * (1 - chances))[:, None]).T @ rows + ridge
        solution -= np.linalg.solve(bend, slope)
    slopes = solution[1:] / spread
    return np.concatenate([[solution[0] - slopes @ mean], slopes])


def sigmoid(odds: Numbers) -> Numbers:
    return cast(Numbers, 1 / (1 + np.exp(-np.clip(odds, -40, 40))))


def chances(solution: Numbers, features: Numbers) -> Numbers:
    return sigmoid(solution[0] + features @ solution[1:])


def held_out(samples: Samples) -> Numbers:
    """The probability of each row by the coefficients that the other folds gave."""
    weights = samples.weights
    folds = np.array([crc32(each.question.encode()) % FOLDS for each in samples.asked])
    found = np.zeros(len(samples.right))
    for fold in range(FOLDS):
        inside = folds == fold
        solution = fit(samples.features, samples.right, np.where(inside, 0, weights))
        found[inside] = chances(solution, samples.features[inside])
    return found


def auroc(right: Numbers, found: Numbers) -> float:
    _, places, counts = np.unique(found, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positive = right.sum()
    negative = len(right) - positive
    return float((ranks[right == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def calibration_error(right: Numbers, found: Numbers) -> float:
    """The expected calibration error over ten bins of equal width."""
    bins = np.minimum((found * BINS).astype(int), BINS - 1)
    inside = [bins == each for each in range(BINS) if (bins == each).any()]
    return float(sum(abs(right[each].mean() - found[each].mean()) * each.mean() for each in inside))


def measures(right: Numbers, found: Numbers) -> dict[str, float]:
    base = right.mean()
    return {
        "share": float(base),
        "auroc": auroc(right, found),
        "brier": float(((right - found) ** 2).mean()),
        "brier_of_share": float(base * (1 - base)),
        "ece": calibration_error(right, found),
    }


def fitted(name: str, samples: Samples, names: Sequence[str]) -> dict[str, Any]:
    """Print how the fit of `name` holds; returns its coefficients as they are shipped."""
    found, solution = held_out(samples), fit(samples.features, samples.right, samples.weights)
    pooled = np.any([samples.of(each, "whole", "gone") for each in FITTED], axis=0)
    print(f"\n{name}: {', '.join(f'{key} {value:+.2f}' for key, value in zip(names, solution[1:], strict=True))}\n")
    print("| questions, with and without their papers | rows | right | AUROC | Brier (of the share) | ECE |")
    print("|---|---|---|---|---|---|")
    for corpus in (*FITTED, *CARRIED):
        row(corpus, samples, found, samples.of(corpus, "whole", "gone"))
    row("**all that were fitted**", samples, found, pooled)
    every = measures(samples.right[pooled], found[pooled])
    return {
        "intercept": round(float(solution[0]), 6),
        "weights": {key: round(float(value), 6) for key, value in zip(names, solution[1:], strict=True)},
        "held_out": {key: round(value, 4) for key, value in every.items()},
    }


def row(title: str, samples: Samples, found: Numbers, chosen: Mask) -> None:
    got = measures(samples.right[chosen], found[chosen])
    brier = f"{got['brier']:.4f} ({got['brier_of_share']:.4f})"
    print(f"| {title} | {chosen.sum():,} | {got['share']:.3f} | {got['auroc']:.3f} | {brier} | {got['ece']:.3f} |")


def print_off_topic(samples: Samples) -> None:
    found = held_out(samples)
    print("\n| probability that the corpus answers | whole | gone | off topic | off topic, held out |")
    print("|---|---|---|---|---|")
    for corpus in (*FITTED, *CARRIED):
        parts = (found[samples.of(corpus, kind)] for kind in ("whole", "gone", "off_topic", "off_topic_held_out"))
        shown = ("{:.2f} {:.2f} {:.2f}".format(*np.quantile(each, [0.05, 0.5, 0.95])) for each in parts)
        print(f"| {corpus}: 5 %, 50 % and 95 % | {' | '.join(shown)} |")


def blank() -> None:
    """Write coefficients of 0 for features that were renamed or added, which `find` would otherwise reject."""
    names = {"relevance": OF_PAPER, "answerable": OF_PAPERS}
    zero = {key: {"intercept": 0.0, "weights": dict.fromkeys(each, 0.0)} for key, each in names.items()}
    PLACE.write_text(json.dumps({"models": {**shipped()["models"], **zero}}), encoding="utf-8")
    shipped.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace calibration.json")
    write = parser.parse_args().write
    if write:
        blank()
    every = list(ask(KeptEmbeddings(OnnxEmbeddings(MODEL))))
    kinds: dict[str, tuple[Callable[[], Samples], Sequence[str]]] = {
        "relevance": (lambda: of_hits(every), OF_PAPER),
        "answerable": (lambda: of_papers(every), OF_PAPERS),
    }
    models = {"confidence": shipped()["models"]["confidence"]}
    for name, (samples, names) in kinds.items():
        rows = samples()
        models[name] = fitted(name, rows, names)
        if name == "answerable":
            print_off_topic(rows)
    if write:
        about = {
            "fitted_on": "SciFact, train claims; NFCorpus, development questions; benchmarks/off_topic.txt",
            "date": datetime.now(EASTERN).date().isoformat(),
            "embedding": OnnxEmbeddings(MODEL).fingerprint,
        }
        PLACE.write_text(json.dumps({**about, "models": models}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
