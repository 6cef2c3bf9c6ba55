"""Abstracts read from their bytes."""

import pytest

from bio_mcp.literature.medline.abstracts import copyright_line, sections
from bio_mcp.literature.medline.regular.abstracts import abstract_and_copyright
from tests.literature.medline.regular.alike import alike

READ = {
    "one section": "\n<AbstractText>We  show\nthat.</AbstractText>\n",
    "labels": '<AbstractText Label="AIM" NlmCategory="A">a</AbstractText><AbstractText Label=" ">b</AbstractText>',
    "a label with an entity": '<AbstractText Label="A &amp; B">a</AbstractText>',
    "a label alone": '<AbstractText Label="AIM"></AbstractText><AbstractText></AbstractText>',
    "entities": "<AbstractText>p &lt; 0.05 &amp;lt; &quot;&apos;</AbstractText>",
    "scripts": "<AbstractText>H<sub>2</sub>O, m<sup>2</sup>, k<sub>cat</sub>, <b>R</b><i>.</i> <u> </u></AbstractText>",
    "scripts in markup": "<AbstractText><i>a<sub>2</sub></i> <sup><b>3</b></sup></AbstractText>",
    "other markup": "<AbstractText>a <sc>b</sc> c<x/></AbstractText>",
    "scripts and entities": "<AbstractText>a<sup>&lt;</sup> &gt;</AbstractText>",
    "copyright": "<AbstractText>a</AbstractText>\n<CopyrightInformation>(c)  2021</CopyrightInformation>\n",
    "empty copyright": "<AbstractText>a</AbstractText><CopyrightInformation></CopyrightInformation>",
}
LEFT = {
    "nothing": "\n",
    "empty": "<AbstractText/>",
    "text": "a",
    "copyright first": "<CopyrightInformation>a</CopyrightInformation><AbstractText>a</AbstractText>",
    "two copyright lines": "<AbstractText>a</AbstractText>" + "<CopyrightInformation>a</CopyrightInformation>" * 2,
    "another element": "<AbstractText>a</AbstractText><Other/>",
    "another name": "<AbstractTexts>a</AbstractTexts><AbstractText>b</AbstractText>",
    "a section in a section": "<AbstractText>a<AbstractText>b</AbstractText></AbstractText>",
}


def of_tree(element):
    return sections(element), copyright_line(element)


@pytest.mark.parametrize("inner", READ.values(), ids=READ)
def test_an_abstract_is_that_of_the_tree(inner):
    assert alike(abstract_and_copyright, of_tree, inner)


@pytest.mark.parametrize("inner", LEFT.values(), ids=LEFT)
def test_an_abstract_of_another_shape_is_left_to_the_tree(inner):
    assert not alike(abstract_and_copyright, of_tree, inner)
