"""ELink and EInfo: from recordings where the PMID was recorded, else worked out from the records themselves.

Comma-joined ids make one set and lose which id had which link; repeated `id` parameters make one set each. A set
without links has no `linksetdbs` at all. The first `pubmed_pubmed` neighbour of an article is the article.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from tests.support.eutils_server.answers import RECORDINGS, Answer, Params, as_json, as_xml, error, header, recorded
from tests.support.eutils_server.state import Ncbi

Links = dict[str, list[int]]
_MOST_RELATED = 100
_BY_DEFAULT = {"pubmed": ("pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs")}


def elink(ncbi: Ncbi, params: Params) -> Answer:
    if params.get("dbfrom", "pubmed") != "pubmed":
        return error("eLinkResult", f"Invalid db name specified: {params.get('dbfrom')}", params)
    command = params.get("cmd", "neighbor")
    sets = [[int(one) for one in value.split(",") if one.strip().isdigit()] for value in params.all("id")]
    found = [(ids, linked(ncbi, ids, params.get("db", "pubmed"), params.get("linkname"))) for ids in sets]
    scored = command == "neighbor_score"
    if params.wants_json:
        return as_json({"header": header("elink"), "linksets": [_json(ids, links, scored) for ids, links in found]})
    return as_xml("eLinkResult", "".join(_xml(ids, links, scored) for ids, links in found))


def linked(ncbi: Ncbi, ids: list[int], db: str, linkname: str) -> Links:
    """Linked ids per link name, those of all ids together, each once; only names with links."""
    merged: Links = {}
    for pmid in ids:
        known = _recorded(pmid, db)
        for name in [linkname] if linkname else dict.fromkeys((*known, *_BY_DEFAULT.get(db, ()))):
            links = known.get(name) or (_WORKED_OUT[name](ncbi, pmid) if name in _WORKED_OUT else [])
            if links:
                merged[name] = list(dict.fromkeys(merged.get(name, []) + links))
    return merged


@cache
def _recorded(pmid: int, db: str) -> Links:
    links: Links = {}
    files = (RECORDINGS / "elink").glob(f"ik_*_{pmid}.json")
    for path in sorted(files, reverse=True):  # "related" holds every list, in NCBI's order; "citations" only one
        for one in json.loads(path.read_text())["linksets"][0].get("linksetdbs", []):
            if one["dbto"] == db:
                links[one["linkname"]] = [int(link) for link in one["links"]]
    return links


def _references(ncbi: Ncbi, pmid: int) -> list[int]:
    record = ncbi.catalogue.get(pmid)
    return list(record.cited) if record else []


def _citing(ncbi: Ncbi, pmid: int) -> list[int]:
    return sorted(ncbi.catalogue.matching(("cites", pmid), lambda record: pmid in record.cited), reverse=True)


def _related(ncbi: Ncbi, pmid: int) -> list[int]:
    """The article itself, then those that share most MeSH headings and keywords with it."""
    record = ncbi.catalogue.get(pmid)
    if record is None:
        return []
    shared = {other.pmid: len(record.subjects & other.subjects) for other in ncbi.catalogue.visible.values()}
    shared.pop(pmid)
    nearest = sorted((other for other in shared if shared[other]), key=lambda other: (-shared[other], -other))
    return [pmid, *nearest[:_MOST_RELATED]]


_WORKED_OUT: dict[str, Callable[[Ncbi, int], list[int]]] = {
    "pubmed_pubmed": _related,
    "pubmed_pubmed_refs": _references,
    "pubmed_pubmed_citedin": _citing,
}


def _target(linkname: str) -> str:
    return linkname.split("_")[1]


def score(place: int) -> int:
    """Falling with the place; the article itself has the largest 32-bit number, as in the DTD's example."""
    return 2_147_483_647 if place == 0 else 40_000_000 - place * 100_000


def _json(ids: list[int], links: Links, scored: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"dbfrom": "pubmed", "ids": [str(pmid) for pmid in ids]}
    if links:
        content["linksetdbs"] = [
            {
                "dbto": _target(name),
                "linkname": name,
                "links": [
                    {"id": str(one), "score": score(place)} if scored else str(one) for place, one in enumerate(found)
                ],
            }
            for name, found in links.items()
        ]
    return content


def _xml(ids: list[int], links: Links, scored: bool) -> str:
    listed = "".join(f"<Id>{pmid}</Id>" for pmid in ids)
    inner = f"<DbFrom>pubmed</DbFrom><IdList>{listed}</IdList>"
    for name, found in links.items():
        each = "".join(
            f"<Link><Id>{one}</Id>{f'<Score>{score(place)}</Score>' if scored else ''}</Link>"
            for place, one in enumerate(found)
        )
        inner += f"<LinkSetDb><DbTo>{_target(name)}</DbTo><LinkName>{name}</LinkName>{each}</LinkSetDb>"
    return f"\n<LinkSet>{inner}</LinkSet>"


def einfo(ncbi: Ncbi, params: Params) -> Answer:
    """PubMed's fields as recorded, with this catalogue's count and day."""
    if (db := params.get("db")) != "pubmed":
        return error("eInfoResult", f"Can not retrieve DbInfo for db={db}", params)
    content = json.loads(recorded("ik_pubmed_info.json").body)
    of_this_day = {"count": str(len(ncbi.catalogue.visible)), "lastupdate": f"{ncbi.catalogue.today} 07:12"}
    content["einforesult"]["dbinfo"][0] |= of_this_day
    return as_json(content)
