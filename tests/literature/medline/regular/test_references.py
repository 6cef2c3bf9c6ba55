"""References read from the bytes of their list."""

import pytest

from bio_mcp.literature.medline import linking
from bio_mcp.literature.medline.regular.references import references
from bio_mcp.literature.records import Reference
from tests.literature.medline.regular.alike import alike


def reference(citation, *ids):
    listed = "\n".join(f'<ArticleId IdType="{kind}">{text}</ArticleId>' for kind, text in ids)
    return f"\n<Reference>\n<Citation>{citation}</Citation>\n<ArticleIdList>{listed}</ArticleIdList>\n</Reference>\n"


PLAIN = "<Reference><Citation>Cohen S, 1999.</Citation></Reference>"
IDS = ("pubmed", "10491"), ("doi", "10.1000/a(b)&lt;c"), ("pmc", "pmc-id: PMC12;")
READ = {
    "none": "\n",
    "one": PLAIN,
    "two": PLAIN * 2,
    "a title": f"\n<Title>References</Title>{PLAIN}",
    "ids": reference("A  b &amp; c\n", *IDS),
    "ids between others": PLAIN + reference("A", *IDS) + PLAIN,
    "no ids": reference("A"),
    "empty ids": reference("A", ("pubmed", ""), ("doi", " ")),
    "an empty citation": reference("", ("pubmed", "1")),
    "other kinds": reference("A", ("pii", "1"), ("mid", "2")),
    "two of a kind": reference("A", ("pubmed", "1"), ("pubmed", "2")),
    "a DOI with its resolver": reference("A", ("doi", "https://doi.org/10.1000/x")),
    "four ids": reference("A", *IDS, ("pii", "4")) + PLAIN,
    "markup": PLAIN + reference("<i>A</i> b<sub>2</sub>", *IDS) + PLAIN,
    "no citation": "<Reference><ArticleIdList><ArticleId IdType='doi'>10.1/x</ArticleId></ArticleIdList></Reference>",
    "nothing": "<Reference/>" + PLAIN,
}
LEFT = {
    "a list": f"<ReferenceList>{PLAIN}</ReferenceList>",
    "a list between": f"{PLAIN}<ReferenceList>{PLAIN}</ReferenceList>{PLAIN}",
    "a title that holds a citation": "<Title><Citation>A</Citation></Title>",
    "an id of no reference": PLAIN + '<ArticleId IdType="pubmed">1</ArticleId>',
    "half a reference": PLAIN[:-5],
    "a reference in a citation": f"<Reference><Citation>{PLAIN}</Citation>",
}


@pytest.mark.parametrize("inner", READ.values(), ids=READ)
def test_references_are_those_of_the_tree(inner):
    assert alike(references, linking.references, inner)


@pytest.mark.parametrize("inner", LEFT.values(), ids=LEFT)
def test_a_list_of_something_else_is_left_to_the_tree(inner):
    assert not alike(references, linking.references, inner)


def test_a_reference_has_a_citation_and_ids():
    (found,) = references(reference("Cohen S.", *IDS))
    assert found == Reference("Cohen S.", "10491", "10.1000/a(b)<c", "PMC12")
