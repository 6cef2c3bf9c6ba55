"""How much of what abstracts state of their studies is read, and how much of what is read is right.

    python -m benchmarks.study_facts [--set development] [--wrong]

The abstracts were read by hand; see tests/data/study_facts/README.md. The held-out set is measured unless another is
asked for: the last of seven that were drawn, each read before any rule was run on it. In brackets are 95 % intervals:
of articles drawn again for effects, of Wilson for what is counted once an article. `--wrong` prints what was missed and
what was wrong. At the end is how far a second reading agreed with the first.
Milliseconds are of one core's own time (CPU).
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import sqrt
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bio_mcp.literature.records import Article, MeshHeading, PublicationType
from bio_mcp.literature.study_facts import Effect, StudyFacts, study_facts

DATA = Path(__file__).parents[1] / "tests/data/study_facts"
HELD_OUT, DEVELOPMENT, SECOND = "held_out", "development", "second_reading"
DRAWN, TIMES = 2_000, 5
Pair = tuple[int, int]  # how many of how many


def records(name: str) -> Iterator[dict[str, Any]]:
    for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def article(record: dict[str, Any]) -> Article:
    types = tuple(PublicationType(*each) for each in record["types"])
    mesh = tuple(MeshHeading(*each) for each in record["mesh"])
    return Article(record["pmid"], title=record["title"], publication_types=types, mesh=mesh)


@dataclass
class Read:
    """A record, what was annotated of it and what was read."""

    record: dict[str, Any]
    facts: StudyFacts
    said: list[str] = field(default_factory=list)  # what is missed or wrong

    @property
    def truth(self) -> dict[str, Any]:
        study: dict[str, Any] = self.record["study"]
        return study

    def number(self, name: str) -> tuple[Pair, Pair]:
        """Of those stated, found right; of those read, right. A number that is tolerated does not have to be read."""
        accepted: list[int | None] = self.truth[name]
        found = self.facts.participants and getattr(self.facts.participants, name)
        stated, right = bool(accepted) and accepted[0] is not None, found is not None and found in accepted
        if (stated and not right) or (found is not None and not right):
            self.said.append(f"{name} {accepted} read {found}")
        return (int(stated and right), int(stated)), (int(right), int(found is not None))

    def effects(self, *, whole: bool) -> tuple[Pair, Pair]:
        """The same of effects, by measure and value, and where they are `whole` by interval too."""
        wanted = self.truth["effects"]
        keys = [annotated(each, whole=whole) for each in wanted if not each.get("optional")]
        spare = [annotated(each, whole=whole) for each in wanted if each.get("optional")]
        read = [key(each, whole=whole) for each in self.facts.effects]
        found = matched(read, keys)
        missed = [each for each in keys if each not in read]
        wrong = [each for each in read if each not in keys + spare]
        if whole and (missed or wrong):
            self.said.append(f"effects missed {missed} wrong {wrong}")
        right = found + sum(each in spare and each not in keys for each in read)
        return (found, len(keys)), (min(right, len(read)), len(read))

    def outcomes(self) -> Pair:
        """Of effects that are right and have an outcome read: outcomes that share a word with the annotated one."""
        named = {annotated(each, whole=True): each.get("outcome") for each in self.truth["effects"]}
        pairs = [(each.outcome, named.get(key(each, whole=True))) for each in self.facts.effects if each.outcome]
        judged = [(one, other) for one, other in pairs if other]
        right = [bool(words(one) & words(other)) for one, other in judged if one]
        self.said += [
            f"outcome {one!r}, not {other!r}" for (one, other), fits in zip(judged, right, strict=True) if not fits
        ]
        return sum(right), len(right)

    def humans(self) -> tuple[Pair, Pair]:
        """Of articles with one right answer, those answered right; of those answered, right."""
        accepted, found = self.truth["humans"], self.facts.humans
        known = len(accepted) == 1 and accepted[0] is not None
        if (found not in accepted) and (known or found is not None):
            self.said.append(f"humans {accepted} read {found}")
        return (int(known and found in accepted), int(known)), (
            int(found is not None and found in accepted),
            int(found is not None),
        )

    def design(self) -> tuple[Pair, Pair]:
        accepted, found = self.truth["design"], self.facts.design
        known = None not in accepted
        if found not in accepted:
            self.said.append(f"design {accepted} read {found}")
        return (int(known and found in accepted), int(known)), (
            int(found is not None and found in accepted),
            int(found is not None),
        )


Key = tuple[str, Decimal, Decimal | None, Decimal | None]


def key(effect: Effect, *, whole: bool) -> Key:
    return effect.measure, effect.value, effect.low if whole else None, effect.high if whole else None


def annotated(effect: dict[str, Any], *, whole: bool) -> Key:
    bounds = [Decimal(effect[name]) if whole and name in effect else None for name in ("low", "high")]
    return effect["measure"], Decimal(effect["value"]), bounds[0], bounds[1]


def matched(read: Sequence[Key], wanted: Sequence[Key]) -> int:
    return sum(min(read.count(each), wanted.count(each)) for each in set(wanted))


def words(text: str) -> set[str]:
    return {each.rstrip("s") for each in text.lower().replace("-", " ").split() if len(each) > 3 or each.isupper()} | {
        each for each in text.split() if each.isupper()
    }


def share(pairs: Sequence[Pair]) -> str:
    """The share of the sums, with its interval by drawing the articles again."""
    right, whole = map(sum, zip(*pairs, strict=True))
    if not whole:
        return "-"
    if all(each[1] < 2 for each in pairs):
        low, high = wilson(right, whole)
    else:
        draw = random.Random(7)  # noqa: S311  a seed, no secret
        again = sorted(ratio(draw.choices(pairs, k=len(pairs))) for _ in range(DRAWN))
        low, high = again[DRAWN // 40], again[-DRAWN // 40]
    return f"{right / whole:.3f} [{low:.3f}, {high:.3f}]  {right} of {whole}"


def ratio(pairs: Sequence[Pair]) -> float:
    right, whole = map(sum, zip(*pairs, strict=True))
    return right / max(whole, 1)


def wilson(right: int, whole: int, z: float = 1.96) -> Pair | tuple[float, float]:
    p, scale = right / whole, 1 + z * z / whole
    half = z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / scale
    middle = (p + z * z / (2 * whole)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def milliseconds(record: dict[str, Any]) -> float:
    of = article(record)
    start = process_time()
    for _ in range(TIMES):
        study_facts(record["abstract"], of)
    return (process_time() - start) / TIMES * 1_000


FACTS: dict[str, tuple[str, Callable[[Read], tuple[Pair, Pair]]]] = {
    "participants": ("n", lambda each: each.number("n")),
    "studies of a review": ("studies", lambda each: each.number("studies")),
    "effects, value and interval": ("effects", lambda each: each.effects(whole=True)),
    "effects, value": ("effects", lambda each: each.effects(whole=False)),
    "humans": ("humans", Read.humans),
    "design": ("design", Read.design),
}


def measured(name: str) -> tuple[list[Read], dict[str, tuple[list[Pair], list[Pair]]]]:
    """Every record read, and of each fact what was found and what was right in those that it is annotated of."""
    read = [Read(each, study_facts(each["abstract"], article(each))) for each in records(name)]
    figures = {}
    for label, (annotation, judge) in FACTS.items():
        pairs = [judge(each) for each in read if annotation in each.truth]
        figures[label] = [found for found, _ in pairs], [right for _, right in pairs]
    return read, figures


def measure(name: str, *, wrong: bool) -> None:
    read, figures = measured(name)
    print(f"{len(read)} abstracts, {name.replace('_', ' ')}")
    for label, (found, right) in figures.items():
        print(f"{label:<28} found {share(found)}\n{'':<28} right {share(right)}")
    outcomes = [each.outcomes() for each in read if any("outcome" in one for one in each.truth.get("effects", ()))]
    print(f"{'outcome of a right effect':<28} right {share(outcomes)}" if outcomes else "outcomes are not annotated")
    times = sorted(milliseconds(each.record) for each in read)
    print(f"{median(times):.2f} ms a record (median), {times[-1]:.2f} at most\n")
    for each in read if wrong else ():
        if each.said:
            print(each.record["pmid"], *each.said, sep="\n    ")


def agreement() -> None:
    """How often the best answer of the second reading is among those of the first, and how many effects are."""
    first = {each["pmid"]: each["study"] for each in records(DEVELOPMENT)}
    pairs = [(first[each["pmid"]], each["study"]) for each in records(SECOND)]
    print(f"{len(pairs)} abstracts, read twice")
    for name in ("n", "studies", "humans", "design"):
        same = sum((again[name] or [None])[0] in (once[name] or [None]) for once, again in pairs)
        print(f"{name:<28} agree {same} of {len(pairs)}")
    effects = [(once["effects"], [annotated(each, whole=True) for each in again["effects"]]) for once, again in pairs]
    same = sum(matched(again, [annotated(each, whole=True) for each in once]) for once, again in effects)
    print(f"{'effects':<28} agree {same} of {sum(len(again) for _, again in effects)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=[DEVELOPMENT, HELD_OUT], default=HELD_OUT, help="which")
    parser.add_argument("--wrong", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args()
    measure(options.set, wrong=options.wrong)
    agreement()


if __name__ == "__main__":
    main()
