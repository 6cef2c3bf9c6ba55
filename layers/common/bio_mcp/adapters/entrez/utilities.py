"""The utilities beside fetching: searches, summaries, links, spelling and information on databases."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bio_mcp.adapters.entrez.transport import Answer, redacted, well_formed
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.identifiers import bare_pmid
from bio_mcp.literature.medline.retraction_status import REF_TYPES, retraction_status
from bio_mcp.literature.medline.text import subscript, superscript
from bio_mcp.literature.records import Correction, PublicationType
from bio_mcp.ports.ncbi import (
    LISTABLE,
    Citation,
    CitationMatch,
    DocSummary,
    EntrezDatabase,
    Link,
    LinkName,
    LinkSet,
    SearchField,
    SearchPage,
    Spelling,
    Summaries,
)


def checked(pmids: Iterable[str], at_most: int | None = None) -> list[str]:
    """`pmids` without duplicates, in order. Raises `InvalidInput` for none, too many, and what is not a PMID."""
    ids = list(dict.fromkeys(bare_pmid(pmid.strip()) for pmid in pmids))
    if not ids:
        raise InvalidInput("no PMIDs were given; give at least one")
    if at_most is not None and len(ids) > at_most:
        raise InvalidInput(f"{len(ids)} PMIDs are too many for one request; ask for at most {at_most}")
    return ids


def batches(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))


COMMANDS = ("neighbor", "neighbor_score")


@well_formed("NCBI's links are not in their known form; try again")
def read_links(answer: Answer, requested: Sequence[str], link_name: str) -> tuple[LinkSet, ...]:
    """One set per requested PMID, empty if nothing is linked. Raises `NcbiUnreadable` for a missing set."""
    sets = dict(_json_sets(answer, link_name) if answer.form == "json" else _xml_sets(answer, link_name))
    missing = [pmid for pmid in requested if pmid not in sets]
    if missing:
        raise NcbiUnreadable(
            f"NCBI sent the links of {len(requested) - len(missing)} of {len(requested)} PMIDs; try again"
        )
    return tuple(LinkSet(pmid, sets[pmid]) for pmid in requested)


def _json_sets(answer: Answer, link_name: str) -> Iterable[tuple[str, tuple[Link, ...]]]:
    for linkset in answer.json["linksets"]:
        lists = [linksetdb for linksetdb in linkset.get("linksetdbs", ()) if linksetdb["linkname"] == link_name]
        links = [link if isinstance(link, dict) else {"id": link} for found in lists for link in found["links"]]
        scored = (Link(str(int(each["id"])), int(each["score"]) if "score" in each else None) for each in links)
        yield _owner(linkset["ids"]), tuple(scored)


def _xml_sets(answer: Answer, link_name: str) -> Iterable[tuple[str, tuple[Link, ...]]]:
    for linkset in answer.xml().iterfind("LinkSet"):
        lists = [each for each in linkset.iterfind("LinkSetDb") if each.findtext("LinkName") == link_name]
        found = [(link.findtext("Id"), link.findtext("Score")) for each in lists for link in each.iterfind("Link")]
        owner = _owner([uid.text for uid in linkset.iterfind("IdList/Id")])
        yield owner, tuple(Link(str(uid).strip(), int(score) if score else None) for uid, score in found)


def _owner(ids: Sequence[Any]) -> str:
    """The PMID of a link set. Ids are sent one by one, so that NCBI keeps their links apart."""
    if len(ids) != 1:
        raise NcbiUnreadable("NCBI joined the links of several PMIDs; try again")
    return str(ids[0])


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
    if dates is None:
        return form
    kind, first, last = dates  # checked, as PubMed ignores a misspelt type, which silently widens the search
    if kind not in DATE_TYPES:
        raise InvalidInput(f"unknown date type '{kind}'; choose one of {', '.join(DATE_TYPES)}")
    if not (_DAY.fullmatch(first) and _DAY.fullmatch(last)):
        raise InvalidInput("mindate and maxdate come together, as YYYY, YYYY/MM or YYYY/MM/DD")
    return form | {"datetype": kind, "mindate": first, "maxdate": last}


@well_formed("NCBI's search answer lacks its count or its list of PMIDs; try again")
def read_search(answer: Answer, retstart: int, retmax: int) -> SearchPage:
    """The page, with every id that its count promises. Raises `NcbiUnreadable` if some are missing."""
    result = answer.json["esearchresult"]
    count, ids = int(result["count"]), tuple(dict.fromkeys(str(int(pmid)) for pmid in result["idlist"]))
    expected = max(0, min(retmax, count - retstart, LISTABLE - retstart))
    if len(ids) < expected:
        raise NcbiUnreadable(f"NCBI sent {len(ids)} of {expected} PMIDs; try again")
    return SearchPage(
        count=count,
        ids=ids,
        translation=str(result.get("querytranslation") or ""),
        warnings=tuple(dict.fromkeys(_warnings(result))),
        web_env=result.get("webenv"),
        query_key=result.get("querykey"),
        dropped=tuple(dict.fromkeys((result.get("errorlist") or {}).get("phrasesnotfound", ()))),
        day=answer.day,
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


@well_formed("NCBI's description of the database is not in its known form; try again")
def read_info(answer: Answer) -> EntrezDatabase:
    """Read EInfo's description of a database. Raises `NcbiUnreadable`."""
    dbinfo: Any = answer.json["einforesult"]["dbinfo"]
    info = dbinfo[0] if isinstance(dbinfo, list) else dbinfo
    return EntrezDatabase(
        name=info["dbname"],
        menu_name=info["menuname"],
        description=info["description"],
        count=int(info["count"]),
        last_update=info["lastupdate"],
        fields=tuple(_field(field) for field in info["fieldlist"]),
        links=tuple(LinkName(link["name"], link["description"], link["dbto"]) for link in info.get("linklist") or ()),
    )


