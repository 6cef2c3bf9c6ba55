"""ESummary: the short form of a record, as JSON 0.3 (the data of version 2).

An unknown PMID has an entry with `error` among the good ones; a malformed one is named in a top-level `error` beside
the good results. More than 500 ids bring nothing but an error, under 200.
"""

from typing import Any

from lxml import etree

from tests.support.eutils_server.answers import Answer, Params, as_json, error, header
from tests.support.eutils_server.records import Record
from tests.support.eutils_server.state import CAP, Ncbi, QueryLost

MOST = 500
_STATUSES = {
    "MEDLINE": "PubMed - indexed for MEDLINE",
    "In-Process": "PubMed - in process",
    "In-Data-Review": "PubMed - in process",
    "Publisher": "PubMed - as supplied by publisher",
}
_PUBLICATION = {"epublish": "3", "ppublish": "4", "aheadofprint": "10"}
_ID_TYPES = {"pubmed": 1, "doi": 3, "pii": 4, "pmc": 8}
_MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def esummary(ncbi: Ncbi, params: Params) -> Answer:
    if params.get("db", "pubmed") != "pubmed":
        return error("eSummaryResult", f"Invalid db name specified: {params.get('db')}", params)
    try:
        ids = _ids(ncbi, params)
    except (QueryLost, ValueError) as failure:
        return error("eSummaryResult", str(failure), params)
    if len(ids) > MOST:
        message = "Too many UIDs in request. Maximum number of UIDs is 500 for JSON format output."
        return as_json({"header": header("esummary"), "error": message})
    content: dict[str, Any] = {"header": header("esummary")}
    bad = next((one for one in ids if not one.isdigit()), None)
    if bad is not None:
        content["error"] = f"Invalid uid {bad} at position={max(params.get('id').find(bad) - 1, 0)}"
    good = [str(int(one)) for one in ids if one.isdigit()]
    content["result"] = {"uids": good} | {one: summary(ncbi.catalogue.get(int(one)), one) for one in good}
    return as_json(content)


def _ids(ncbi: Ncbi, params: Params) -> list[str]:
    if params.get("WebEnv"):
        held = ncbi.history.recall(params)
        retstart = params.number("retstart", 0)
        return [str(pmid) for pmid in held[retstart : min(retstart + params.number("retmax", MOST), CAP)]]
    if not params.has("id"):
        raise ValueError("Neither query_key nor id specified")
    if not params.ids:
        raise ValueError("Empty id list - nothing todo")
    return list(dict.fromkeys(params.ids))


def summary(record: Record | None, uid: str) -> dict[str, Any]:
    """The document summary of a record, its keys and types as PubMed gives them."""
    if record is None:
        return {"uid": uid, "error": "cannot get document summary"}
    root = etree.fromstring(record.xml)
    kinds = {issn.get("IssnType"): issn.text or "" for issn in root.iterfind(".//Journal/ISSN")}
    names = [{"name": name, "authtype": "Author", "clusterid": ""} for name in record.authors]
    groups = {node.text for node in root.iterfind(".//AuthorList/Author/CollectiveName")}
    for name in names:
        name["authtype"] = "CollectiveName" if name["name"] in groups else "Author"
    doi = record.own_ids.get("doi", "")
    people = [name["name"] for name in names if name["authtype"] == "Author"]
    return {
        "uid": uid,
        "pubdate": _date(root.find(".//PubDate")),
        "epubdate": _date(root.find(".//ArticleDate[@DateType='Electronic']")),
        "source": _text(root, ".//MedlineTA"),
        "authors": names,
        "lastauthor": people[-1] if people else "",
        "title": record.title,
        "sorttitle": record.title.lower().strip(" .["),
        "volume": _text(root, ".//JournalIssue/Volume"),
        "issue": _text(root, ".//JournalIssue/Issue"),
        "pages": _text(root, ".//MedlinePgn"),
        "lang": record.elements("Language"),
        "nlmuniqueid": _text(root, ".//NlmUniqueID"),
        "issn": kinds.get("Print", ""),
        "essn": kinds.get("Electronic", ""),
        "pubtype": record.elements("PublicationType"),
        "recordstatus": _STATUSES.get((root[0].get("Status") or ""), "PubMed"),
        "pubstatus": _PUBLICATION.get(_text(root, ".//PublicationStatus"), "256"),
        "articleids": [
            {"idtype": kind, "idtypen": _ID_TYPES.get(kind, 8), "value": value}
            for kind, value in record.own_ids.items()
        ],
        "history": [_stamp(node) for node in root.iterfind(".//PubMedPubDate")],
        "references": _references(root),
        "attributes": ["Has Abstract"] if record.abstract else [],
        "pmcrefcount": "",
        "fulljournalname": _text(root, ".//Journal/Title"),
        "elocationid": f"doi: {doi}" if doi else "",
        "doctype": "citation" if root.tag == "PubmedArticle" else "chapter",
        "booktitle": _text(root, ".//BookTitle"),
        "vernaculartitle": _text(root, ".//VernacularTitle"),
        "sortpubdate": f"{record.dates.get('pdat', ('',))[0]} 00:00",
        "sortfirstauthor": people[0] if people else "",
    }


def _text(root: etree._Element, path: str) -> str:
    node = root.find(path)
    return "" if node is None else "".join(map(str, node.itertext()))


def _date(node: etree._Element | None) -> str:
    if node is None:
        return ""
    parts = [child.text or "" for child in node if child.tag in ("Year", "Month", "Season", "Day", "MedlineDate")]
    if len(parts) > 1 and parts[1].isdigit():
        parts[1] = _MONTHS[int(parts[1])]
    return " ".join(part.lstrip("0") for part in parts)


def _stamp(node: etree._Element) -> dict[str, str]:
    year, month, day, hour, minute = (
        int(node.findtext(name) or default)
        for name, default in (("Year", 0), ("Month", 1), ("Day", 1), ("Hour", 0), ("Minute", 0))
    )
    return {"pubstatus": node.get("PubStatus") or "", "date": f"{year}/{month:02}/{day:02} {hour:02}:{minute:02}"}


def _references(root: etree._Element) -> list[dict[str, str]]:
    """What the record says about its relations: errata, retractions, comments."""
    return [
        {
            "refsource": node.findtext("RefSource") or "",
            "reftype": node.get("RefType") or "",
            "pmid": node.findtext("PMID") or "",
            "note": node.findtext("Note") or "",
        }
        for node in root.iterfind(".//CommentsCorrections")
        if node.get("RefType") != "Cites"
    ]
