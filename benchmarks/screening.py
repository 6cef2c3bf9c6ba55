"""How early relevant papers are found by screenPapers' ranking, beside ASReview's default, on reviews of drug classes.

    python -m benchmarks.screening

The reviews are those of Cohen and others (2006), whose labels SYNERGY has: records of PubMed with title, abstract and
the decision at the full text, as the history of asreview/asreview on GitHub has them (commit 31794d75,
data/datasets/drug_class_review). They are read from .cache/screening/cohen and are no part of this repository; two of
the fifteen, ACEInhibitors and Statins, were too large for the copy and are left out. ASReview is of the lock
requirements/asreview.txt, in .cache/asreview, and runs in the same run with the same two papers known at first, one
included and one excluded, twice for each review. It learns after each paper; ours after each of the first hundred, then
after each twentieth part of what was decided. Vectors are in .cache/screening by model and review: the first run embeds
12,724 papers.
"""

import csv
import json
import math
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.literature.records import AbstractSection, Article
from bio_mcp.retrieval.chunking import chunks_of
from bio_mcp.screening.ranking import (
    DIGITS,
    RATIO,
    STRENGTH,
    VECTOR_LENGTH,
    Floats,
    Vocabulary,
    balanced,
    estimate,
    fit,
)

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache/screening"
ASREVIEW = ROOT / ".cache/asreview"
STARTS = 2  # of each review, with other papers known
CHOSEN_ON = ("Antihistamines", "Estrogens", "UrinaryIncontinence")  # reviews by which our parameters were chosen
RECALL = 0.95
AT_ONCE = 64  # papers that are embedded together


@dataclass(frozen=True)
class LabelledReview:
    """The papers of a review, and 1 for each that was included."""

    name: str
    texts: Sequence[tuple[str, str]]
    labels: Sequence[int]

    @property
    def starts(self) -> list[list[int]]:
        """An included and an excluded paper, for each time that it is screened."""
        chance = random.Random(self.name)  # noqa: S311  the same in every run
        included = [at for at, label in enumerate(self.labels) if label]
        excluded = [at for at, label in enumerate(self.labels) if not label]
        return [[chance.choice(included), chance.choice(excluded)] for _ in range(STARTS)]


@dataclass
class Found:
    """What the orders of one way gave: work saved over sampling, recall after a tenth, and mean rank, of each order."""

    wss: list[float] = field(default_factory=list)
    early: list[float] = field(default_factory=list)
    rank: list[float] = field(default_factory=list)

    def add(self, review: LabelledReview, known: Sequence[int], order: Sequence[int]) -> None:
        """Measure an order, without the papers that were known."""
        rest = [at for at in order if at not in known]
        hits = np.cumsum([review.labels[at] for at in rest])
        total, papers = hits[-1], len(review.labels) - len(known)
        needed = int(np.searchsorted(hits, math.ceil(RECALL * total))) + 1
        self.wss.append(1 - needed / papers - (1 - RECALL))
        self.early.append(float(hits[min(len(rest), papers // 10) - 1] / total))
        places = [at for at, each in enumerate(rest, 1) if review.labels[each]]
        self.rank.append(float(np.mean(places)) / papers)

    def __str__(self) -> str:
        return "  ".join(f"{np.mean(each):6.3f}" for each in (self.wss, self.early, self.rank))


def reviews() -> Iterator[LabelledReview]:
    """The reviews, the smallest first."""
    csv.field_size_limit(1 << 24)
    made = [_read(path) for path in sorted((CACHE / "cohen").glob("*.csv"))]
    yield from sorted(made, key=lambda each: (len(each.labels), each.name))


def _read(path: Path) -> LabelledReview:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{name: "" if value == "NA" else value for name, value in row.items()} for row in csv.DictReader(file)]
    texts = [(row["title"], row["abstracts"]) for row in rows]
    return LabelledReview(path.stem, texts, [int(row["label2"] == "I") for row in rows])


def vectors_of(review: LabelledReview, model: OnnxEmbeddings) -> Floats:
    """The mean vector of each paper's passages, as the index has it."""
    name = sha256(f"{model.fingerprint} {review.texts}".encode()).hexdigest()[:16]
    path = CACHE / f"{review.name}-{name}.npy"
    if not path.exists():
        pieces = [review.texts[at : at + AT_ONCE] for at in range(0, len(review.texts), AT_ONCE)]
        np.save(path, np.concatenate([_embedded(each, model) for each in pieces]))
    return np.asarray(np.load(path), dtype=float)


def _embedded(texts: Sequence[tuple[str, str]], model: OnnxEmbeddings) -> Floats:
    papers = [
        Article("1", title=title or "-", abstract=(AbstractSection(None, None, text),) if text else ())
        for title, text in texts
    ]
    chunks = [chunks_of(each, model.count_tokens, model.max_tokens) for each in papers]
    vectors = model.embed([each.embedded_text for some in chunks for each in some])
    owners = np.repeat(np.arange(len(papers)), [len(each) for each in chunks])
    means = np.stack([vectors[owners == at].mean(axis=0) for at in range(len(papers))])
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True))


def ours(review: LabelledReview, known: Sequence[int], vocabulary: Vocabulary, vectors: Floats) -> list[int]:
    """The order in which our ranking shows the papers, until the last included one."""
    labels = np.asarray(review.labels, dtype=float)
    beside = VECTOR_LENGTH * vectors
    every = replace(vocabulary.rows, vectors=beside)
    decided, open_ = list(known), np.ones(len(labels), dtype=bool)
    open_[decided] = False
    while labels[decided].sum() < labels.sum():
        taught = labels[decided]
        rows = every.take(decided)
        weights = fit(rows, taught, balanced(taught, RATIO), STRENGTH)
        left = np.flatnonzero(open_)
        scores = np.round(every.times(weights)[left], DIGITS)
        batch = 1 if len(decided) < 100 else len(decided) // 20
        decided += [int(at) for at in left[np.argsort(-scores, kind="stable")][:batch]]
        open_[decided] = False
    return decided[len(known) :]


def asreview(review: LabelledReview) -> list[list[int]]:
    """The orders of ASReview's default model, which leaves a cache in its working directory."""
    given = {"texts": review.texts, "labels": review.labels, "known": review.starts}
    command = [ASREVIEW / "bin/python", Path(__file__).with_name("_asreview.py")]
    with tempfile.TemporaryDirectory() as home:
        ran = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True, cwd=home)
    orders: list[list[int]] = json.loads(ran.stdout)
    return orders