def _field(field: Any) -> SearchField:
    terms = str(field.get("termcount", ""))
    return SearchField(
        name=field["name"],
        full_name=field["fullname"],
        description=field["description"],
        is_date=field["isdate"] == "Y",
        is_numerical=field["isnumerical"] == "Y",
        is_hidden=field["ishidden"] == "Y",
        terms=int(terms) if terms.isdecimal() else None,
    )


def read_spelling(answer: Answer) -> Spelling:
    """Read ESpell's answer; a correction equal to the query is None. Raises `NcbiUnreadable`."""
    root = answer.xml()
    query = root.findtext("Query")
    if query is None:
        raise NcbiUnreadable("NCBI's spelling answer does not name the query; try again")
    corrected = (root.findtext("CorrectedQuery") or "").strip()
    return Spelling(query, corrected if corrected and corrected != query else None)


def citation_lines(citations: Sequence[Citation]) -> str:
    """ECitMatch's `bdata`: one line per citation, with its number as key. Raises `InvalidInput`."""
    if not citations:
        raise InvalidInput("no citations were given; give at least one")
    lines = []
    for number, each in enumerate(citations):
        parts = (each.journal, each.year, each.volume, each.first_page, each.author)
        if any(re.search(r"[|\r\n]", part) for part in parts):
            raise InvalidInput("a citation cannot contain '|' or a line break")
        lines.append("|".join((*parts, f"c{number}")) + "|")
    return "\r".join(lines)


def read_matches(answer: Answer, citations: Sequence[Citation]) -> list[CitationMatch]:
    """One match per citation, in order. Raises `NcbiUnreadable` if one was not answered."""
    lines = answer.body.decode("utf-8", "replace").splitlines()
    verdicts = {parts[5].strip(): parts[6].strip() for line in lines if len(parts := line.split("|")) >= 7}
    if any(f"c{number}" not in verdicts for number in range(len(citations))):
        raise NcbiUnreadable("NCBI did not answer every citation; try again")
    matches = []
    for number, citation in enumerate(citations):
        pmid = verdict if (verdict := verdicts[f"c{number}"]).isdecimal() else None
        matches.append(CitationMatch(citation, pmid, None if pmid else verdict or "NOT_FOUND"))
    return matches


