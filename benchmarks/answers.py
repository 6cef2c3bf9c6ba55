"""Fit the confidence of answers, and print what they are like: given or withheld, right, and how far to be relied on.

    python -m benchmarks.answers [--write]

Questions are answered by the function behind rag_answer, and once more with the papers that answer them taken out. The
fit is of SciFact's train claims, over a part of its abstracts, and of the development half of the 220 questions
(evaluating/sets/answers); the held-out half, the smoke set and a part of PubMedQA are in no fit. A row is an answer
that has enough sentences; one of a corpus without the right papers weighs less, as such questions are asked less often.
`--write` replaces the confidence in calibration.json. Data stays in .cache/eval, as that of `make eval`.
"""

import argparse
import json
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks.evaluation import HOME
from benchmarks.relevance import PLACE, Numbers, fit, measures
from benchmarks.retrieval import articles, judged
from bio_mcp.answering.answers import LEAST_CITED, Answer, answer, bare
from bio_mcp.deadline import NEVER
from bio_mcp.evaluating.asking import RememberedEmbeddings, asked_by_evaluation
from bio_mcp.evaluating.figures import AnswerOutcome, CitedOutcome, calibration_error
from bio_mcp.evaluating.questions import (
    ANSWERS,
    HALVES,
    EvaluationSet,
    JudgedQuestion,
    answers,
    curated,
    fill,
    questions_in,
    smoke,
)
from bio_mcp.ports import Backends, BackendsOver
from bio_mcp.retrieval.concepts import PaperWords, asked_about
from bio_mcp.retrieval.relevance import OF_ANSWER, calibrated, features_of_answer
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded

CLAIMS, PAPERS, JUDGED_AT_MOST, ASKED, SEED = 260, 850, 3, 150, 7
OF_PUBMEDQA = 90
GONE = 0.3  # what an answer weighs that was drawn from a corpus without the right papers
FITTED, LEFT_OUT = ("claims", "development"), ("held_out", "smoke", "pubmedqa")


@cache
def claims() -> EvaluationSet:
    """Claims of SciFact with few judged papers, over these and other papers."""
    given, chance = judged("scifact"), random.Random(SEED)  # noqa: S311  a sample, no secret
    pairs = [(text, sorted(grades)) for text, grades in zip(given.questions, given.grades, strict=True)]
    chance.shuffle(pairs)
    chosen = [each for each in pairs if len(each[1]) <= JUDGED_AT_MOST][:CLAIMS]
    right = {pmid for _, pmids in chosen for pmid in pmids}
    every = list(articles("scifact"))
    others = [each.pmid for each in every if each.pmid not in right]
    chance.shuffle(others)
    kept = right.union(others[: PAPERS - len(right)])
    questions = [JudgedQuestion(f"c{at}", text, tuple(pmids)) for at, (text, pmids) in enumerate(chosen[:ASKED])]
    return EvaluationSet("claims", f"{PAPERS}", tuple(questions), lambda: (each for each in every if each.pmid in kept))


def sets() -> dict[str, EvaluationSet]:
    from importlib.resources import files

    halves = [questions_in((files("bio_mcp") / ANSWERS / half).read_bytes()) for half in HALVES]
    some = random.Random(3).sample(list(curated().questions), OF_PUBMEDQA)  # noqa: S311
    return {
        "claims": claims(),
        "development": replace(answers(), questions=halves[0]),
        "held_out": replace(answers(), questions=halves[1]),
        "smoke": smoke(),
        "pubmedqa": replace(curated(), questions=tuple(some)),
    }


@dataclass(frozen=True)
class Row:
    """An answer of enough sentences to a question asked of the whole corpus, or with the right papers `gone`."""

    features: tuple[float, ...]
    right: bool
    gone: bool
    given: bool
    confidence: float


def asked(of: EvaluationSet, backends: Backends) -> Iterator[Row]:
    with backends.scratch(f"{of.name}-{of.version}") as corpus:
        assert of.articles is not None
        assert fill(of.articles(), corpus, NEVER, lambda *_: None)
        embeddings = RememberedEmbeddings(corpus.embeddings)
        for question in of.questions:
            for gone in (frozenset[str](), question.citable)[: 1 + bool(question.citable)]:
                without = asked_by_evaluation(corpus, embeddings, (*gone, *question.retracted) if gone else ())
                found = answer(question.text, BackendsOver(without, answer_tau=0.0))
                if not found.reason and len(found.cited) >= LEAST_CITED:
                    first = found.cited[0]
                    right = first.span.pmid in question.citable
                    given = found.confidence >= Settings().answer_tau
                    yield Row(of_first(question.text, found), right, bool(gone), given, found.confidence)


def of_first(question: str, found: Answer) -> tuple[float, ...]:
    first = found.cited[0]
    return features_of_answer(
        first.relevance, PaperWords(first.document.article).share(asked_about(bare(question)).words)
    )


def fitted(rows: list[Row], left_out: list[Row]) -> dict[str, object]:
    features, right = of(rows)
    solution = fit(features, right, np.array([GONE if each.gone else 1.0 for each in rows]))
    features, right = of(left_out)
    odds = solution[0] + features @ solution[1:]
    return {
        "intercept": round(float(solution[0]), 6),
        "weights": {name: round(float(each), 6) for name, each in zip(OF_ANSWER, solution[1:], strict=True)},
        "held_out": {name: round(each, 4) for name, each in measures(right, 1 / (1 + np.exp(-odds))).items()},
    }


def of(rows: list[Row]) -> tuple[Numbers, Numbers]:
    return np.array([each.features for each in rows]), np.array([each.right for each in rows], float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace the confidence in calibration.json")
    write = parser.parse_args().write
    rows = {}
    with closing(Embedded(Settings(home=HOME, threads=1))) as backends:
        for name, each in sets().items():
            rows[name] = list(asked(each, backends))
    print("| questions | asked | answered | first citation right | ECE | answered, right papers gone |")
    print("|---|---|---|---|---|---|")
    for name, each in sets().items():
        given = [row for row in rows[name] if row.given]
        whole = [row for row in given if not row.gone]
        outcomes = [AnswerOutcome(True, row.confidence, (CitedOutcome(right=row.right),)) for row in whole]
        share = sum(row.right for row in whole) / max(1, len(whole))
        print(
            f"| {name}{'' if name in FITTED else ', in no fit'} | {len(each.questions)} | {len(whole)} | {share:.3f} "
            f"| {calibration_error(outcomes):.3f} | {len(given) - len(whole)} |"
        )
    both = ([row for name in names for row in rows[name]] for names in (FITTED, LEFT_OUT))
    confidence = fitted(*both)
    print(json.dumps(confidence))
    if write:
        shipped = json.loads(PLACE.read_text("utf-8"))
        shipped["models"]["confidence"] = confidence
        PLACE.write_text(json.dumps(shipped, indent=2) + "\n", encoding="utf-8")
        calibrated.cache_clear()


if __name__ == "__main__":
    main()
