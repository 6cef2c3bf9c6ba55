"""Text that passages of one work share, so that one answer says nothing twice.

Texts are compared by their letters and digits: neither case, spaces nor punctuation make a difference.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from bio_mcp.retrieval.project_chunks import ProjectChunk, Work

LEAST_SHARED = 12  # letters; fewer may end one passage and begin another by chance
LEAST_NEW = 1 / 3  # of a chunk's text; one with less to add is left out
LEFT_OUT = " […] "
CACHED_TEXTS = 1024

Span = tuple[int, int]


class _Letters(NamedTuple):
    """The letters of a text, and where each stands in it."""

    text: str
    places: tuple[int, ...]


def new_text(chunk: ProjectChunk, better: Iterable[ProjectChunk]) -> str | None:
    """The text of `chunk` without what `better` chunks of its work have of it; None where they have most of it.

    Compares texts, since chunks that a client stored have no offsets.
    """
    left = unrepeated(chunk.text, (other.text for other in better if is_same_work(chunk.work, other.work)))
    return left if left and len(left) >= LEAST_NEW * len(chunk.text.strip()) else None


def is_same_work(one: Work, other: Work) -> bool:
    """Whether both are one document, or one paper by its PMID or DOI."""
    pmid, doi = one.pmid is not None and one.pmid == other.pmid, one.doi is not None and one.doi == other.doi
    return one.doc_id == other.doc_id or pmid or doi


def unrepeated(text: str, others: Iterable[str]) -> str:
    """`text` without what the others have of it whole, at its beginning or at its end; "" where nothing is left."""
    letters = _letters(text)
    repeated = [span for other in others for span in _repeated(letters.text, _letters(other).text)]
    if not repeated:
        return text.strip()
    pieces = (_piece(text, letters.places, *span) for span in _between(sorted(repeated), len(letters.text)))
    return LEFT_OUT.join(piece for piece in pieces if piece)


def _repeated(letters: str, other: str) -> list[Span]:
    """Where `other` has a part of `letters`: all of it, its two ends, or a part that is all of `other`."""
    if letters in other:
        return [(0, len(letters))]
    start, end = _joint(other, letters), len(letters) - _joint(letters, other)
    spans = [(0, start), (end, len(letters))]
    if len(other) >= LEAST_SHARED and (at := letters.find(other)) >= 0:
        spans.append((at, at + len(other)))
    return [(first, last) for first, last in spans if first < last]


def _joint(first: str, second: str) -> int:
    """How many letters at the end of `first` begin `second`; 0 where they are fewer than `LEAST_SHARED`."""
    at = first.find(second[:LEAST_SHARED])
    while 0 <= at <= len(first) - LEAST_SHARED:
        if second.startswith(first[at:]):
            return len(first) - at
        at = first.find(second[:LEAST_SHARED], at + 1)
    return 0


def _between(repeated: Iterable[Span], end: int) -> Iterable[Span]:
    """What spans in order leave of a text that ends at `end`."""
    at = 0
    for first, last in repeated:
        if first > at:
            yield at, first
        at = max(at, last)
    if at < end:
        yield at, end


def _piece(text: str, places: tuple[int, ...], first: int, last: int) -> str:
    """The part of the text with these letters, with the marks that stand next to them."""
    before = text[places[first - 1] + 1 : places[first]] if first else text[: places[0]]
    start = places[first] - (len(before) - _after_space(before) if first else len(before))
    end = places[last] if last < len(places) else len(text)
    behind = text[places[last - 1] + 1 : end]
    return f"{text[start : end - len(behind)]}{behind[: _before_space(behind)]}".strip()


def _after_space(gap: str) -> int:
    """Where the marks begin that lead the next word; the gap's end where it has no space."""
    return max((at + 1 for at, mark in enumerate(gap) if mark.isspace()), default=len(gap))


def _before_space(gap: str) -> int:
    """Where the marks end that follow a word."""
    return next((at for at, mark in enumerate(gap) if mark.isspace()), len(gap))


@lru_cache(CACHED_TEXTS)
def _letters(text: str) -> _Letters:
    places = tuple(at for at, letter in enumerate(text) if letter.isalnum())
    return _Letters("".join(text[at].lower()[:1] for at in places), places)
