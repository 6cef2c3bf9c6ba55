"""AuthorList: most authors have a name, an ORCID at most, and affiliations."""

import re

from bio_mcp.literature.medline.people import orcid, people
from bio_mcp.literature.medline.regular.fragments import Irregular, fragment
from bio_mcp.literature.medline.regular.texts import name_text, tidied, tidied_all
from bio_mcp.literature.records import Author

_EQUAL_AND_VALID = {
    'ValidYN="Y"': (False, True),
    'ValidYN="N"': (False, False),
    'ValidYN="Y" EqualContrib="Y"': (True, True),
    'ValidYN="Y" EqualContrib="N"': (False, True),
}
_AFFILIATION = "<AffiliationInfo>[^<]*<Affiliation>([^<]*)</Affiliation>[^<]*</AffiliationInfo>[^<]*"
_AUTHOR = re.compile(
    "<Author ([^<>]*)>[^<]*<LastName>([^<]*)</LastName>[^<]*(?:<ForeName>([^<]*)</ForeName>[^<]*)?"
    '(?:<Initials>([^<]*)</Initials>[^<]*)?(?:<Identifier Source="ORCID">([^<&]*)</Identifier>[^<]*)?'
    f"(?:{_AFFILIATION})?((?:{_AFFILIATION.replace('(', '').replace(')', '')})*)</Author>"
)
_GROUPS = 7
_AFFILIATIONS = re.compile("<Affiliation>([^<]*)")


def authors(inner: bytes) -> tuple[Author, ...]:
    """The same as `people.people`."""
    parts = _AUTHOR.split(inner.decode())
    listed = _uncommon(parts[0])
    affiliations = tidied_all([text or "" for text in parts[_GROUPS - 1 :: 1 + _GROUPS]])
    for at, affiliation in zip(range(1, len(parts), 1 + _GROUPS), affiliations, strict=True):
        attributes, last, fore, initials, identifier, _, more, after = parts[at : at + 1 + _GROUPS]
        known = _EQUAL_AND_VALID.get(attributes)
        if not known:
            raise Irregular
        listed.append(
            Author(
                last if last.isalnum() else name_text(last),
                fore if fore and fore.isalnum() else name_text(fore or ""),
                initials if initials and initials.isalnum() else name_text(initials or ""),
                None,
                None,
                orcid(identifier) if identifier else None,
                _affiliations(affiliation, more),
                *known,
            )
        )
        if "<" in after:
            listed += _uncommon(after)
    return tuple(listed)


def _affiliations(first: str, more: str) -> tuple[str, ...]:
    """The affiliations of one author without the empty ones."""
    if more:
        return tuple([text for text in (first, *map(tidied, _AFFILIATIONS.findall(more))) if text])
    return (first,) if first else ()


def _uncommon(between: str) -> list[Author]:
    """Read groups, authors with a suffix and whatever else stands between those of the usual shape."""
    if "<" not in between:
        return []
    element = fragment(f"<AuthorList>{between}</AuthorList>".encode())
    if any(child.tag != "Author" for child in element):
        raise Irregular
    return list(people(element))
