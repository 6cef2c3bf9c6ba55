"""AuthorList: most authors have a name, an ORCID at most, and affiliations."""

import re

from bio_mcp.literature.medline.people import orcid, people
from bio_mcp.literature.medline.regular.fragments import Irregular, cut, fragment, in_order
from bio_mcp.literature.medline.regular.texts import tidied_all
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
_AFFILIATIONS = re.compile("<Affiliation>([^<]*)")


def authors(inner: str) -> list[Author]:
    """The same as `people.people`."""
    between, attributes, lasts, fores, initials, identifiers, firsts, others = cut(_AUTHOR, inner)
    count = len(lasts)
    texts = tidied_all([text or "" for text in (*lasts, *fores, *initials, *firsts)])
    listed = []
    for written, last, fore, initial, identifier, affiliation, more in zip(
        attributes,
        texts[:count],
        texts[count : 2 * count],
        texts[2 * count : 3 * count],
        identifiers,
        texts[3 * count :],
        others,
        strict=True,
    ):
        known = _EQUAL_AND_VALID.get(written)
        if not known:
            raise Irregular
        affiliations: tuple[str, ...] = (affiliation,) if affiliation else ()
        if more:
            affiliations += tuple(filter(None, tidied_all(_AFFILIATIONS.findall(more))))
        number = orcid(identifier) if identifier else None
        listed.append(Author(last or None, fore or None, initial or None, None, None, number, affiliations, *known))
    return in_order(listed, between, _uncommon)


def _uncommon(between: str) -> tuple[Author, ...]:
    """Read groups, authors with a suffix and whatever else stands between those of the usual shape."""
    element = fragment(f"<AuthorList>{between}</AuthorList>".encode())
    if any(child.tag != "Author" for child in element):
        raise Irregular
    return people(element)
