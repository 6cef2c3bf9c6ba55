"""CSL-JSON 1.0.2, which citation processors, pandoc and Zotero read."""

import json
from typing import Any

from bio_mcp.literature.citing import pages
from bio_mcp.literature.citing.dates import csl_date
from bio_mcp.literature.citing.names import Name
from bio_mcp.literature.citing.notices import notes
from bio_mcp.literature.citing.works import Work


def render(work: Work) -> str:
    """Render one item as JSON; empty variables are left out."""
    return json.dumps(item(work), ensure_ascii=False, indent=1)


def item(work: Work) -> dict[str, Any]:
    """Map the work to CSL variables. Titles are plain text; page ranges have both numbers in full."""
    article = work.article
    variables = {
        "id": work.identifier,
        "type": work.kind,
        "title": work.title,
        "original-title": work.original_title,
        "author": [_person(name) for name in work.authors],
        "issued": csl_date(work.issued) if work.issued else None,
        **(_of_book(work) if article.book else _of_journal(work)),
        "page": work.number or pages.full(work.page),
        "genre": "Preprint" if work.preprint else None,
        "status": "advance online publication" if work.ahead_of_print else None,
        "language": work.language,
        "DOI": article.doi,
        "PMID": article.pmid,
        "PMCID": article.pmcid,
        "URL": work.url,
        "source": "PubMed" if article.pmid else None,
        "note": " ".join(notes(work)),
    }
    return {name: value for name, value in variables.items() if value}


def _of_journal(work: Work) -> dict[str, Any]:
    journal = work.article.journal
    return {
        "container-title": work.container,
        "container-title-short": work.abbreviation,
        "publisher": work.container if work.preprint else None,
        "volume": work.volume,
        "issue": work.issue,
        "ISSN": journal and (journal.issn or journal.issn_l),
    }


def _of_book(work: Work) -> dict[str, Any]:
    book = work.article.book
    return {
        "container-title": work.container,
        "editor": [_person(name) for name in work.editors],
        "publisher": book and book.publisher,
        "publisher-place": book and book.place,
        "edition": book and book.edition,
        "ISBN": book and " ".join(book.isbn),
    }


def _person(name: Name) -> dict[str, str]:
    """A name variable; a group, or a name of one word, is `literal`."""
    if name.literal:
        return {"literal": name.literal}
    parts = {"family": name.family, "given": name.given, "suffix": name.suffix}
    return {part: text for part, text in parts.items() if text}
