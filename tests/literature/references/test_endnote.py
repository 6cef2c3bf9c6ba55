"""EndNote's records, and what is none."""

import pytest

from bio_mcp.literature.references.word import read_endnote


def records(inside):
    return f"<EndNote><Cite><record>{inside}</record></Cite></EndNote>"


def test_each_part_of_a_record_is_read_through_its_styles():
    [only] = read_endnote(
        records(
            "<rec-number>3</rec-number><ref-type name='Journal Article'>17</ref-type>"
            "<titles><title><style>Of </style><style face='italic'>E. coli</style></title></titles>"
            "<periodical><full-title>Gut</full-title></periodical><volume>7</volume><number>2</number>"
            "<custom2>PMC4852275</custom2><electronic-resource-num>https://doi.org/10.1000/X</electronic-resource-num>"
        )
    )
    assert (only.key, only.title, only.journal, only.kind) == ("3", "Of E. coli", "Gut", "article")
    assert (only.volume, only.issue, only.pmcid, only.doi) == ("7", "2", "PMC4852275", "10.1000/x")


@pytest.mark.parametrize(
    ("name", "kind"), [("Book", "other"), ("Web Page", "other"), ("Electronic Article", "article")]
)
def test_a_book_and_a_page_are_no_articles(name, kind):
    [only] = read_endnote(records(f"<ref-type name='{name}'/><titles><title>Some title</title></titles>"))
    assert only.kind == kind


def test_a_number_of_another_database_is_no_pmid():
    [only] = read_endnote(records("<accession-num>WOS:000187</accession-num><titles><title>Some</title></titles>"))
    assert (only.pmid, only.title, only.kind) == ("", "Some", "article")


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<EndNote>",
        "no XML",
        '<!DOCTYPE a [<!ENTITY b "c">]><EndNote><record>&b;</record></EndNote>',
        "<EndNote/>",
        "<a>\0</a>",
    ],
)
def test_what_is_broken_or_declares_entities_has_no_records(xml):
    assert read_endnote(xml) == []
