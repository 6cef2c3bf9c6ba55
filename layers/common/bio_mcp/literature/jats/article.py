"""Parse an EFetch answer of PubMed Central (`pmc-articleset`) into a `FullText`."""

import re
from typing import Any

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.jats.blocks import sections_of
from bio_mcp.literature.jats.texts import FullText, Licence, TextSection
from bio_mcp.literature.medline.linking import bare_doi, bare_pmcid
from bio_mcp.literature.medline.markup import plain
from bio_mcp.literature.medline.prolog import PLAIN_DOCTYPE, sealed_builder

_WITHHELD = b"does not allow downloading of the full text"
_CREATIVE = re.compile(r"creativecommons\.org/(?:licenses/([a-z-]+)/(\d\.\d)|(publicdomain)/zero/(\d\.\d))")
_HREF = "{http://www.w3.org/1999/xlink}href"
_LICENCE_REF = "{http://www.niso.org/schemas/ali/1.0/}license_ref"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>]*(?:>|\[)")


def parse(content: bytes) -> FullText | None:
    """Parse the first article of the answer; None when it holds none.

    `withheld` is set when there is no body and PMC says that the publisher does not allow downloading. Raises
    `NcbiUnreadable` for broken XML, declarations inside the file and undefined entities.
    """
    root = _root(content)
    article = root if root.tag == "article" else root.find("article")
    if article is None:
        return None
    front = article.find("front")
    meta = front.find("article-meta") if front is not None else None
    body, back = article.find("body"), article.find("back")
    sections = [*_abstracts(meta), *(sections_of(body) if body is not None else ()), *_back(back)]
    ids = _ids(meta)
    return FullText(
        pmcid=bare_pmcid(ids.get("pmcid", "")) or _numbered(ids),
        pmid=ids.get("pmid"),
        doi=bare_doi(ids["doi"]) if "doi" in ids else None,
        title=_text(meta, "title-group/article-title"),
        journal=_text(front, "journal-meta//journal-title"),
        licence=_licence(meta),
        sections=tuple(sections),
        withheld=body is None and (_WITHHELD in content or not len(sections)),
        references=len(back.findall(".//ref")) if back is not None else 0,
    )


def _root(content: bytes) -> etree._Element:
    """Parse the XML. A file that declares entities or elements is refused, and none is expanded."""
    doctype = _DOCTYPE.search(content[: 1 << 16])
    if doctype and not PLAIN_DOCTYPE.fullmatch(doctype[0].decode("utf-8", "replace")):
        raise NcbiUnreadable("The XML declares entities or elements of its own, which PMC never does; refused.")
    try:
        root = etree.fromstring(content, sealed_builder())
    except etree.XMLSyntaxError as error:
        raise NcbiUnreadable(f"PMC's XML is broken or cut short (line {error.lineno}); fetch it again.") from None
    if any(True for _ in root.iter(etree.Entity)):
        raise NcbiUnreadable("The XML uses an entity that it does not define, so its text has holes; refused.")
    return root


def _ids(meta: etree._Element | None) -> dict[str, str]:
    """The article's ids by kind; the first of a kind counts."""
    ids: dict[str, str] = {}
    for child in meta.findall("article-id") if meta is not None else ():
        kind, text = child.get("pub-id-type", ""), (child.text or "").strip()
        ids.setdefault(kind, text)
    return ids


def _numbered(ids: dict[str, str]) -> str | None:
    """The PMCID from "pmc", under which older answers give its number alone."""
    number = ids.get("pmc", "").removeprefix("PMC")
    return f"PMC{number}" if number.isdigit() else None


def _text(element: etree._Element | None, path: str) -> str:
    part = element.find(path) if element is not None else None
    return plain(part) if part is not None else ""


def _abstracts(meta: etree._Element | None) -> list[TextSection]:
    """The abstract, and what stands beside it under its own title (a summary for lay readers, key points)."""
    sections: list[TextSection] = []
    for abstract in meta.findall("abstract") if meta is not None else ():
        kind = (abstract.get("abstract-type") or "").replace("-", " ")
        if kind not in ("graphical", "teaser"):
            sections += sections_of(abstract, title=_text(abstract, "title") or kind.capitalize() or "Abstract")
    return sections


def _back(back: etree._Element | None) -> list[TextSection]:
    """Acknowledgments, notes, appendices and other sections behind the body; references are left out."""
    sections: list[TextSection] = []
    for part in back if back is not None else ():
        if part.tag in ("ack", "notes", "app-group"):
            title = {"ack": "Acknowledgments", "notes": "Notes", "app-group": "Appendix"}[str(part.tag)]
            sections += sections_of(part, title=_text(part, "title") or title)
        elif part.tag == "sec":
            sections += sections_of(part, title=_text(part, "title"))
    return sections


def _licence(meta: etree._Element | None) -> Licence:
    """Address and words of the licence; the copyright statement where there is no licence."""
    permissions: Any = meta.find("permissions") if meta is not None else None
    if permissions is None:
        return Licence()
    licence = permissions.find("license")
    statement = _text(permissions, "copyright-statement")
    if licence is None:
        return Licence(text=statement)
    url = licence.get(_HREF) or next((ref.text.strip() for ref in licence.iter(_LICENCE_REF) if ref.text), "")
    link = next((link.get(_HREF) for link in licence.iter("ext-link") if link.get(_HREF)), "")
    text = " ".join(plain(part) for part in licence.iter("license-p", "p"))
    address = url or link or ""
    return Licence(_name(address or text), address, text or statement)


def _name(address: str) -> str:
    """Short name of a Creative Commons licence (`CC BY 4.0`) from its address or text; "" for any other."""
    licence = _CREATIVE.search(address)
    if not licence:
        return ""
    return f"CC0 {licence[4]}" if licence[3] else f"CC {licence[1].upper()} {licence[2]}"
