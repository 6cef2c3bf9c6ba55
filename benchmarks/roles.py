"""Fit what tells results and conclusions from aims, background and methods, and print how often it is right.

    python -m benchmarks.roles [--write]

Abstracts of shared/data/pubmed whose every section says by its label what it is, with the labels taken away: a quarter
of them is left out of the fit and measured. `--write` replaces sentence_roles.json.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval import ROOT
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article
from bio_mcp.retrieval import sentence_roles
from bio_mcp.retrieval.chunking import sentence_spans
from bio_mcp.retrieval.sentence_roles import CLASSES, Role, classified, features, role_of_section

SOURCE = ROOT.parent / "shared/data/pubmed/pubmed21n1298.dev.xml.xz"
PLACE = Path(sentence_roles.__file__).with_name("sentence_roles.json")
LEAST_SENTENCES, LEAST_SEEN, KEPT, HELD_OUT, STEPS, RIDGE, SEED = 4, 40, 400, 0.25, 400, 6.0, 2026

Abstract = list[tuple[str, int]]
Numbers = NDArray[np.float64]


def labelled() -> Iterator[Abstract]:
    """The sentences of each abstract with the numbers of their roles among `CLASSES`."""
    for each in open_records(SOURCE):
        if not isinstance(each, Article):
            continue
        roles = [role_of_section(section) for section in each.abstract if section.label]
        if len(roles) < len(each.abstract) or not set(roles) <= set(CLASSES):
            continue
        found = [
            (section.text[start:end], CLASSES.index(role))
            for section, role in zip(each.abstract, roles, strict=True)
            if role
            for start, end in sentence_spans(section.text)
        ]
        if len(found) >= LEAST_SENTENCES:
            yield found


def rows(abstracts: Sequence[Abstract]) -> Iterator[tuple[set[str], int]]:
    for abstract in abstracts:
        for place, (text, role) in enumerate(abstract):
            yield features(text, place, len(abstract)), role


def telling(abstracts: Sequence[Abstract]) -> list[str]:
    """The `KEPT` features that say the most of the role (mutual information), and all of places."""
    seen, roles = Counter[tuple[str, int]](), Counter[int]()
    for found, role in rows(abstracts):
        roles[role] += 1
        seen.update((each, role) for each in found)
    every = sorted({name for name, _ in seen})
    counts = np.array([[seen[name, role] for role in range(len(CLASSES))] for name in every], float)
    total = np.array([roles[role] for role in range(len(CLASSES))], float)
    information = np.zeros(len(every))
    for joint in (counts + 0.5, total - counts + 0.5):
        share = joint / total.sum()
        information += (share * np.log(share / (share.sum(1, keepdims=True) * total / total.sum()))).sum(1)
    order = [every[at] for at in np.argsort(-information) if counts[at].sum() >= LEAST_SEEN and every[at][0] != "@"]
    return [*order[:KEPT], *(each for each in every if each[0] == "@")]


def fit(abstracts: Sequence[Abstract]) -> dict[str, object]:
    names = telling(abstracts)
    places = {name: at for at, name in enumerate(names)}
    found = list(rows(abstracts))
    given = np.zeros((len(found), len(names) + 1), np.float32)
    given[:, -1] = 1
    for at, (own, _) in enumerate(found):
        given[at, [places[each] for each in own if each in places]] = 1
    right = np.eye(len(CLASSES), dtype=np.float32)[[role for _, role in found]]
    weights = ahead = np.zeros((given.shape[1], len(CLASSES)), np.float32)
    size, step = len(given), 4 * 4000 / np.linalg.norm(given[:4000], 2) ** 2 / 1.5
    momentum = 1.0
    for _ in range(STEPS):  # Nesterov's gradient
        odds = given @ ahead
        shares = np.exp(odds - odds.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        new = ahead - step * (given.T @ (shares - right) / size + RIDGE / size * ahead)
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        weights, ahead, momentum = new, new + (momentum - 1) / grown * (new - weights), grown
    follows, first = np.ones((len(CLASSES),) * 2), np.ones(len(CLASSES))
    for abstract in abstracts:
        first[abstract[0][1]] += 1
        for (_, one), (_, other) in pairwise(abstract):
            follows[one, other] += 1
    return {
        "intercept": rounded(weights[-1]),
        "prior": rounded(np.log(right.mean(0))),
        "first": rounded(np.log(first / first.sum())),
        "transitions": [rounded(row) for row in np.log(follows / follows.sum(1, keepdims=True))],
        "weights": {name: rounded(row) for name, row in zip(names, weights, strict=False)},
    }


def rounded(numbers: Numbers) -> list[float]:
    return [round(float(each), 3) for each in numbers]


def measured(abstracts: Sequence[Abstract]) -> dict[str, float]:
    """How often the role is right, and of those that were called findings and that are: how many are."""
    pairs = [
        (CLASSES.index(guess), role)
        for abstract in abstracts
        for guess, (_, role) in zip(classified([text for text, _ in abstract]), abstract, strict=True)
    ]
    findings = {CLASSES.index(Role.RESULT), CLASSES.index(Role.CONCLUSION)}
    both = sum(guess in findings and role in findings for guess, role in pairs)
    return {
        "abstracts": len(abstracts),
        "sentences": len(pairs),
        "role_right": round(sum(guess == role for guess, role in pairs) / len(pairs), 4),
        "finding_or_not_right": round(sum((g in findings) == (r in findings) for g, r in pairs) / len(pairs), 4),
        "findings_precision": round(both / sum(guess in findings for guess, _ in pairs), 4),
        "findings_recall": round(both / sum(role in findings for _, role in pairs), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace sentence_roles.json")
    given = parser.parse_args()
    abstracts = list(labelled())
    random.Random(SEED).shuffle(abstracts)  # noqa: S311  a sample, no secret
    held_out = int(len(abstracts) * HELD_OUT)
    fitted = fit(abstracts[held_out:])
    sentence_roles.shipped.cache_clear()
    sentence_roles.shipped = lambda: fitted  # type: ignore[assignment]  # what was just fitted is measured
    about = {
        "fitted_on": f"{len(abstracts) - held_out:,} labelled abstracts of {SOURCE.name}",
        "held_out": measured(abstracts[:held_out]),
    }
    print(json.dumps(about, indent=1))
    if given.write:
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in fitted.pop("weights").items())
        head = json.dumps({**about, **fitted}, indent=1).removesuffix("\n}")
        PLACE.write_text(f'{head},\n "weights": {{\n{lines}\n }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
