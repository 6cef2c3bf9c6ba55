"""ELink: which articles PubMed links to an article."""

from collections.abc import Iterable, Sequence
from typing import Any

from bio_mcp.adapters.entrez.answer import Answer, well_formed
from bio_mcp.errors import NcbiUnreadable
from bio_mcp.ports.pubmed import Link, LinkSet

COMMANDS = ("neighbor", "neighbor_score")


def read_links(answer: Answer, requested: Sequence[str], link_name: str) -> tuple[LinkSet, ...]:
    """One set per requested PMID, empty if nothing is linked. Raises `NcbiUnreadable` for a missing set."""
    sets = well_formed(
        lambda: dict(_json_sets(answer, link_name) if answer.is_json else _xml_sets(answer, link_name)),
        "NCBI's links are not in their known form; try again",
    )
    missing = [pmid for pmid in requested if pmid not in sets]
    if missing:
        raise NcbiUnreadable(
            f"NCBI sent the links of {len(requested) - len(missing)} of {len(requested)} PMIDs; try again"
        )
    return tuple(LinkSet(pmid, sets[pmid]) for pmid in requested)


def _json_sets(answer: Answer, link_name: str) -> Iterable[tuple[str, tuple[Link, ...]]]:
    for linkset in answer.json["linksets"]:
        lists = [linksetdb for linksetdb in linkset.get("linksetdbs", ()) if linksetdb["linkname"] == link_name]
        yield _owner(linkset["ids"]), tuple(_json_link(link) for linksetdb in lists for link in linksetdb["links"])


def _json_link(link: Any) -> Link:
    if isinstance(link, dict):
        return Link(str(int(link["id"])), int(link["score"]))
    return Link(str(int(link)))


def _xml_sets(answer: Answer, link_name: str) -> Iterable[tuple[str, tuple[Link, ...]]]:
    for linkset in answer.xml().iterfind("LinkSet"):
        owner = _owner([uid.text for uid in linkset.iterfind("IdList/Id")])
        lists = [
            linksetdb for linksetdb in linkset.iterfind("LinkSetDb") if linksetdb.findtext("LinkName") == link_name
        ]
        yield owner, tuple(_xml_link(link) for linksetdb in lists for link in linksetdb.iterfind("Link"))


def _xml_link(link: Any) -> Link:
    score = link.findtext("Score")
    return Link(str(link.findtext("Id")).strip(), int(score) if score else None)


def _owner(ids: Sequence[Any]) -> str:
    """The PMID of a link set. Ids are sent one by one, so that NCBI keeps their links apart."""
    if len(ids) != 1:
        raise NcbiUnreadable("NCBI joined the links of several PMIDs; try again")
    return str(ids[0])
