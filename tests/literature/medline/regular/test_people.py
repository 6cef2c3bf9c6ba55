"""Authors read from the bytes of their list."""

import pytest

from bio_mcp.literature.medline.people import people
from bio_mcp.literature.medline.regular.people import authors
from bio_mcp.literature.records import Author
from tests.literature.medline.regular.alike import alike

NAME = "<LastName>Bainton</LastName>\n<ForeName>R J</ForeName>\n<Initials>RJ</Initials>"
PLACE = "<AffiliationInfo>\n<Affiliation>{}</Affiliation>\n</AffiliationInfo>\n"


def author(inner, attributes=' ValidYN="Y"'):
    return f"\n<Author{attributes}>\n{inner}\n</Author>\n"


READ = {
    "nobody": "\n",
    "one": author(NAME),
    "two": author(NAME) + author("<LastName>Tsai</LastName>"),
    "an invalid one": author(NAME, ' ValidYN="N"'),
    "one who contributed equally": author(NAME, ' ValidYN="Y" EqualContrib="Y"'),
    "one who did not": author(NAME, ' ValidYN="Y" EqualContrib="N"'),
    "a name with spaces": author("<LastName> van  der\nBerg </LastName>"),
    "a name with an entity": author("<LastName>A &amp; B</LastName><Initials>&lt;</Initials>"),
    "an empty name": author("<LastName></LastName><ForeName></ForeName>"),
    "a place": author(NAME + PLACE.format("Oxford,  UK.")),
    "an empty place": author(NAME + PLACE.format("")),
    "three places": author(NAME + PLACE.format("A") + PLACE.format(" ") + PLACE.format("C &gt; D")),
    "an ORCID": author(NAME + '<Identifier Source="ORCID">0000000123456789</Identifier>' + PLACE.format("A")),
    "an ORCID that is none": author(NAME + '<Identifier Source="ORCID">none</Identifier>'),
    "a group": author("<CollectiveName>RECOVERY<sup>2</sup></CollectiveName>"),
    "a group between": author(NAME) + author("<CollectiveName>RECOVERY</CollectiveName>") + author(NAME),
    "a suffix": author(NAME + "<Suffix>Jr</Suffix>"),
    "markup": author(NAME + PLACE.format("A<sup>1</sup>")),
    "another identifier": author(NAME + '<Identifier Source="ISNI">1</Identifier>'),
    "no attributes": author(NAME, ""),
    "an ORCID after the place": author(NAME + PLACE.format("A") + '<Identifier Source="ORCID">0</Identifier>'),
}
LEFT = {
    "other attributes": author(NAME, ' ValidYN="Y" x="1"'),
    "an investigator": f"<Investigator>{NAME}</Investigator>",
    "somebody's place": author(NAME) + PLACE.format("A"),
    "an author in an author": author(author(NAME)),
    "half an author": author(NAME)[:-12],
}


@pytest.mark.parametrize("inner", READ.values(), ids=READ)
def test_authors_are_those_of_the_tree(inner):
    assert alike(lambda inner: tuple(authors(inner)), people, inner)


@pytest.mark.parametrize("inner", LEFT.values(), ids=LEFT)
def test_a_list_of_something_else_is_left_to_the_tree(inner):
    assert not alike(authors, people, inner)


def test_an_author_has_names_orcid_and_places():
    orcid = '<Identifier Source="ORCID">https://orcid.org/0000-0002-1825-0097</Identifier>'
    (found,) = authors(author(NAME + orcid + PLACE.format("Oxford")))
    assert found == Author("Bainton", "R J", "RJ", orcid="0000-0002-1825-0097", affiliations=("Oxford",))
