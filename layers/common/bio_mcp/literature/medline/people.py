"""Authors and investigators of a citation."""

import re
from typing import Any

from lxml import etree

from bio_mcp.literature.medline.markup import Attributes, leaf, plain
from bio_mcp.literature.records import Author

_ORCID = re.compile(r"(?<!\d)(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])(?![\dXx])")
_PLAIN = {"LastName": "last_name", "ForeName": "fore_name", "Initials": "initials"}
_MARKED = {"Suffix": "suffix", "CollectiveName": "collective_name"}
_PERSON = ("Author", "Investigator", "Affiliation", "Identifier", *_PLAIN, *_MARKED)


def people(element: etree._Element) -> tuple[Author, ...]:
    """Every person and group of the list, in order; those that NLM marks invalid have `valid` False."""
    listed: list[Author] = []
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
            listed.append(person)
        else:
            _uncommon(person, part, tag)
    return tuple(listed)


def complete(element: etree._Element) -> bool:
    """Whether the list is complete: False when NLM cut it (`CompleteYN="N"`)."""
    return is_complete(element.attrib)


def is_complete(attributes: Attributes) -> bool:
    """Whether an AuthorList with these attributes is complete."""
    return attributes.get("CompleteYN") != "N"


def orcid(text: str | None) -> str | None:
    """Find 0000-0000-0000-000X in a bare, run-together or URL form. The check digit is not verified."""
    match = _ORCID.search(text) if text else None
    return "-".join(match.groups()).upper() if match else None


def _uncommon(person: Author, part: etree._Element, tag: Any) -> None:
    if tag in _MARKED:
        setattr(person, _MARKED[tag], plain(part) or None)
    elif part.get("Source") == "ORCID":
        person.orcid = person.orcid or orcid(part.text)
