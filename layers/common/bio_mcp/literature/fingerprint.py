"""Content hash of a record: a fetched record is a revision when this hash differs.

NLM exports a record again for reasons that no reader sees: MeSH indexing, a new MHDA, a later DateRevised. The
hash covers what a reader, a citation or a filter depends on, and nothing else.
"""

from hashlib import sha256
from typing import Any

import orjson

from bio_mcp.literature.records import Article, Journal

SCHEME = 1


def content_hash(article: Article) -> str:
    """SHA-256, in hex, of the article's canonical JSON (RFC 8785).

    The JSON holds strings, integers, nulls, lists and ASCII keys only; for these, sorted compact JSON in UTF-8 is
    RFC 8785. Raise `SCHEME` whenever a field is added, dropped or read in another way: every record then is news.
    """
    return sha256(_canonical(article)).hexdigest()


def _canonical(article: Article) -> bytes:
    return orjson.dumps(_content(article), option=orjson.OPT_SORT_KEYS)


def _content(article: Article) -> dict[str, Any]:
    """The hashed fields. MeSH, keywords, authors' affiliations and revision dates are left out on purpose."""
    return {
        "scheme": SCHEME,
        "title": article.title,
        "abstract": [[section.label, section.text] for section in article.abstract],
        "journal": _journal(article.journal) if article.journal else None,
        "book": article.book.title if article.book else None,
        "publication_types": [[kind.ui, kind.name] for kind in article.publication_types],
        "dates": {
            "publication": article.publication_date.text if article.publication_date else None,
            "electronic": article.electronic_date.text if article.electronic_date else None,
            "edat": article.edat,
            "crdt": article.crdt,
        },
        "ids": {"pmid": article.pmid, "doi": article.doi, "pmcid": article.pmcid, "pii": article.pii},
        "retraction": article.retraction.value,
    }


def _journal(journal: Journal) -> list[str | None]:
    return [journal.title, journal.nlm_id, journal.issn_l, journal.issn, journal.volume, journal.issue]
