"""What filters look at in a chunk, in one spelling for every engine."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bio_mcp.retrieval.project_chunks import ChunkFilters, ProjectChunk, Work

SECTION_SEPARATOR = " > "
_INITIALS = re.compile(r"[^\W\d_]{1,4}(?:[.-]+[^\W\d_]{0,4})*\.?")
_SUFFIXES = frozenset(["jr", "sr", "2nd", "3rd", "4th", "ii", "iii", "iv"])


def folded(text: str) -> str:
    """`text` without its case: in Unicode's composed form, single spaces between words."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def author_names(author: str) -> frozenset[str]:
    """The names by which a filter finds an author, folded: as stored, and the family name.

    "van der Berg JA 3rd" is also found as "van der berg", "Doe, Jane" and "Doe Jane" as "doe".
    """
    return frozenset(filter(None, (folded(author), folded(_family_name(author)))))


def _family_name(author: str) -> str:
    family, comma, _ = author.partition(",")
    words = author.split()
    if comma or len(words) < 2:
        return family
    count = len(words)
    while count > 1 and _is_initials(words[count - 1]):
        count -= 1
    return " ".join(words[: count if count < len(words) else -1])


def _is_initials(word: str) -> bool:
    return word.strip(".").lower() in _SUFFIXES or (word.isupper() and _INITIALS.fullmatch(word) is not None)


def section_of(chunk: ProjectChunk) -> str:
    """The headings of a chunk from the top, folded: what `ChunkFilters.section_prefix` is compared with."""
    path = chunk.section_path or ((chunk.section,) if chunk.section else ())
    return folded(SECTION_SEPARATOR.join(path))


@dataclass(frozen=True, slots=True)
class WorkFacets:
    """What filters look at in a work; all but `doc_id` and `citekey` folded."""

    doc_id: str
    citekey: str | None
    year: int | None
    tags: frozenset[str]
    authors: frozenset[str]

    def pass_through(self, filters: ChunkFilters) -> bool:
        """Whether chunks of the work may be returned, their section aside; `filters` are folded."""
        return (
            (not filters.doc_ids or self.doc_id in filters.doc_ids)
            and (not filters.citekeys or self.citekey in filters.citekeys)
            and (not filters.authors or bool(filters.authors & self.authors))
            and filters.tags <= self.tags
            and (filters.year_from is None or (self.year is not None and self.year >= filters.year_from))
            and (filters.year_to is None or (self.year is not None and self.year <= filters.year_to))
        )


def facets_of(work: Work) -> WorkFacets:
    """The facets of a work."""
    authors: frozenset[str] = frozenset().union(*map(author_names, work.authors))
    return WorkFacets(work.doc_id, work.citekey, work.year, _all_folded(work.tags), authors)


def folded_filters(filters: ChunkFilters) -> ChunkFilters:
    """The same filters, spelled as facets are."""
    return replace(
        filters,
        tags=_all_folded(filters.tags),
        authors=_all_folded(filters.authors),
        section_prefix=None if filters.section_prefix is None else folded(filters.section_prefix),
    )


def _all_folded(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(folded, texts))
