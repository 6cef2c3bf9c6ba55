"""ESearch: a page of PMIDs for a term, never beyond the first 9,999."""

from typing import Any

from tests.support.eutils_server import days
from tests.support.eutils_server.answers import Answer, Params, as_json, error, header
from tests.support.eutils_server.catalogue import Pmids
from tests.support.eutils_server.fields import field_of
from tests.support.eutils_server.query import Found, Search, SearchBackendFailed, combined
from tests.support.eutils_server.records import Record, normalised
from tests.support.eutils_server.state import CAP, Ncbi

Json = dict[str, Any]
BEYOND_CAP = (
    "Search Backend failed: Exception:\n'retstart' cannot be larger than 9998. For PubMed, ESearch can only retrieve"
    " the first 9,999 records matching the query.\n To obtain more than 9,999 PubMed records, consider using EDirect"
    " that contains additional logic to batch PubMed search results automatically so that an arbitrary number can be"
    " retrieved.\n For details see https://www.ncbi.nlm.nih.gov/books/NBK25499/"
)
RESTRICTED = "Restrictions achieved: only the first 9,999 records can be retrieved."


def esearch(ncbi: Ncbi, params: Params) -> Answer:
    if params.get("db", "pubmed") != "pubmed":
        return error("eSearchResult", f"Invalid db name specified: {params.get('db')}", params)
    if not (term := params.get("term").strip()):
        return error("eSearchResult", "Empty term and query_key - nothing todo", params)
    sets = ncbi.history.sets(params.get("WebEnv"))
    search = Search(ncbi.catalogue, {key: frozenset(pmids) for key, pmids in sets.items()})
    try:
        found = search.run(term)
    except SearchBackendFailed as failure:
        return error("eSearchResult", f"Search Backend failed: {failure}", params)
    found = within_dates(ncbi, params, found)
    ordered = in_order(ncbi, found.pmids or frozenset(), params.get("sort"), term)
    retstart = params.number("retstart", 0)
    if retstart > CAP - 1 and len(ordered) > CAP:
        return error("eSearchResult", BEYOND_CAP, params)
    return _page(ncbi, params, search, found.translation, ordered, retstart)


def within_dates(ncbi: Ncbi, params: Params, found: Found) -> Found:
    """The part in `mindate`..`maxdate` (both or neither, inclusive), by `datetype`."""
    chosen = field_of(params.get("datetype"))
    if chosen is None or chosen.kind not in ("edat", "mdat", "pdat"):
        chosen = field_of("edat")
    first, last = params.get("mindate"), params.get("maxdate")
    start, end = days.span(first), days.span(last)
    if not start or not end or not chosen:
        return found
    window = ncbi.catalogue.between(chosen.kind, start[0], end[1])
    return combined(found, "AND", Found(window, f"{first}:{last}[{chosen.name}]"))


def in_order(ncbi: Ncbi, pmids: Pmids, sort: str, term: str) -> list[int]:
    """Newest PMID first unless a sort is named, although the documentation promises relevance."""
    newest = sorted(pmids, reverse=True)
    visible = ncbi.catalogue.visible
    name = sort.lower().replace("_", " ").replace("+", " ")
    if name == "pub date":
        return sorted(newest, key=lambda pmid: max(visible[pmid].dates.get("pdat", ("",))), reverse=True)
    if name == "relevance":
        words = normalised(term).split()
        return sorted(newest, key=lambda pmid: relevance(visible[pmid], words), reverse=True)
    if name in ("author", "first author"):
        return sorted(newest, key=lambda pmid: (visible[pmid].authors or ["~"])[0].lower())
    if name in ("journal", "journalname"):
        return sorted(newest, key=lambda pmid: (visible[pmid].elements("MedlineTA") or ["~"])[0].lower())
    return newest


def relevance(record: Record, words: list[str]) -> int:
    """How often the words stand in the title: nothing like Best Match, but an order of its own."""
    title = normalised(record.title)
    return sum(title.count(f" {word} ") for word in words)


def _page(ncbi: Ncbi, params: Params, search: Search, translation: str, ordered: list[int], retstart: int) -> Answer:
    retmax = params.number("retmax", 20)
    page = ordered[retstart : min(retstart + retmax, CAP)]
    content = {"count": str(len(ordered)), "retmax": str(len(page)), "retstart": str(retstart)}
    if params.get("usehistory").lower() == "y":
        webenv, key = ncbi.history.keep(ordered, params.get("WebEnv"))
        content |= {"querykey": str(key), "webenv": webenv}
    messages = [] if ordered else ["No items found."]
    if len(ordered) > CAP and retstart + retmax > CAP:
        messages.append(RESTRICTED)
    result = _json(content, page, translation, search, messages)
    return as_json({"header": header("esearch"), "esearchresult": result})


def _json(content: dict[str, str], page: list[int], translation: str, search: Search, messages: list[str]) -> Json:
    notes = search.notes
    result: Json = content | {"idlist": [str(pmid) for pmid in page], "translationset": []}
    result["querytranslation"] = translation
    if notes.phrases_not_found or notes.fields_not_found:
        result["errorlist"] = {"phrasesnotfound": notes.phrases_not_found, "fieldsnotfound": notes.fields_not_found}
    if messages or notes.phrases_ignored or notes.quoted_not_found:
        result["warninglist"] = {
            "phrasesignored": notes.phrases_ignored,
            "quotedphrasesnotfound": notes.quoted_not_found,
            "outputmessages": messages,
        }
    return result
