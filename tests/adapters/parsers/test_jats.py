"""JATS XML through the parser of PubMed Central's articles."""

import pytest

from bio_mcp.errors import UnreadableDocument
from tests.adapters.parsers.reading import outline, read

SMALL = """<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS 1.2//EN" "JATS-archivearticle1.dtd">
<article article-type="research-article" xml:lang="de"><front><article-meta>
<article-id pub-id-type="pmid">384001</article-id><article-id pub-id-type="doi">10.1000/ABC</article-id>
<title-group><article-title>A trial</article-title></title-group>
<abstract><p>In short.</p></abstract></article-meta></front><body><sec><title>Methods</title><p>We did.</p>
<sec><title>People</title><p>Many.</p><table-wrap><label>Table 1</label><caption><p>Arms</p></caption>
<table><tr><th>arm</th><th>n</th></tr><tr><td>A</td><td>1</td></tr></table></table-wrap></sec></sec></body></article>"""


@pytest.mark.parametrize("name", ["article.xml", "article.nxml", "", "article.txt"])
def test_an_article_becomes_its_sections(name):
    assert outline(read(SMALL, name)) == [
        (("Abstract",), "In short."),
        (("Methods",), "We did."),
        (("Methods", "People"), "Many."),
        (("Methods", "People"), "Table 1 Arms\narm\tn\nA\t1", "table"),
    ]


def test_an_article_says_what_it_is():
    article = read(SMALL, "a.xml")
    assert (article.title, article.doi, article.pmid) == ("A trial", "10.1000/abc", "384001")
    assert (article.language, article.pages) == ("de", None)


def test_what_a_section_without_a_title_says_stays_under_the_heading_before():
    assert outline(read(SMALL.replace("<title>People</title>", ""), "a.xml"))[1] == (("Methods",), "We did.\n\nMany.")


BOMB = SMALL.replace('"JATS-archivearticle1.dtd">', '"x" [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>')


@pytest.mark.parametrize(
    ("xml", "says"),
    [
        (BOMB, "declares entities"),
        (SMALL[:600], "broken or cut short"),
        (SMALL.replace("We did", "We &did;"), "cannot be read"),
        ("<?xml version='1.0'?><pmc-articleset dtd-version='1'></pmc-articleset>", "holds no article"),
    ],
)
def test_other_xml_is_refused(xml, says):
    with pytest.raises(UnreadableDocument, match=says):
        read(xml, "a.xml")
