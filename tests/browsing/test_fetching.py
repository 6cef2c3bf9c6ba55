"""Cutting NCBI's own text between records, and reading what is in it."""

import pytest

from bio_mcp.browsing.fetching import asked_for, raw
from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput, UpstreamFailed

HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "a" "b">\n<PubmedArticleSet>\n'
TAIL = "\n</PubmedArticleSet>\n"


def article(pmid):
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><ArticleTitle>On {pmid}.'
        "</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    )


def medline(pmid):
    return f"\nPMID- {pmid}\nOWN - NLM\nTI  - A title that\n      goes on, {pmid}.\nAB  - Text.\n"


class Printed:
    """A PubMed that prints these records."""

    def __init__(self, xml=(), text=()):
        self.text = {"xml": HEAD + "\n".join(map(article, xml)) + TAIL, "medline": "".join(map(medline, text))}
        self.there = [str(pmid) for pmid in (*xml, *text)]

    def efetch_text(self, _pmids, *, style, **_):
        return self.text[style]

    def efetch(self, pmids, **_):
        return iter([pmid for pmid in pmids if pmid in self.there])


@pytest.mark.parametrize("room", [10_000, 700, 500, 400])
def test_xml_that_is_too_long_ends_after_a_whole_record(room):
    printed = Printed(xml=(3, 1, 2))
    found = raw(["1", "2", "3"], "xml", room, printed, NEVER)
    assert len(found.text) <= room
    assert [*found.titles, *found.left_out] == ["3", "1", "2"]
    assert found.text == HEAD + "\n".join(article(pmid) for pmid in found.titles) + TAIL
    assert found.titles["3"] == "On 3."


@pytest.mark.parametrize("room", [10_000, 170, 90])
def test_medline_text_that_is_too_long_ends_before_a_record(room):
    found = raw(["7", "8", "9"], "medline", room, Printed(text=(7, 8, 9)), NEVER)
    assert len(found.text) <= room
    assert [*found.titles, *found.left_out] == ["7", "8", "9"]
    assert found.text.strip() == "".join(map(medline, found.titles)).strip()
    assert found.titles["7"] == "A title that goes on, 7."


@pytest.mark.parametrize(("style", "printed"), [("xml", Printed(xml=(1,))), ("medline", Printed(text=(1,)))])
def test_one_record_that_is_too_long_is_a_failure_that_says_what_to_do(style, printed):
    with pytest.raises(UpstreamFailed, match="abstract_plus") as failed:
        raw(["1"], style, 10, printed, NEVER)
    assert failed.value.retryable is False


def test_pmids_are_asked_for_once_and_without_zeros():
    assert asked_for(["007", "7", "12"]) == ["7", "12"]


@pytest.mark.parametrize("wrong", ["0", "", "１２", "12a", "12\n", "1" * 11, "9" * 5000])
def test_what_is_no_pmid_is_refused_by_the_name_of_its_field(wrong):
    with pytest.raises(InvalidInput, match="sourcePmid"):
        asked_for(["1", wrong], "sourcePmid")
