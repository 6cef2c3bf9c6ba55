"""Terms of searches, and NCBI's own text cut between records."""

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput, UpstreamFailed
from bio_mcp.querying.search import DateRange, clean, effective_term, pieces, raw


@pytest.mark.parametrize(
    ("query", "dates", "types", "term"),
    [
        ("  statins\n OR  niacin ", None, (), "statins OR niacin"),
        ("a OR bc", None, ["Review"], '(a OR bc) AND "Review"[Publication Type]'),
        ("abc", None, ["A", "B c", "A"], '(abc) AND ("A"[Publication Type] OR "B c"[Publication Type])'),
        ("abc", DateRange("2020", None), (), '(abc) AND ("2020"[pdat] : "3000"[pdat])'),
        ("abc", DateRange(None, "2020/06"), (), '(abc) AND ("1800"[pdat] : "2020/06"[pdat])'),
        ("abc", DateRange("2020/06", "2020"), (), '(abc) AND ("2020/06"[pdat] : "2020"[pdat])'),
        ("abc", DateRange("2020/02/29", "2020/02/29"), (), '(abc) AND ("2020/02/29"[pdat] : "2020/02/29"[pdat])'),
        ("abc", DateRange(None, None, "edat"), (), "abc"),
        (
            "abc",
            DateRange("2020", "2021", "edat"),
            ["A"],
            '(abc) AND ("2020"[edat] : "2021"[edat]) AND "A"[Publication Type]',
        ),
        ("abc", None, ['Review"[pt] OR "x'], '(abc) AND "Review pt OR x"[Publication Type]'),
        ("abc", None, ["Rev]iew"], '(abc) AND "Rev iew"[Publication Type]'),
    ],
)
def test_a_query_keeps_its_or_to_itself_and_no_filter_leaves_its_place(query, dates, types, term):
    assert effective_term(query, dates, types) == term


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        ("2020/13", None, "no month 13; months are 01 to 12"),
        ("2020/00/01", None, "no month 00"),
        ("2021/02/29", None, "no day 29; that month has 28 days"),
        (None, "2020/04/31", "maxDate: '2020/04/31' has no day 31"),
        ("0000", None, "no year 0000"),
        ("9999", None, "no year 9999"),
        ("2021", "2020", "2021 is after the last day, 2020"),
        ("2020/06/02", "2020/06/01", "is after the last day"),
        ("３０００", None, "is not YYYY"),
    ],
)
def test_a_date_that_no_calendar_has_is_refused(first, last, why):
    with pytest.raises(InvalidInput, match=why.replace("(", r"\(")):
        effective_term("statins", DateRange(first, last))


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("  ab  ", "at least 3 characters"),
        ("\x00\x01abc"[:3], "at least 3 characters"),
        ('statins "heart', "quotation mark"),
        ("(statins", "not closed"),
        ("statins) OR (niacin", "not opened"),
    ],
)
def test_a_query_that_would_swallow_or_escape_its_filters_is_refused(query, why):
    with pytest.raises(InvalidInput, match=why):
        clean(query)


def test_brackets_within_quotation_marks_are_text_and_control_characters_become_spaces():
    assert clean('"il-6 (human"[tiab]') == '"il-6 (human"[tiab]'
    assert clean("stat\x00ins\u2028or\u200bniacin") == "stat ins or niacin"


@pytest.mark.parametrize("name", ["", '""', " [] "])
def test_a_publication_type_without_a_name_is_refused(name):
    with pytest.raises(InvalidInput, match="filterByPublicationTypes"):
        effective_term("statins", publication_types=[name])


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


@pytest.mark.parametrize(
    ("style", "printed", "first", "title"),
    [
        ("xml", Printed(xml=(3, 1, 2)), HEAD + article(3), "On 3."),
        ("medline", Printed(text=(3, 1, 2)), medline(3), "A title that goes on, 3."),
    ],
)
def test_ncbis_own_text_is_cut_between_records(style, printed, first, title):
    whole = raw(["1", "2", "3"], style, printed, NEVER)
    *records, tail = pieces(whole)
    assert (list(whole.headers), len(records)) == (["3", "1", "2"], 3)
    assert records[0].strip() == first.strip()
    assert "".join([*records, tail]) == whole.text
    assert whole.headers["3"][0] == title


def test_records_that_cannot_be_distinguished_are_a_failure_that_says_what_to_do():
    whole = raw(["1"], "xml", Printed(xml=(1, 1)), NEVER)
    with pytest.raises(UpstreamFailed, match="abstract_plus") as failed:
        pieces(whole)
    assert failed.value.retryable is False
