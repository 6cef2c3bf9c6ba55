"""Lists of grants, dates, keywords and ids read from their bytes."""

import pytest

from bio_mcp.literature.medline import indexing
from bio_mcp.literature.medline.citations import history_date
from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.medline.regular.lists import (
    CHEMICALS,
    GRANTS,
    HEADINGS,
    HISTORY_DATES,
    TYPES,
    ids,
    keyword_texts,
)
from tests.literature.medline.regular.alike import alike

DAY = "<Year>2000</Year>\n<Month>{}</Month>\n<Day>3</Day>"
DATE = '\n<PubMedPubDate PubStatus="{}">\n{}\n</PubMedPubDate>\n'
HEADING = '<MeshHeading>\n<DescriptorName UI="D1" MajorTopicYN="Y">{}</DescriptorName>{}</MeshHeading>'
QUALIFIER = '<QualifierName UI="Q1" MajorTopicYN="N">metabolism</QualifierName>'
DATES = {
    "usual": DATE.format("pubmed", DAY.format(4)) + DATE.format("received", DAY.format("04")),
    "an hour": DATE.format("entrez", DAY.format(4) + "<Hour>6</Hour><Minute>0</Minute>"),
    "an hour alone": DATE.format("entrez", DAY.format(4) + "<Hour>6</Hour>"),
    "an impossible hour": DATE.format("medline", DAY.format(4) + "<Hour>60</Hour><Minute>0</Minute>"),
    "an impossible day": DATE.format("medline", DAY.format(13)),
    "a month by name": DATE.format("medline", DAY.format("Jun")),
    "another kind": DATE.format("x-y", DAY.format(4)),
    "another order": DATE.format("medline", "<Month>1</Month><Year>2000</Year>"),
    "a date in a date": DATE.format("x", "<y><PubMedPubDate/></y><Year>1</Year>"),
}
GRANTED = {
    "usual": "<Grant><GrantID>T32 &amp;amp; 1</GrantID><Acronym>GM</Acronym><Agency>N</Agency></Grant>",
    "empty": "<Grant><GrantID></GrantID><Agency> </Agency><Country>A</Country></Grant>",
    "another order": "<Grant><Agency>N</Agency><GrantID>1  2</GrantID></Grant>",
    "an empty country": "<Grant><GrantID>1</GrantID><Agency>N</Agency><Country/></Grant>",
    "two agencies": "<Grant><Agency>N</Agency><Agency>M</Agency></Grant>",
}


def every(read):
    return lambda element: [read(child) for child in element]


@pytest.mark.parametrize("inner", DATES.values(), ids=DATES)
def test_dates_of_the_history_are_those_of_the_tree(inner):
    assert alike(HISTORY_DATES, every(history_date), inner)


@pytest.mark.parametrize("inner", GRANTED.values(), ids=GRANTED)
def test_grants_are_those_of_the_tree(inner):
    assert alike(GRANTS, every(indexing.grant), inner)


HEADED = {
    "qualifiers": HEADING.format("A &lt; B", QUALIFIER * 2),
    "two": HEADING.format(" A ", "") * 2,
    "none": "\n",
    "another order": f"<MeshHeading>{QUALIFIER}<DescriptorName UI='D1'>A</DescriptorName></MeshHeading>",
    "two descriptors": HEADING.format("A", '<DescriptorName UI="D2" MajorTopicYN="N">B</DescriptorName>'),
    "spaces": HEADING.format("A  B", QUALIFIER.replace("bo", "b\no")),
}
CHEMICAL = '<RegistryNumber>{}</RegistryNumber>\n<NameOfSubstance UI="D1">E &amp; F</NameOfSubstance>'
SUBSTANCES = {
    "usual": f"<Chemical>\n{CHEMICAL.format(0)}\n</Chemical>\n<Chemical>{CHEMICAL.format(' ')}</Chemical>",
    "another order": "<Chemical><NameOfSubstance>E</NameOfSubstance><RegistryNumber/></Chemical>",
}


@pytest.mark.parametrize("inner", HEADED.values(), ids=HEADED)
def test_headings_are_those_of_the_tree(inner):
    assert alike(HEADINGS, every(indexing.mesh_heading), inner)


def test_something_after_a_heading_is_left_to_the_tree():
    assert not alike(HEADINGS, every(indexing.mesh_heading), HEADING.format("A", "") + "<Other/>")


@pytest.mark.parametrize("inner", SUBSTANCES.values(), ids=SUBSTANCES)
def test_chemicals_are_those_of_the_tree(inner):
    assert alike(CHEMICALS, every(indexing.chemical), inner)


def test_types_are_those_of_the_tree():
    kind = '<PublicationType UI="D016428">Journal Article</PublicationType>'
    assert alike(TYPES.__getitem__, indexing.publication_types, kind * 2)


def test_ids_have_their_kinds():
    assert ids('<ArticleId IdType="doi">10.1/a&lt;b</ArticleId>\n<ArticleId IdType="pii"> 1</ArticleId>') == [
        ("doi", "10.1/a<b"),
        ("pii", "1"),
    ]


@pytest.mark.parametrize("inner", ['<Keyword MajorTopicYN="N">a</Keyword><Keyword>b  c</Keyword>', "", "text"])
def test_keywords_are_those_of_the_tree(inner):
    assert alike(keyword_texts, every(plain), inner)


@pytest.mark.parametrize(
    "inner",
    ['<ArticleId IdType="A">1</ArticleId>', '<ArticleId IdType="a"><b/></ArticleId>', "<Keyword>a</Keyword>"],
    ids=["a kind in capitals", "an element inside", "another element"],
)
def test_other_ids_are_left_to_the_tree(inner):
    assert not alike(ids, every(leaf), inner)
