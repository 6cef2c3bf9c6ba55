"""What a citation points to: its own ids, the works it cites, the notices about it."""

import re

from lxml import etree

from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Article, Correction, Reference

_DOI = re.compile(r"10\.\d{3,9}(?:\.\d+)*/\S+")
_PMCID = re.compile(r"PMC\d+(?:\.\d+)?")
_CITED = ("Reference", "Citation", "ArticleId")


def own_ids(article: Article, element: etree._Element) -> None:
    """PubmedData/ArticleIdList: DOI, PMCID, PII. The list outranks ELocationID.

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


def located(article: Article, element: etree._Element) -> None:
    """ELocationID: a DOI or PII for want of one in the record's list; one marked invalid is none."""
    text = leaf(element)
    if not text or element.get("ValidYN") == "N":
        return
    if element.get("EIdType") == "doi":
        article.doi = article.doi or bare_doi(text)
    elif element.get("EIdType") == "pii":
        article.pii = article.pii or text


def bare_doi(text: str) -> str:
    """The DOI without `doi:` or a resolver's address, its case kept; text that has none is left as it is."""
    if text.startswith("10."):
        return text
    found = _DOI.search(text)
    return found[0] if found else text


def bare_pmcid(text: str) -> str | None:
    """`PMC123` out of itself or of `pmc-id: PMC123;`."""
    found = _PMCID.search(text)
    return found[0] if found else None


def references(element: etree._Element) -> list[Reference]:
    """ReferenceList with the lists inside it, in printed order."""
    found: list[Reference] = []
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
            found.append(current)
    return found


def corrections(element: etree._Element) -> tuple[Correction, ...]:
    """CommentsCorrectionsList; the PMID may be absent."""
    return tuple(map(_correction, element))


def _cited_id(reference: Reference, element: etree._Element) -> None:
    kind, text = element.get("IdType"), leaf(element)
    if not text:
        return
    if kind == "doi":
        reference.doi = bare_doi(text)
    elif kind in ("pmc", "pmcid"):
        reference.pmcid = bare_pmcid(text)


def _correction(element: etree._Element) -> Correction:
    found = {child.tag: leaf(child) for child in element}
    return Correction(element.get("RefType", ""), found.get("RefSource"), found.get("PMID"), found.get("Note"))
