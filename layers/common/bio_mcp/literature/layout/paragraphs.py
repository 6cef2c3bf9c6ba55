"""Paragraphs: which lines belong together, and their text with the pages on which it stands."""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from bio_mcp.literature.layout.joining import Words, joined
from bio_mcp.literature.layout.lines import FlowLine

PageStarts = tuple[tuple[int, int], ...]

_WIDER = 1.35  # times the usual distance of two lines: a gap between paragraphs
_SENTENCE_END = re.compile(r"[.!?:;…”\"’)\]]\s*$|[.!?][”\"’)\]\d,–-]*$")
_ENTRY = re.compile(r"\[?\d{1,3}[\].]\s*\S|\[\w+\d{2}\w?\]")
_BREAK = "\n\n"


def text_of(lines: Sequence[FlowLine], words: Words, *, entries: bool = False) -> tuple[str, PageStarts]:
    """Return the lines' text, paragraphs parted by an empty line, and (offset, page) of each page's first character.

    `entries`: the lines are a list of references, each of which is a paragraph.
    """
    begins = _entry_begins(lines) if entries else paragraph_begins(lines)
    text = ""
    done: list[str] = []
    length = 0
    starts: list[tuple[int, int]] = []
    for line, new in zip(lines, begins, strict=True):
        if new and text:
            done.append(text)
            length += len(text) + len(_BREAK)
            text = ""
        before, text = text, joined(text, line.text, words)
        if not starts or line.page > starts[-1][1]:
            starts.append((length + _start(before, text, line.text), line.page))
    return _BREAK.join([*done, text] if text else done), tuple(starts)


def _start(before: str, after: str, line: str) -> int:
    """Where `line` begins in the text that it was joined to."""
    return len(after) - len(line) if before else 0


def paragraph_begins(lines: Sequence[FlowLine]) -> list[bool]:
    """Return whether each line is the first of a paragraph."""
    usual = _usual_gap(lines)
    pairs = zip([None, *lines], lines, strict=False)
    return [before is None or _begins(before, line, usual) for before, line in pairs]


def _usual_gap(lines: Sequence[FlowLine]) -> float:
    gaps = [gap for one, two in pairwise(lines) if 0.5 < (gap := one.gap_below(two)) < 3]
    return median(gaps) if gaps else 1.2


def _begins(before: FlowLine, line: FlowLine, usual: float) -> bool:
    """Whether a paragraph begins with `line`."""
    gap = before.gap_below(line)
    if abs(before.line.size - line.line.size) > 0.15 * line.line.size and not 0 <= gap <= 0.8:
        return True
    if gap > _WIDER * usual:
        return True
    ended = bool(_SENTENCE_END.search(before.text))
    if line.indented and not before.indented and ended:
        return True
    return before.short and bool(re.search(r"[.!?][”\"’)\]\d]*$", before.text)) and not line.text[:1].islower()


def _entry_begins(lines: Sequence[FlowLine]) -> list[bool]:
    """By number where most have one, by hanging indent where some lines have one, else by the gaps."""
    numbered = [bool(_ENTRY.match(line.text)) for line in lines]
    if sum(numbered) >= max(2, len(lines) / 8):
        return [each or not at for at, each in enumerate(numbered)]
    edges = {line.column: min(each.line.x0 for each in lines if each.column == line.column) for line in lines}
    hanging = [line.line.x0 > edges[line.column] + 0.5 * line.line.size for line in lines]
    if sum(hanging) >= 0.25 * len(lines):
        return [not each or not at for at, each in enumerate(hanging)]
    return paragraph_begins(lines)
