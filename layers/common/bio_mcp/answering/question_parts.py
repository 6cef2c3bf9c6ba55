"""Split a question that one search does not answer, search each part, and say which part found what.

"Is colchicine or allopurinol better in gout?" has papers on each of the two, and few on both. Rules tell its parts, no
model: the headings of a PICO question, several questions in one, and two or more things that are compared. Each part is
a question with one of them in its place. Where no rule is sure, a question has no parts: the whole of it is always
searched, so that a part can add papers and never hide one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from bio_mcp.answering.retrieving import Question, Retrieved, find
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.ports import Backends
from bio_mcp.retrieval.comparisons import alternatives
from bio_mcp.retrieval.ranking import Ranked
from bio_mcp.retrieval.relevance import UNLIKELY

MOST_PARTS = 4
LONGEST = 1_000  # characters of a question that is split
FIRST = 10  # papers of a part that it is said to have found
_LIST = re.compile(r"\s*[,;]\s*(?:and\s+|or\s+)?|\s+and\s+")
_REFERS_BACK = re.compile(r"\b(it|its|they|them|their|this|that|these|those|he|she|his|her)\b", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:^|[\s;,.|(])(?P<role>[PICO]|populations?|patients?|interventions?|exposures?|comparisons?|comparators?|controls?"
    r"|outcomes?)\)?\s*[:=]\s*",
    re.IGNORECASE,
)
_ROLES = {"p": "population", "i": "intervention", "e": "intervention", "c": "comparison", "o": "outcome"}  # by letter


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question: `subject` is what only it asks about, `question` what is searched."""

    subject: str
    question: str


@dataclass(frozen=True, slots=True)
class FoundPart:
    """What the search for one part found."""

    part: Part
    retrieved: Retrieved

    @property
    def pmids(self) -> tuple[str, ...]:
        """The first papers of the part, best first."""
        return tuple(each.candidate.pmid for each in self.retrieved.ranked[:FIRST])


def parts_of(question: str) -> tuple[Part, ...]:
    """The parts of a question, in its order: none for one that a single search answers, else two to `MOST_PARTS`."""
    ways = (_by_headings, _by_questions, alternatives) if len(question) <= LONGEST else ()
    found = ([each for each in way(question) if _has_word(each[0])] for way in ways)
    parts = next((each for each in found if len(each) > 1), [])
    return tuple(Part(subject, alone) for subject, alone in parts[:MOST_PARTS])


def find_parts(question: Question, backends: Backends, deadline: Deadline = NEVER) -> tuple[FoundPart, ...]:
    """Search each part of `question` with its filters; none for a question without parts. Raises what `find` does."""
    parts = parts_of(question.text)
    return tuple(FoundPart(each, find(replace(question, text=each.question), backends, deadline)) for each in parts)


def in_turns(whole: Retrieved, parts: Sequence[FoundPart], count: int) -> list[Ranked]:
    """The first `count` papers of the whole question and of each part, in turns and each paper once.

    A part that probably nothing answers has no turn. The best paper of each other part is among them if `count` is
    above the number of parts.
    """
    answered = [each.retrieved.ranked for each in parts if each.retrieved.answerable >= UNLIKELY]
    chosen: dict[str, Ranked] = {}
    for turn in zip_longest(whole.ranked, *answered):
        for each in filter(None, turn):
            chosen.setdefault(each.candidate.pmid, each)
    return list(chosen.values())[:count]


def found_by(parts: Sequence[FoundPart], pmid: str) -> tuple[str, ...]:
    """The subjects of the parts that have the paper among their first, in the order of the parts."""
    return tuple(each.part.subject for each in parts if pmid in each.pmids)


def _by_headings(question: str) -> list[tuple[str, str]]:
    """Intervention and comparison of a question with PICO headings, each with its population and outcome.

    Without a comparison each outcome is a part, with the intervention and the population.
    """
    found = list(_HEADING.finditer(question))
    ends = [each.start() for each in found[1:]] + [len(question)] * bool(found)
    texts = {
        _ROLES[each["role"][0].lower()]: question[each.end() : end].strip(" ;,.|()?\n")
        for each, end in zip(found, ends, strict=True)
    }
    arms = [texts[role] for role in ("intervention", "comparison") if texts.get(role)]
    rest = [texts[role] for role in ("population", "outcome") if texts.get(role)]
    if len(arms) == 1:
        arms, rest = _LIST.split(texts.get("outcome", "")), [*arms, texts.get("population", "")]
    return [(arm, ", ".join(filter(None, [arm, *rest]))) for arm in arms] if rest else []


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _by_questions(question: str) -> list[tuple[str, str]]:
    """Each of several questions; one that refers back is searched with the first before it."""
    several = [each.strip() for each in question.split("?")[:-1] if each.strip()]
    return [
        (each, f"{several[0]}? {each}?" if at and _REFERS_BACK.search(each) else f"{each}?")
        for at, each in enumerate(several)
    ]
