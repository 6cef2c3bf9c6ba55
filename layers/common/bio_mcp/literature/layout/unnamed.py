"""Sections that stand without their heading: the abstract of some journals, and their list of references."""

import re
from collections.abc import Sequence

from bio_mcp.literature.layout.headings import Heading
from bio_mcp.literature.layout.lines import FlowLine
from bio_mcp.literature.layout.paragraphs import paragraph_begins
from bio_mcp.literature.layout.section_names import is_abstract, is_references

ABSTRACT, REFERENCES = "Abstract", "References"
_WORDS = 60  # of an abstract, at least
_SENTENCES = 3
_LOWER = 0.6  # of its words; of names and addresses fewer begin so
_LEGAL = re.compile(r"copyright|creative commons|©|licen[sc]e", re.IGNORECASE)
_ENTRY = re.compile(r"\[?(\d{1,3})[\].]\s*\S")
_ENTRIES = 5  # of a list of references, at least
_LINES = 8  # that an entry has at most, on an average
_YEAR = re.compile(r"\b(19|20)\d\d")


def with_unnamed(flow: Sequence[FlowLine], found: Sequence[Heading]) -> list[Heading]:
    """Return the headings with those that an abstract and references without one would have; they have no lines."""
    all_found = list(found)
    if found and found[0].start and not any(is_abstract(each.text) for each in found):
        start = _abstract(flow[: found[0].start])
        all_found[:0] = [] if start is None else [Heading(start, start, ABSTRACT, 1)]
    if not any(is_references(each.text) for each in found):
        start = _references(flow)
        if start is not None:
            all_found = _inserted(all_found, Heading(start, start, REFERENCES, 1))
    return all_found


def _inserted(found: Sequence[Heading], heading: Heading) -> list[Heading]:
    before = [each for each in found if each.end <= heading.start]
    return [*before, heading, *(each for each in found if each.start >= heading.start)]


def _abstract(lines: Sequence[FlowLine]) -> int | None:
    """Where the longest paragraph of prose begins; None if there is none."""
    begins = [at for at, new in enumerate(paragraph_begins(lines)) if new]
    ends = [*begins[1:], len(lines)]
    prose = [(len(text), start) for start, end in zip(begins, ends, strict=True) if (text := _prose(lines[start:end]))]
    return max(prose)[1] if prose else None


def _prose(lines: Sequence[FlowLine]) -> str:
    """The text of a paragraph of an abstract; empty if it reads as something else."""
    text = " ".join(line.text for line in lines)
    words = text.split()
    lower = sum(word[0].islower() for word in words)
    sentences = len(re.findall(r"[.!?](?=\s+[A-Z]|$)", text))
    fits = len(words) >= _WORDS and lower >= _LOWER * len(words) and sentences >= _SENTENCES
    return text if fits and not _LEGAL.search(text) else ""


def _references(flow: Sequence[FlowLine]) -> int | None:
    """Where the last run of entries numbered from 1 begins, if they tell years; None if there is none."""
    runs: list[list[int]] = []
    for at, line in enumerate(flow):
        number = _ENTRY.match(line.text)
        if number and int(number[1]) == 1:
            runs.append([at])
        elif number and runs and int(number[1]) == len(runs[-1]) + 1:
            runs[-1].append(at)
    return next((run[0] for run in reversed(runs) if _are_references(flow, run)), None)


def _are_references(flow: Sequence[FlowLine], entries: Sequence[int]) -> bool:
    if len(entries) < _ENTRIES or entries[-1] - entries[0] > _LINES * len(entries):
        return False
    text = " ".join(line.text for line in flow[entries[0] : entries[-1] + _LINES])
    return len(_YEAR.findall(text)) >= 0.6 * len(entries)
