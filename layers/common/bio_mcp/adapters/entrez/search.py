"""ESearch: building the request and reading the answer."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from bio_mcp.adapters.entrez.answer import Answer, well_formed
from bio_mcp.adapters.entrez.redaction import redacted
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.ports.pubmed import LISTABLE, SearchPage

SORTS = ("relevance", "pub_date", "Author", "JournalName")
DATE_TYPES = ("pdat", "edat", "mdat")

_DAY = re.compile(r"\d{4}(/\d{2}(/\d{2})?)?")
_NO_ITEMS = "No items found."  # the count says so already
_DROPPED = {
    "phrasesnotfound": "PubMed does not know '{}' and left it out of the search",
    "fieldsnotfound": "PubMed has no search field '{}' and searched without it",
    "phrasesignored": "PubMed ignored '{}' as too common or not searchable",
    "quotedphrasesnotfound": "PubMed does not know the phrase '{}' and searched its words instead",
}


def search_form(
    term: str,
    *,
    retstart: int,
    retmax: int,
    sort: str,
    history: bool,
    dates: tuple[str, str, str] | None,
) -> dict[str, str]:
    """The fields of an ESearch request; `dates` is (datetype, mindate, maxdate). Raises `InvalidInput`."""
    if not term.strip():
        raise InvalidInput("the search term is empty; give at least one word")
    if sort not in SORTS:
        raise InvalidInput(f"unknown sort order '{sort}'; choose one of {', '.join(SORTS)}")
    if retstart < 0 or retmax < 0:
        raise InvalidInput("retstart and retmax cannot be negative")
    form = {
        "term": term,
        "retstart": str(retstart),
        "retmax": str(min(retmax, LISTABLE)),
        "sort": sort,  # without it PubMed gives the newest first, whatever its documentation says
        "retmode": "json",
    }
    if history:
        form["usehistory"] = "y"
    return form | _date_fields(dates)


def _date_fields(dates: tuple[str, str, str] | None) -> dict[str, str]:
    """Validated here because PubMed ignores a misspelt date type, which silently widens the search."""
    if dates is None:
        return {}
    kind, first, last = dates
    if kind not in DATE_TYPES:
        raise InvalidInput(f"unknown date type '{kind}'; choose one of {', '.join(DATE_TYPES)}")
    if not (_DAY.fullmatch(first) and _DAY.fullmatch(last)):
        raise InvalidInput("mindate and maxdate come together, as YYYY, YYYY/MM or YYYY/MM/DD")
    return {"datetype": kind, "mindate": first, "maxdate": last}


def read_search(answer: Answer, retstart: int, retmax: int) -> SearchPage:
    """The page, with every id that its count promises. Raises `NcbiUnreadable` if some are missing."""
    page = well_formed(
        lambda: _page(answer.json["esearchresult"], answer.day),
        "NCBI's search answer lacks its count or its list of PMIDs; try again",
    )
    expected = max(0, min(retmax, page.count - retstart, LISTABLE - retstart))
    if len(page.ids) < expected:
        raise NcbiUnreadable(f"NCBI sent {len(page.ids)} of {expected} PMIDs; try again")
    return page


def _page(result: Any, day: date | None) -> SearchPage:
    return SearchPage(
        count=int(result["count"]),
        ids=tuple(dict.fromkeys(str(int(pmid)) for pmid in result["idlist"])),
        translation=str(result.get("querytranslation") or ""),
        warnings=tuple(dict.fromkeys(_warnings(result))),
        web_env=result.get("webenv"),
        query_key=result.get("querykey"),
        dropped=tuple(dict.fromkeys((result.get("errorlist") or {}).get("phrasesnotfound", ()))),
        day=day,
    )


def _warnings(result: Any) -> list[str]:
    warnings: list[str] = []
    for name in ("errorlist", "warninglist"):
        dropped: dict[str, Sequence[str]] = result.get(name) or {}
        for kind, terms in dropped.items():
            sentence = _DROPPED.get(kind.lower())
            unknown = [term for term in terms if term != _NO_ITEMS]
            warnings += [sentence.format(term) if sentence else f"PubMed: {redacted(term)}" for term in unknown]
    return warnings
