"""AuthorList and InvestigatorList."""

import re
from typing import Any

from lxml import etree

from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Author

_ORCID = re.compile(r"(?<!\d)(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])(?![\dXx])")
_PLAIN = {"LastName": "last_name", "ForeName": "fore_name", "Initials": "initials"}
_MARKED = {"Suffix": "suffix", "CollectiveName": "collective_name"}
_PERSON = ("Author", "Investigator", "Affiliation", "Identifier", *_PLAIN, *_MARKED)


def people(element: etree._Element) -> tuple[Author, ...]:
    """Every person and group of the list, in order, those that NLM marks invalid included (`valid`)."""
    found: list[Author] = []
    person = Author()
    for part in element.iter(*_PERSON):
        tag: Any = part.tag
        name = _PLAIN.get(tag)
        if name:
            text = part.text
            setattr(person, name, text if text and text.isalnum() else leaf(part))
        elif tag == "Affiliation":
            affiliation = plain(part)
            person.affiliations += (affiliation,) if affiliation else ()
        elif tag == "Author" or tag == "Investigator":
            person = Author(valid=part.get("ValidYN") != "N", equal_contribution=part.get("EqualContrib") == "Y")
            found.append(person)
        else:
            _uncommon(person, part, tag)
    return tuple(found)


def complete(element: etree._Element) -> bool:
    """False when NLM says that the list was cut (`CompleteYN="N"`)."""
    return element.get("CompleteYN") != "N"


def orcid(text: str | None) -> str | None:
    """The bare 0000-0000-0000-000X out of a bare, run-together or URL form; the check digit is not checked."""
    found = _ORCID.search(text) if text else None
    return "-".join(found.groups()).upper() if found else None


def _uncommon(person: Author, part: etree._Element, tag: Any) -> None:
    if tag in _MARKED:
        setattr(person, _MARKED[tag], plain(part) or None)
    elif part.get("Source") == "ORCID":
        person.orcid = person.orcid or orcid(part.text)