SUMMARY_BATCH = 200
DENIAL = "cannot get document summary"
_REF_TYPES = {kind.lower(): kind for kind in REF_TYPES}
_RAISED = re.compile(r"<sup>([^<>]*)</sup>", re.IGNORECASE)
_LOWERED = re.compile(r"<sub>([^<>]*)</sub>", re.IGNORECASE)
_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|mml:[\w]+)(?:\s[^<>]*)?/?>", re.IGNORECASE)


def read_summaries(answer: Answer, requested: Sequence[str] | None = None) -> Summaries:
    """The summaries of `requested`, or all in the answer's order. One bad id does not affect the others.

    Raises `NcbiUnreadable` if an id is silently absent: the answer is truncated then, which is not "not found".
    """
    result = answer.json.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("uids"), list):
        raise NcbiUnreadable("NCBI's summaries lack their list of PMIDs; try again")
    found: list[DocSummary] = []
    missing: dict[str, str] = {}
    for pmid in requested if requested is not None else [str(uid) for uid in result["uids"]]:
        entry = result.get(pmid)
        if isinstance(entry, dict) and "error" not in entry:
            found.append(_summary(pmid, entry))
        elif isinstance(entry, dict) or answer.json.get("error"):
            missing[pmid] = "PubMed has no summary of it"
        else:
            raise NcbiUnreadable(f"NCBI's answer passed over PMID {pmid}; try again")
    denied = frozenset(pmid for pmid in missing if result.get(pmid) == {"uid": pmid, "error": DENIAL})
    return Summaries(tuple(found), missing, denied)


def _summary(pmid: str, entry: dict[str, Any]) -> DocSummary:
    ids = {item.get("idtype"): item.get("value") for item in objects(entry.get("articleids"))}
    history = {item.get("pubstatus"): item.get("date") for item in objects(entry.get("history"))}
    types = [PublicationType("", name) for name in _texts(entry.get("pubtype"))]
    # ESummary's "Retraction in" is the DTD's RetractionIn.
    kinds = [str(reference.get("reftype")).replace(" ", "").lower() for reference in objects(entry.get("references"))]
    return DocSummary(
        pmid=pmid,
        title=_text(entry.get("title")) or _text(entry.get("vernaculartitle")) or _text(entry.get("booktitle")),
        journal=_text(entry.get("fulljournalname")),
        pub_types=_texts(entry.get("pubtype")),
        pdat=_text(entry.get("pubdate")),
        edat=_instant(history.get("pubmed")),
        pmcid=next(iter(re.findall(r"PMC\d+", f"{ids.get('pmc')} {ids.get('pmcid')}")), None),
        authors=_texts(author.get("name") for author in objects(entry.get("authors"))),
        source=_text(entry.get("source")),
        epdat=_text(entry.get("epubdate")),
        doi=_text(ids.get("doi")),
        volume=_text(entry.get("volume")),
        issue=_text(entry.get("issue")),
        pages=_text(entry.get("pages")),
        languages=_texts(entry.get("lang")),
        retraction=retraction_status(types, [Correction(_REF_TYPES[kind]) for kind in kinds if kind in _REF_TYPES]),
    )


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    """Plain text of an XML fragment that NCBI escaped as a whole ("H&lt;sub&gt;2&lt;/sub&gt;O" -> "H₂O")."""
    if not isinstance(value, str):
        return None
    fragment = html.unescape(value)
    fragment = _RAISED.sub(lambda match: superscript(match[1]), fragment)
    fragment = _LOWERED.sub(lambda match: subscript(match[1]), fragment)
    return html.unescape(_MARKUP.sub("", fragment)).strip() or None


def _texts(values: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(text for value in values or () if (text := _text(value)))


def _instant(value: Any) -> str | None:
    """Convert "2021/09/28 06:00" to "2021-09-28T06:00"; None if it is not a date."""
    match = re.match(r"(\d{4})/(\d\d)/(\d\d)(?: (\d\d:\d\d))?", value) if isinstance(value, str) else None
    if not match:
        return None
    day = "-".join(match.groups()[:3])
    return f"{day}T{match[4]}" if match[4] else day
