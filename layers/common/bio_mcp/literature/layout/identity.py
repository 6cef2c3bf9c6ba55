"""The DOI and the PMID that a document gives as its own."""

import re
from collections.abc import Iterable, Sequence

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import doi, parse_pmid
from bio_mcp.literature.layout.lines import PageLines
from bio_mcp.literature.parsed import ParsedSection, SectionKind

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;:)\]’”]", re.IGNORECASE)
_PMID = re.compile(r"\b(?:PMID|PubMed ID):?\s*(\d{1,9})\b", re.IGNORECASE)
_FIRST_PAGES = 2
_AFTER_TITLE = 300  # characters in which the DOI of a citation follows the title


def own_doi(before: Iterable[str], sections: Sequence[ParsedSection], title: str | None) -> str | None:
    """Return the document's DOI, in normal form.

    `before` is where it may stand beside the text, the surest first: metadata, running lines. Then it is sought in what
    comes before the first section of the text, and after the document's title where it says how to cite it.
    """
    front = [section.text for section in sections[: _front(sections)]]
    cited = _after_title(sections, title) if title else []
    for text in (*before, *front, *cited):
        for found in _DOI.findall(text):
            try:
                return doi(found)
            except InvalidInput:
                continue
    return None


def own_pmid(before: Iterable[str], sections: Sequence[ParsedSection]) -> str | None:
    """Return the document's PMID, from where `own_doi` looks."""
    for text in (*before, *(section.text for section in sections[: _front(sections)])):
        if found := _PMID.search(text):
            return parse_pmid(found[1])
    return None


def _front(sections: Sequence[ParsedSection]) -> int:
    """How many sections come before the text: those without a heading, which no list of references is."""
    return next(
        (at for at, each in enumerate(sections) if each.path or each.kind is not SectionKind.BODY), len(sections)
    )


def _after_title(sections: Sequence[ParsedSection], title: str) -> list[str]:
    wanted = re.compile(r"\W+".join(map(re.escape, re.findall(r"\w+", title))), re.IGNORECASE)
    found = (wanted.search(section.text) for section in sections if section.kind is SectionKind.BODY)
    return [match.string[match.end() : match.end() + _AFTER_TITLE] for match in found if match]


def outside(pages: Sequence[PageLines], stripped: Sequence[PageLines]) -> list[str]:
    """The lines of the first pages that are no longer on them when running lines are taken out."""
    both = zip(pages[:_FIRST_PAGES], stripped, strict=False)
    return [line.text for page, left in both for line in page.lines if line not in set(left.lines)]
