"""JATS by a file written by hand (`invented.xml`), its ids and words invented: no PMC answer was recorded."""

from pathlib import Path

import pytest

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.documents import Licence, Table
from bio_mcp.literature.jats import parse_full_text

INVENTED = (Path(__file__).parents[2] / "data/jats/invented.xml").read_bytes()
WITHHELD = (
    b"<pmc-articleset><article><!--The publisher of this article does not allow downloading of the full text in XML "
    b'form.--><front><article-meta><article-id pub-id-type="pmcid">PMC15</article-id><title-group><article-title>T'
    b"</article-title></title-group></article-meta></front></article></pmc-articleset>"
)


def sections():
    return {section.title: section for section in parse_full_text(INVENTED).sections}


def test_the_front_tells_ids_title_journal_and_licence():
    found = parse_full_text(INVENTED)
    assert (found.pmcid, found.pmid, found.doi) == ("PMC90000001", "90000001", "10.5555/jats.1")
    assert (found.title, found.journal) == ("Effect of Ca²⁺ on p53", "Invented Journal")
    address = "https://creativecommons.org/licenses/by-nc/4.0/"
    assert found.licence == Licence("CC BY-NC 4.0", address, "Free for non-commercial use.")
    assert (found.withheld, found.references) == (False, 1)


def test_sections_keep_their_order_and_depth():
    levels = [(section.title, section.level) for section in parse_full_text(INVENTED).sections]
    assert levels == [
        ("Abstract", 1), ("Background", 2), ("Results", 2), ("In plain words", 1), ("", 1), ("1. Methods", 1),
        ("Patients", 2), ("Results", 1), ("Acknowledgments", 1), ("Data availability", 1),
    ]  # fmt: skip


def test_a_table_inside_a_paragraph_leaves_the_sentence_whole():
    methods = sections()["1. Methods"]
    assert methods.text == "We measured1 twice and went on."
    assert methods.tables == (Table("Table 1.", "Doses in mg", ("Drug | Dose", "A | 5", "B | "), "A: first."),)


def test_lists_figures_and_quotations_are_read():
    found = sections()
    assert found["Patients"].text == "Two groups:\n\n- young\n\n- old"
    assert found["Results"].text == "[Figure 1. It rose.]\n\nQuoted words."


def test_a_withheld_text_is_reported_and_not_taken_for_an_empty_one():
    found = parse_full_text(WITHHELD)
    assert (found.withheld, found.sections, found.pmcid) == (True, (), "PMC15")


def test_an_article_that_pmc_does_not_have_is_none():
    assert parse_full_text(b'<pmc-articleset><Reply Id="1" error="not available"/></pmc-articleset>') is None


@pytest.mark.parametrize(
    "hostile",
    [
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><pmc-articleset><article>&x;</article></pmc-articleset>',
        b'<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><pmc-articleset><article>&z;</article></pmc-articleset>',
        b"<pmc-articleset><article><body><p>&undefined;</p></body></article></pmc-articleset>",
        b"<pmc-articleset><article><body>",
        b"<a>" * 5_000 + b"</a>" * 5_000,
        b"not xml",
        b"",
    ],
)
def test_hostile_or_broken_xml_is_refused(hostile):
    with pytest.raises(NcbiUnreadable):
        parse_full_text(hostile)


def test_deep_nesting_is_read_without_end():
    deep = b"<sec><title>t</title><p>x</p>" * 60 + b"</sec>" * 60
    found = parse_full_text(b"<article><body>" + deep + b"</body></article>")
    assert max(section.level for section in found.sections) <= 12
    assert sum(section.text.count("x") for section in found.sections) == 60
