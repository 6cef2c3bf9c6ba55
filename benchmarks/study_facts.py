"""How much of what abstracts state of their studies is read, and how much of what is read is right.

    python -m benchmarks.study_facts [--set development] [--wrong]

The abstracts were read by hand; see tests/data/study_facts/README.md. The held-out sets are measured unless one is
asked for. The rules for participants were changed after they had been measured on the first two; `held_out_fresh` was
drawn and read after the last change, and says what they do on abstracts that nobody has seen. In brackets are 95 %
intervals: of articles drawn again for effects, of Wilson for what is counted once an article. `--wrong` prints what was
missed and what was wrong.
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
DEVELOPMENT = ("development", "development_seen")
HELD_OUT = ("held_out", "held_out_participants", "held_out_fresh")
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


COUNTED: dict[str, Callable[[Read], tuple[Pair, Pair]]] = {
    "participants": lambda each: each.number("n"),
    "studies of a review": lambda each: each.number("studies"),
}
ALL: dict[str, Callable[[Read], tuple[Pair, Pair]]] = COUNTED | {
    "effects, value and interval": lambda each: each.effects(whole=True),
    "effects, value": lambda each: each.effects(whole=False),
    "humans": Read.humans,
    "design": Read.design,
}


def measure(name: str, *, wrong: bool) -> None:
    held = list(records(name))
    read = [Read(each, study_facts(each["abstract"], article(each))) for each in held]
    whole = "effects" in held[0]["study"]
    print(f"{len(held)} abstracts, {name.replace('_', ' ')}")
    for label, judge in (ALL if whole else COUNTED).items():
        stated, answered = zip(*map(judge, read), strict=True)
        print(f"{label:<28} found {share(stated)}\n{'':<28} right {share(answered)}")
    if whole:
        print(f"{'outcome of a right effect':<28} right {share([each.outcomes() for each in read])}")
    times = sorted(map(milliseconds, held))
    print(f"{median(times):.2f} ms a record (median), {times[-1]:.2f} at most\n")
    for each in read if wrong else ():
        if each.said:
            print(each.record["pmid"], *each.said, sep="\n    ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=[*DEVELOPMENT, *HELD_OUT], help="which; default the held-out ones")
    parser.add_argument("--wrong", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args()
    for name in [options.set] if options.set else HELD_OUT:
        measure(name, wrong=options.wrong)


if __name__ == "__main__":
    main()
