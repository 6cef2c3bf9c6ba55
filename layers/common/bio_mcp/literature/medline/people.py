"""AuthorList and InvestigatorList."""

import re
from typing import Any

from lxml import etree

from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Author

_ORCID = re.compile(r"(?<!\d)(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])(?![\dXx])")
_NAMES = {"LastName": "last_name", "ForeName": "fore_name", "Initials": "initials"}
_MARKED = {"Suffix": "suffix", "CollectiveName": "collective_name"}


def people(element: etree._Element) -> tuple[Author, ...]:
    """Every person and group of the list, in order, those that NLM marks invalid included (`valid`)."""
    return tuple(map(_person, element))


def complete(element: etree._Element) -> bool:
    """False when NLM says that the list was cut (`CompleteYN="N"`)."""
    return element.get("CompleteYN") != "N"


def orcid(text: str | None) -> str | None:
    """The bare 0000-0000-0000-000X out of a bare, run-together or URL form; the check digit is not checked."""
    found = _ORCID.search(text) if text else None
    return "-".join(found.groups()).upper() if found else None


def _person(element: etree._Element) -> Author:
    author = Author()
    affiliations: list[str] = []
    for child in element:
        _read(author, affiliations, child, child.tag)
    if affiliations:
        author.affiliations = tuple(affiliations)
    if element.get("ValidYN") == "N":
        author.valid = False
    if element.get("EqualContrib") == "Y":
        author.equal_contribution = True
    return author


def _read(author: Author, affiliations: list[str], child: etree._Element, tag: Any) -> None:
    if tag in _NAMES:
        setattr(author, _NAMES[tag], leaf(child))
    elif tag == "AffiliationInfo":
        affiliations.extend(filter(None, (plain(part) for part in child if part.tag == "Affiliation")))
    elif tag in _MARKED:
        setattr(author, _MARKED[tag], plain(child) or None)
    elif tag == "Identifier" and child.get("Source") == "ORCID":
        author.orcid = author.orcid or orcid(child.text)
