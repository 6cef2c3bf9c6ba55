"""What changed between two versions of a paper, word for word."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from bio_mcp.literature.records import Article, Journal

MOST_WORDS = 5_000  # of both versions of a text that is compared; a longer one is given whole

_WORD = re.compile(r"\s*\S+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a field's text."""

    kind: Literal["same", "removed", "added"]
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that changed. Without what is `added` the pieces are the old text, without what is `removed` the new."""

    field: str
    pieces: tuple[Piece, ...]


def differences(before: Article, after: Article) -> list[Difference]:
    """The fields that a reader sees whose text is not the same in both, in the order of a record."""
    texts = [(name, _tokens(words_of(before)), _tokens(words_of(after))) for name, words_of in _FIELDS.items()]
    return [Difference(name, tuple(_pieces(old, new))) for name, old, new in texts if old != new]


def _tokens(text: str | Sequence[str]) -> list[str]:
    """The words of a text, or the items of a list, each with what stands between it and the one before."""
    if isinstance(text, str):
        return _WORD.findall(text)
    return [f"{'; ' if number else ''}{each}" for number, each in enumerate(text)]


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    if len(old) + len(new) > MOST_WORDS:
        yield Piece("removed", "".join(old))
        yield Piece("added", "".join(new))
        return
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield Piece("same", "".join(old[start:end]))
            continue
        yield from (Piece("removed", text) for text in ["".join(old[start:end])] if text)
        yield from (Piece("added", text) for text in ["".join(new[new_start:new_end])] if text)


def _source(article: Article) -> str:
    journal = article.journal or Journal()
    title = journal.title or (article.book.title if article.book else None)
    printed = article.publication_date.text if article.publication_date else None
    return " ".join(part for part in (title, printed, journal.volume, journal.issue, article.pages) if part)


_FIELDS: dict[str, Callable[[Article], str | Sequence[str]]] = {
    "title": lambda article: article.title or article.vernacular_title or "",
    "retraction": lambda article: article.retraction.value,
    "notices": lambda article: [
        " ".join(filter(None, (each.relation, each.citation, each.pmid and f"PMID {each.pmid}")))
        for each in article.corrections
    ],
    "abstract": lambda article: " ".join(
        f"{each.label}: {each.text}" if each.label else each.text for each in article.abstract
    ),
    "authors": lambda article: [each.short_name for each in article.authors],
    "source": _source,
    "publication types": lambda article: [each.name for each in article.publication_types],
    "headings": lambda article: [each.name for each in article.mesh],
    "keywords": lambda article: article.keywords,
    "DOI": lambda article: article.doi or "",
    "PMCID": lambda article: article.pmcid or "",
    "status": lambda article: article.status or "",
    "revised": lambda article: article.date_revised.isoformat() if article.date_revised else "",
}
