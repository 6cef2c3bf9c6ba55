"""Links of a citation: its own ids, the works it cites, the notices about it."""

import re

from lxml import etree

from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Article, Correction, Reference

_DOI = re.compile(r"10\.\d{3,9}(?:\.\d+)*/\S+")
_PMCID = re.compile(r"PMC\d+(?:\.\d+)?")
_CITED = ("Reference", "Citation", "ArticleId")


def set_own_ids(article: Article, element: etree._Element) -> None:
    """Set DOI, PMCID and PII from PubmedData/ArticleIdList, which outranks ELocationID.

    Of several DOIs the one that ELocationID confirms counts, else the first.
    """
    dois: list[str] = []
    for child in element:
        kind, text = child.get("IdType"), leaf(child)
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


def set_location_ids(article: Article, element: etree._Element) -> None:
    """Set DOI or PII from ELocationID, for want of one in the record's list. One marked invalid is ignored."""
    text = leaf(element)
    if not text or element.get("ValidYN") == "N":
        return
    if element.get("EIdType") == "doi":
        article.doi = article.doi or bare_doi(text)
    elif element.get("EIdType") == "pii":
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
            if part.get("IdType") == "pubmed":
                current.pmid = leaf(part)
            else:
                _cited_id(current, part)
        elif tag == "Citation":
            current.citation = plain(part) or None
        else:
            current = Reference()
            cited.append(current)
    return cited


def corrections(element: etree._Element) -> tuple[Correction, ...]:
    """Read CommentsCorrectionsList; the PMID may be absent."""
    return tuple(map(_correction, element))


def _cited_id(reference: Reference, element: etree._Element) -> None:
    """Set DOI or PMCID of a reference."""
    kind, text = element.get("IdType"), leaf(element)
    if not text:
        return
    if kind == "doi":
        reference.doi = bare_doi(text)
    elif kind in ("pmc", "pmcid"):
        reference.pmcid = bare_pmcid(text)


def _correction(element: etree._Element) -> Correction:
    parts = {child.tag: leaf(child) for child in element}
    return Correction(element.get("RefType", ""), parts.get("RefSource"), parts.get("PMID"), parts.get("Note"))
