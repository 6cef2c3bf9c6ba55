"""Lists of references in plain text: where one ends and the next begins."""

import re
from collections.abc import Iterator

from bio_mcp.literature.references.citation import parse_citation
from bio_mcp.literature.references.works import CitedWork, refuse_too_many

_NUMBERED = re.compile(r"^\s*(?:\[(\d{1,4})\]|\((\d{1,4})\)|(\d{1,4})[.)]|(\d{1,3})\s(?=[A-Z]))\s*\S")
_HEADING = re.compile(
    r"^\W*(?:\d+\.?\s)?(?:(?:notes and )?references|bibliography|literature(?: cited)?|works cited|reference list)\W*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^\W*(?:\d+\.?\s)?(?:appendix|supplementary|figure legends|tables?|acknowledge?ments|funding|author contributions)"
    r"\b.{0,60}$",
    re.IGNORECASE,
)
_END = re.compile(r"(?:[.)\]]|\d|10\.\d{4}\S+|https?://\S+|PMC\d+)\s*$")
_BEGINS = re.compile(r"^\s*(?:[A-ZÀ-Þ][\w’'‐-]+,?\s[A-Z]|(?:van|von|de|der|la|le|al|el)\b)")
Line = tuple[int, str]


def read_plain(text: str) -> list[CitedWork]:
    """The references of a list: numbered, parted by empty lines, or a line each. Of a manuscript, those below its last
    heading "References". Raises `InvalidInput` for too many."""
    lines = _below_heading(list(enumerate(text.splitlines(), 1)))
    works = [parse_citation(each, line=number) for number, each in _references(lines)]
    works = [each for each in works if not each.is_empty or each.text]
    refuse_too_many(len(works))
    return works


def _below_heading(lines: list[Line]) -> list[Line]:
    """The lines after the last such heading and before the next part; all where there is none."""
    headings = [place for place, (_, line) in enumerate(lines) if _HEADING.match(line)]
    rest = lines[headings[-1] + 1 :] if headings else lines
    ends = [place for place, (_, line) in enumerate(rest) if place > 2 and _AFTER.match(line)] if headings else []
    return rest[: ends[0]] if ends else rest


def _references(lines: list[Line]) -> Iterator[Line]:
    filled = [(number, line) for number, line in lines if line.strip()]
    if _is_numbered(filled):
        return _joined(filled, _number_starts(filled))
    blocks = _blocks(lines)
    if len(blocks) > 1 and any(len(block) > 1 for block in blocks):
        return (each for block in blocks for each in _of_block(block))
    return _of_block(filled)


def _number_of(line: str) -> int:
    found = _NUMBERED.match(line)
    return int(next(filter(None, found.groups()))) if found else 0


def _is_numbered(lines: list[Line]) -> bool:
    """Whether the first line has a number, and the numbers that follow it rise by one."""
    numbers = [number for _, line in lines if (number := _number_of(line))]
    if not lines or not numbers or not _number_of(lines[0][1]):
        return False
    return len(numbers) == 1 or numbers[1:2] == [numbers[0] + 1] or numbers[0] + 1 in numbers


def _number_starts(lines: list[Line]) -> set[int]:
    """Places of lines with the next number of the list; another number at a line's beginning belongs to its text."""
    starts, expected = set(), _number_of(lines[0][1])
    for place, (_, line) in enumerate(lines):
        if expected <= _number_of(line) <= expected + 1:
            starts.add(place)
            expected = _number_of(line) + 1
    return starts


def _blocks(lines: list[Line]) -> list[list[Line]]:
    blocks: list[list[Line]] = [[]]
    for number, line in lines:
        if line.strip():
            blocks[-1].append((number, line))
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _of_block(lines: list[Line]) -> Iterator[Line]:
    """A line each, unless lines are wrapped: then a reference ends where a line ends a sentence and a name follows."""
    starts = {0} | {
        place
        for place in range(1, len(lines))
        if _END.search(lines[place - 1][1]) and (_BEGINS.match(lines[place][1]) or not _is_wrapped(lines))
    }
    return _joined(lines, starts if _is_wrapped(lines) else set(range(len(lines))))


def _is_wrapped(lines: list[Line]) -> bool:
    """Whether most lines, but the last, do not end a sentence: text that was broken to a width."""
    open_ended = sum(not _END.search(line) for _, line in lines[:-1])
    return len(lines) > 1 and open_ended > (len(lines) - 1) / 4


def _joined(lines: list[Line], starts: set[int]) -> Iterator[Line]:
    current: list[str] = []
    first = 0
    for place, (number, line) in enumerate(lines):
        if place in starts and current:
            yield first, _unbroken(current)
            current = []
        first = first if current else number
        current.append(line.strip())
    if current:
        yield first, _unbroken(current)


def _unbroken(lines: list[str]) -> str:
    """The lines as one; a DOI or address that a line's end parts is whole again."""
    text = lines[0]
    for line in lines[1:]:
        broken = re.search(r"(?:https?://|10\.\d{4,9}/)\S*[/._-]$", text) and not re.match(r"[A-Z][a-z]+\b", line)
        text += line if broken else f" {line}"
    return text
