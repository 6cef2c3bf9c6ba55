"""Links of a citation: its own ids, the works it cites, the notices about it."""

import re
from collections.abc import Iterable

from lxml import etree

from bio_mcp.literature.medline.markup import Attributes, leaf, plain
from bio_mcp.literature.records import Article, Correction, Reference

_DOI = re.compile(r"10\.\d{3,9}(?:\.\d+)*/\S+")
_PMCID = re.compile(r"PMC\d+(?:\.\d+)?")
_CITED = ("Reference", "Citation", "ArticleId")


def own_ids(article: Article, element: etree._Element) -> None:
    """Read PubmedData/ArticleIdList."""
    set_own_ids(article, [(child.get("IdType"), leaf(child)) for child in element])


def set_own_ids(article: Article, ids: Iterable[tuple[str | None, str | None]]) -> None:
    """Set DOI, PMCID and PII from the record's list of kinds and ids, which outranks ELocationID.

    Of several DOIs the one that ELocationID confirms counts, else the first.
    """
    dois: list[str] = []
    for kind, text in ids:
        if not text:
            continue
        if kind == "doi":
            dois.append(bare_doi(text))
        elif kind == "pii":
            article.pii = text
        elif kind in ("pmc", "pmcid"):
            article.pmcid = bare_pmcid(text) or article.pmcid
    if dois and article.doi not in dois:
        article.doi = dois[0]


def location_id(article: Article, element: etree._Element) -> None:
    """Read ELocationID."""
    set_location_id(article, element.attrib, leaf(element))


def set_location_id(article: Article, attributes: Attributes, text: str | None) -> None:
    """Set DOI or PII from an ELocationID, for want of one in the record's list. One marked invalid is ignored."""
    if not text or attributes.get("ValidYN") == "N":
        return
    if attributes.get("EIdType") == "doi":
        article.doi = article.doi or bare_doi(text)
    elif attributes.get("EIdType") == "pii":
        article.pii = article.pii or text


def bare_doi(text: str) -> str:
    """Strip `doi:` or a resolver's address from a DOI; its case stays. Text without a DOI is returned unchanged."""
    if text.startswith("10."):
        return text
    match = _DOI.search(text)
    return match[0] if match else text


def bare_pmcid(text: str) -> str | None:
    """Find `PMC123` in itself or in `pmc-id: PMC123;`; None where there is none."""
    match = _PMCID.search(text)
    return match[0] if match else None


def references(element: etree._Element) -> list[Reference]:
    """Read ReferenceList and the lists inside it, in printed order."""
    cited: list[Reference] = []
    current = Reference()
    for part in element.iter(*_CITED):
        tag = part.tag
        if tag == "ArticleId":
            set_cited_id(current, part.get("IdType"), leaf(part))
        elif tag == "Citation":
            current.citation = plain(part) or None
        else:
            current = Reference()
            cited.append(current)
    return cited


def corrections(element: etree._Element) -> tuple[Correction, ...]:
    """Read CommentsCorrectionsList; the PMID may be absent."""
    return tuple(map(_correction, element))


def set_cited_id(reference: Reference, kind: str | None, text: str | None) -> None:
    """Set PMID, DOI or PMCID of a reference."""
    if kind == "pubmed":
        reference.pmid = text
    elif not text:
        return
    elif kind == "doi":
        reference.doi = bare_doi(text)
    elif kind in ("pmc", "pmcid"):
        reference.pmcid = bare_pmcid(text)


def _correction(element: etree._Element) -> Correction:
    parts = {child.tag: leaf(child) for child in element}
    return Correction(element.get("RefType", ""), parts.get("RefSource"), parts.get("PMID"), parts.get("Note"))
