"""Neighbouring passages of a document, put together to one text."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bio_mcp.literature.parsed import SEPARATOR, PageSpan


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document's text; `start` is its offset there, None where unknown."""

    text: str
    start: int | None = None
    section: str | None = None
    section_path: tuple[str, ...] = ()
    page_span: PageSpan | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """The text of neighbouring passages; what several of them repeat stands in it once.

    `starts` has where each passage begins in `text`, and `shifts` what is added to a place to be an offset in the
    document.
    """

    text: str
    passages: tuple[Passage, ...]
    starts: tuple[int, ...]
    shifts: tuple[int | None, ...]

    def between(self, start: int, end: int) -> tuple[Passage, ...]:
        """The passages that have a part of the text from `start` to `end`; that of `start` is the first."""
        return self.passages[self._at(start) : self._at(end - 1) + 1]

    def offset(self, place: int) -> int | None:
        """The offset in the document of a place in the text; None where unknown."""
        shift = self.shifts[self._at(place)]
        return None if shift is None else place + shift

    def end_offset(self, end: int) -> int | None:
        """The offset in the document of the end of a part of the text; None where unknown."""
        last = self.offset(end - 1)
        return None if last is None else last + 1

    def _at(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1


def runs(passages: Sequence[Passage], chosen: set[int], reach: int) -> Iterator[Sequence[Passage]]:
    """Yield each run of neighbouring passages that are chosen, or at most `reach` from one that is."""
    wanted = sorted({near for at in chosen for near in range(at - reach, at + reach + 1) if 0 <= near < len(passages)})
    first = 0
    for at in range(len(wanted)):
        if at + 1 == len(wanted) or wanted[at + 1] != wanted[at] + 1:
            yield passages[wanted[first] : wanted[at] + 1]
            first = at + 1


def joined(passages: Sequence[Passage]) -> Joined:
    """Put the passages together, in their order; there is at least one."""
    text, end = "", None
    parts: list[tuple[Passage, int, int | None]] = []
    for each in passages:
        repeated = 0 if end is None or each.start is None else max(0, end - each.start)
        if repeated and repeated >= len(each.text):
            continue
        gap = _gap(end, each.start) if parts else ""
        shift = None if each.start is None else each.start + repeated - len(text) - len(gap)
        parts.append((each, len(text) + len(gap), shift))
        text += gap + each.text[repeated:]
        end = None if each.start is None else each.start + len(each.text)
    found, starts, shifts = zip(*parts, strict=True)
    return Joined(text, found, starts, shifts)


def _gap(end: int | None, start: int | None) -> str:
    """What stands between a passage that ends at `end` and one that begins at `start`, neither of which has it."""
    if end is None or start is None or start > end + 1:
        return SEPARATOR
    return " " if start == end + 1 else ""