def stopped(review: LabelledReview, known: Sequence[int], order: Sequence[int]) -> tuple[float, float]:
    """Share of the papers that were looked at, and of the relevant ones found, where our estimate says to stop."""
    rest = [at for at in range(len(review.labels)) if at not in {*order, *known}]
    seen = [bool(review.labels[at]) for at in (*known, *order, *rest)]
    for looked_at in range(20, len(seen) + 1, 20):
        if estimate(seen[:looked_at], len(seen) - looked_at).may_stop:
            return looked_at / len(seen), sum(seen[:looked_at]) / sum(seen)
    return 1.0, 1.0


def main() -> None:
    model = OnnxEmbeddings(PACKAGED / DEFAULT)
    ways = {name: Found() for name in ("ASReview", "words", "ours")}
    stops: list[tuple[float, float]] = []
    heading = "WSS@95  R@10%  rank"
    print(f"{'':36}{'ASReview, default':24}{'ours, words alone':24}ours")
    print(f"{'review, papers, included':36}{heading:24}{heading:24}{heading}")
    for review in reviews():
        per = {name: Found() for name in ways}
        vectors = vectors_of(review, model)
        vocabulary = Vocabulary([f"{title} {text}" for title, text in review.texts])
        for known, theirs in zip(review.starts, asreview(review), strict=True):
            order = ours(review, known, vocabulary, vectors)
            orders = {"ASReview": theirs, "words": ours(review, known, vocabulary, vectors[:, :0]), "ours": order}
            for name, each in orders.items():
                per[name].add(review, known, each)
                ways[name].add(review, known, each)
            stops.append(stopped(review, known, order))
        mark = "*" if review.name in CHOSEN_ON else " "
        named = f"{review.name}{mark} {len(review.labels)} {sum(review.labels)}"
        print(f"{named:36}" + "    ".join(str(each) for each in per.values()), flush=True)
    print(f"{'mean':36}" + "    ".join(str(each) for each in ways.values()))
    print("\n* our parameters were chosen on these. rank: mean rank of an included paper, as a share of all")
    _print_stops(stops)


def _print_stops(stops: Sequence[tuple[float, float]]) -> None:
    work, recall = np.mean([each for each, _ in stops]), np.mean([each for _, each in stops])
    held, least = sum(each >= RECALL for _, each in stops), min(each for _, each in stops)
    print(f"\nThe estimate says to stop after {work:.0%} of the papers on average, with {recall:.1%} of the included")
    print(f"ones found; {RECALL:.0%} of them in {held} of {len(stops)} screenings, {least:.1%} in the worst.")


if __name__ == "__main__":
    main()
