"""Captions and footnotes: what interrupts the text where a page has room for it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bio_mcp.literature.layout.lines import FlowLine

_CAPTION = re.compile(
    r"(supplement(ary|al) |extended data |appendix )?"
    r"(fig(ure|\.)?|abb(ildung|\.)|table|tab(elle|\.)|scheme|chart|box|video|figura|tabla|tableau|รูปที่|ภาพที่|ตารางที่)"
    r"\s*[A-Z]?\d+[A-Za-z]?\s*([.:|–—-]|\s(?=\S)|$)",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(
    r"[*†‡§¶#©]|\d{1,2}\s?[A-Z]|[a-e]\s[A-Z]|(\(c\)|copyright|correspond|received|e-?mail|present address|full list|"
    r"abbreviations?:|these authors|equal contribution|open access|how to cite|cite this)",
    re.IGNORECASE,
)
_FOOT = 0.92  # of the text's size, at most, has a footnote
_NEXT = 1.75  # font sizes between the baselines of two lines of one block
_LONGEST = 12  # lines of a footnote


@dataclass(frozen=True, slots=True)
class Parted:
    """The lines of the text, and the captions, each before the line of the text at its place, and the footnotes."""

    main: list[FlowLine]
    captions: list[tuple[int, list[FlowLine]]]
    footnotes: list[list[FlowLine]]


def parted(flow: Sequence[FlowLine], size: float, tables: Collection[str] = ()) -> Parted:
    """Part what interrupts the text from it; `size` is the text's, `tables` are fonts of lines in tables' places."""
    main: list[FlowLine] = []
    captions: list[tuple[int, list[FlowLine]]] = []
    footnotes: list[list[FlowLine]] = []
    at = 0
    while at < len(flow):
        end = at + 1 if flow[at].line.font in tables else _caption_end(flow, at, size, main) or at
        if end > at:
            captions.append((len(main), list(flow[at:end])))
        elif (end := _footnote_end(flow, at, size) or at) > at:
            footnotes.append(list(flow[at:end]))
        else:
            main.append(flow[at])
        at = max(end, at + 1)
    return Parted(main, captions, footnotes)


def _caption_end(flow: Sequence[FlowLine], at: int, size: float, main: Sequence[FlowLine]) -> int | None:
    """Where the caption that begins at `at` ends; None if none does."""
    if not _CAPTION.match(flow[at].text) or not _begins_block(flow, at, size):
        return None
    end = at + 1
    text_ended = not main or main[-1].text.endswith(".")
    while end < len(flow) and (_same_block(flow[end - 1], flow[end]) or (text_ended and _goes_on_overleaf(flow, end))):
        end += 1
    return end


def _begins_block(flow: Sequence[FlowLine], at: int, size: float) -> bool:
    """Whether a line stands apart from the one before: in a line of the text, "Table 2" may come first as well."""
    before, line = flow[at - 1] if at else None, flow[at]
    if before is None or line.line.bold or abs(line.line.size - size) > 0.05 * size:
        return True
    return not 0 <= before.gap_below(line) < _NEXT and (before.short or before.text.endswith((".", ":")))


def _goes_on_overleaf(flow: Sequence[FlowLine], at: int) -> bool:
    """Whether a caption that a page ends within a sentence of goes on at the top of the next."""
    line, below = flow[at - 1], flow[at]
    new_page = below.page == line.page + 1 and abs(line.line.size - below.line.size) <= 0.05 * line.line.size
    return new_page and not line.short and not line.text.endswith(".") and below.text[:1].islower()


def _same_block(line: FlowLine, below: FlowLine) -> bool:
    near = 0 < line.gap_below(below) < _NEXT
    return near and abs(line.line.size - below.line.size) <= 0.05 * line.line.size


def _footnote_end(flow: Sequence[FlowLine], at: int, size: float) -> int | None:
    """Where the footnote that begins at `at` ends, with its column; None if none does."""
    first = flow[at]
    if first.line.size > _FOOT * size or not _FOOTNOTE.match(first.text):
        return None
    if at and flow[at - 1].column == first.column and flow[at - 1].line.size <= first.line.size:
        return None
    end = at + 1
    while end < len(flow) and flow[end].column == first.column and flow[end].line.size <= _FOOT * size:
        end += 1
    ends_column = end == len(flow) or flow[end].column != first.column
    return end if ends_column and end - at <= _LONGEST else None
