"""Cutting NCBI's own text between records, and reading what is in it."""

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import UpstreamFailed
from bio_mcp.querying.search import pieces, raw

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


def test_xml_is_cut_after_each_record():
    whole = raw(["1", "2", "3"], "xml", Printed(xml=(3, 1, 2)), NEVER)
    *records, tail = pieces(whole)
    assert list(whole.titles) == ["3", "1", "2"]
    assert records[0] + tail == HEAD + article(3) + TAIL
    assert "".join([*records, tail]) == whole.text
    assert whole.titles["3"] == "On 3."


def test_medline_text_is_cut_before_each_record():
    whole = raw(["7", "8", "9"], "medline", Printed(text=(7, 8, 9)), NEVER)
    *records, tail = pieces(whole)
    assert [record.strip() for record in records] == [medline(pmid).strip() for pmid in (7, 8, 9)]
    assert "".join([*records, tail]) == whole.text
    assert whole.titles["7"] == "A title that goes on, 7."


def test_records_that_cannot_be_distinguished_are_a_failure_that_says_what_to_do():
    whole = raw(["1"], "xml", Printed(xml=(1, 1)), NEVER)
    with pytest.raises(UpstreamFailed, match="abstract_plus") as failed:
        pieces(whole)
    assert failed.value.retryable is False
