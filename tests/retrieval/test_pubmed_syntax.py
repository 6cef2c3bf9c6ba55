"""PubMed's search syntax: what a query is read as, what cannot be read, and which records it finds."""

import time
from contextlib import suppress
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.records import Article, PartialDate, RetractionStatus
from bio_mcp.retrieval.analysis import words_of
from bio_mcp.retrieval.pubmed_syntax import (
    DEEPEST,
    MOST_LEVELS,
    MOST_TERMS,
    And,
    Dates,
    Field,
    Not,
    Or,
    Term,
    fields_of,
    matches,
    parsed,
    printed,
)
from tests.support.boolean_queries import FOUND, PAPER
from tests.support.real_records import FILES, records


def word(text, field=Field.ALL):
    return Term(field, (text,))


A, B, C = word("asthma"), word("child"), word("adult")


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("asthma", A),
        ("Asthma, AND (child).", And((A, B))),
        ("asthma child", And((A, B))),
        ("asthma AND child AND adult", And((A, B, C))),
        ("asthma OR child AND adult", And((Or((A, B)), C))),
        ("asthma AND child OR adult", Or((And((A, B)), C))),
        ("asthma AND (child OR adult)", And((A, Or((B, C))))),
        ("asthma NOT child NOT adult", And((A, Not(B), Not(C)))),
        ("asthma AND NOT child", And((A, Not(B)))),
        ("NOT asthma", Not(A)),
        ("asthma NOT (child OR adult)", And((A, Not(Or((B, C)))))),
        ("(asthma)AND(child)", And((A, B))),
        ("asthma and child or adult", And((A, B, C))),
        ("the asthma of a child", And((A, B))),
        ("the", word("the")),
        ('"heart attack"', Term(Field.ALL, ("heart", "attack"), phrase=True)),
        ("“heart attack”", Term(Field.ALL, ("heart", "attack"), phrase=True)),
        ("heart-attack", Term(Field.ALL, ("heart", "attack"), phrase=True)),
        ("heart attack[ti]", Term(Field.TITLE, ("heart", "attack"), phrase=True)),
        ('"asthma"[Title/Abstract]', word("asthma", Field.TITLE_ABSTRACT)),
        ("asthma [ TITLE ]", word("asthma", Field.TITLE)),
        ("asthma[ti] child[ab]", And((word("asthma", Field.TITLE), word("child", Field.ABSTRACT)))),
        ("asthma[ti]AND child[ab]", And((word("asthma", Field.TITLE), word("child", Field.ABSTRACT)))),
        ("wheez*", Term(Field.ALL, ("wheez",), truncated=True)),
        ('"breast feed*"[tw]', Term(Field.TEXT_WORD, ("breast", "feed"), phrase=True, truncated=True)),
        ("TNF-α[ti]", Term(Field.TITLE, ("tnf", "alpha"), phrase=True)),
        ("Früh's", word("fruh")),
        ("Smith, J. A.[au]", Term(Field.AUTHOR, ("smith", "ja"))),
        ('"smith j"[1AU]', Term(Field.FIRST_AUTHOR, ("smith", "j"), phrase=True)),
        ("The Lancet[Journal]", word("lancet", Field.JOURNAL)),
        ("0140-6736[ta]", Term(Field.JOURNAL, ("0140", "6736"), phrase=True)),
        ("Asthma/drug therapy[MeSH Terms]", Term(Field.MESH, ("asthma", "/", "drug", "therapy"), phrase=True)),
        ("asthma[mh:noexp]", word("asthma", Field.MESH_ALONE)),
        ("asthma[MeSH Major Topic]", word("asthma", Field.MAJOR)),
        ("Review[Publication Type]", word("D016454", Field.PUBLICATION_TYPE)),
        ("English[lang]", word("eng", Field.LANGUAGE)),
        ("0384001[uid]", word("384001", Field.PMID)),
        ("10.1016/S0140-6736(20)30183-5[doi]", word("10.1016/s0140-6736(20)30183-5", Field.DOI)),
        ("(https://doi.org/10.1016/S0140-6736(20)30183-5[lid])", word("10.1016/s0140-6736(20)30183-5", Field.DOI)),
        ("pmc6108041[pmcid]", word("PMC6108041", Field.PMCID)),
        ("2019[dp]", Dates(date(2019, 1, 1), date(2019, 12, 31))),
        ('"2020/02"[Date - Publication]', Dates(date(2020, 2, 1), date(2020, 2, 29))),
        ("2019:2021[dp]", Dates(date(2019, 1, 1), date(2021, 12, 31))),
        ('"2019/01/15"[dp] : "2020"[dp]', Dates(date(2019, 1, 15), date(2020, 12, 31))),
        ("2019-06:3000[pdat]", Dates(date(2019, 6, 1), date(3000, 12, 31))),
        ("2019[dp] AND asthma", And((Dates(date(2019, 1, 1), date(2019, 12, 31)), A))),
        ("benzo[a]pyrene", Term(Field.ALL, ("benzo", "a", "pyrene"), phrase=True)),
        ("HLA-B*57:01", Term(Field.ALL, ("hla", "b", "57", "01"), phrase=True)),
        ("asthma - & child", And((A, B))),
    ],
)  # fmt: skip
def test_a_query_is_a_tree_and_its_print_the_same_tree(query, tree):
    assert parsed(query) == tree
    assert parsed(printed(tree)) == tree


@pytest.mark.parametrize(
    ("query", "position", "expected"),
    [
        ("", 0, "expected a term"),
        ("asthma AND", 7, "a term after AND"),
        ("asthma AND -", 7, "a term after AND"),
        ("AND asthma", 0, "a term before AND"),
        ("asthma AND OR child", 11, "a term between AND and OR"),
        ("asthma OR NOT child", 10, "a term between OR and NOT"),
        ("(asthma", 0, r"not closed; expected \)"),
        ("asthma)", 6, "closed that was not opened"),
        ("asthma AND ()", 12, "a term between the brackets"),
        ("asthma (OR)", 8, "a term before OR"),
        ('asthma AND "child', 11, "quotation mark"),
        ("asthma [", 7, "square bracket"),
        ("asthma]", 6, "square bracket"),
        ("[ti]", 0, r"a term before \[ti\]"),
        ("--[ti]", 0, "a letter or digit"),
        ('"-"', 0, "a letter or digit"),
        ("asthma[tittle]", 6, r"did you mean \[title\]"),
        ("asthma[xyz]", 6, r"expected one of \[all\], \[ti\]"),
        ("asthma[nonesuch]", 6, "unknown here"),
        ("*", 0, "at least 4 letters"),
        ("ast*", 0, "at least 4 letters"),
        ('"breast fee*"', 0, "at least 4 letters"),
        ("breast* cancer[ti]", 0, r"expected \* at the end"),
        ("an*mia", 0, r"expected \* at the end"),
        ("review*[pt]", 0, r"without \*"),
        ("poem[pt]", 0, "no publication type"),
        ("Germn[la]", 0, "did you mean German"),
        ("abc[pmid]", 0, "not a PMID"),
        ("#1 AND #2", 0, "earlier searches have no numbers here"),
        ("asthma[ti] or child[ti]", 11, "expected OR in capitals"),
        ('"asthma" not child[ti]', 9, "expected NOT in capitals"),
        ("abc[doi]", 0, "Not a DOI"),
        ("asthma[dp]", 0, "a date such as 2019"),
        ("2019/13[dp]", 0, "a date such as 2019"),
        ("2021:2019[dp]", 0, "ends after it begins"),
        ("2019:2021[ti]", 0, r"expected \[dp\]"),
        ("2019:2021", 0, r"expected \[dp\]"),
        ("medline[sb]", 0, "expected hasabstract"),
        ("x" * 10_001, 0, "10,000 characters"),
        ("a " * (MOST_TERMS + 1), 2 * MOST_TERMS, "at most 500 terms"),
        ("(" * (DEEPEST + 1) + "a" + ")" * (DEEPEST + 1), DEEPEST, "brackets are in each other"),
        ("a OR b AND " * (MOST_LEVELS // 2) + "c", 0, "take turns more than 150 times"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(query, position, expected):
    with pytest.raises(InvalidInput, match=expected) as refused:
        parsed(query)
    assert refused.value.details["position"] == position
    assert f"character {position + 1}," in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(("query", "found"), FOUND)
def test_a_record_is_found_by_pubmeds_rules(query, found):
    assert matches(parsed(query), fields_of(PAPER)) is found


def test_what_is_known_to_be_retracted_has_the_type_and_a_paper_without_text_no_abstract():
    fields = fields_of(replace(PAPER, retraction=RetractionStatus.RETRACTED, abstract=()))
    assert matches(parsed("retracted publication[pt] NOT hasabstract[sb]"), fields)


@pytest.mark.parametrize(
    ("printed_date", "first"),
    [
        (PartialDate("2021", 2021), date(2021, 1, 1)),
        (PartialDate("2021 Feb 30", 2021, 2, 30), date(2021, 2, 1)),
        (PartialDate("Spring"), None),
    ],
)
def test_a_date_that_says_less_is_its_first_day(printed_date, first):
    days = fields_of(Article("1", publication_date=printed_date)).days
    assert days == (() if first is None else (first,))


def test_a_record_that_has_nothing_is_found_by_its_number():
    fields = fields_of(Article("1"))
    assert [matches(parsed(query), fields) for query in ("1[pmid]", "asthma", "asthma[mh]", "2000:3000[dp]")] == [
        True, False, False, False,
    ]  # fmt: skip


def _is_told(author):
    """Whether the last name has no word that is read as an initial."""
    return bool(author.last_name) and all(len(each) > 1 for each in words_of(author.last_name))


def test_real_records_are_found_by_what_they_say():
    for article in [each for path in FILES for each in records(path)[:300]]:
        fields = fields_of(article)
        title = " ".join(words_of(article.title or "")[:12])
        queries = [f"{article.pmid}[pmid]", *([f'"{title}"[ti]'] if title else [])]
        queries += [f"{each.name}[mh]" for each in article.mesh] + [f"{each}[la]" for each in article.languages]
        queries += [f"{each.ui}[pt]" for each in article.publication_types]
        queries += [f"{each.last_name} {each.initials or ''}[au]" for each in article.authors[:3] if _is_told(each)]
        queries += [f'"{article.journal.medline_abbreviation}"[ta]'] if article.journal else []
        missed = [each for each in queries if not matches(parsed(each), fields)]
        assert missed == [], article.pmid


WORDS = st.sampled_from(["asthma", "child", "wheez*", "il-6", '"heart attack"', "the", "αβ", "İx"])
TAGGED = st.builds(
    "{}[{}]".format,
    st.sampled_from(["asthma", "smith j", '"smith j"', "heart attack", "wheez*", "a/b c", "the lancet"]),
    st.sampled_from(["ti", "ab", "tiab", "tw", "au", "1au", "lastau", "ta", "mh", "majr", "mh:noexp", "all", "ot"]),
)
VALUES = st.sampled_from(
    ["review[pt]", "hasabstract[sb]", "rct[pt]", "scoping review[pt]", "german[la]", "1[pmid]", "10.1000/x(1)[doi]"]
)
DATES = st.builds("{:04}/{:02}:{:04}[dp]".format, st.integers(1, 1999), st.integers(1, 12), st.integers(2000, 3000))
QUERIES = st.recursive(
    WORDS | TAGGED | VALUES | DATES,
    lambda inner: (
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["AND", "OR", "NOT", ""]), inner)
        | st.builds("{} {} {}".format, inner, st.sampled_from(["AND", "OR", "NOT"]), inner)
        | st.builds("(NOT {})".format, inner)
    ),
    max_leaves=12,
)


@given(QUERIES)
def test_a_printed_tree_reads_back_as_itself(query):
    tree = parsed(query)
    assert parsed(printed(tree)) == tree
    assert matches(tree, fields_of(PAPER)) is matches(parsed(printed(tree)), fields_of(PAPER))


@given(st.text() | st.text(alphabet='aA bB()[]"*:/-|&19ti.ANDORNOT\n“”'), st.text(max_size=8))
def test_any_text_is_read_or_refused(text, tag):
    for query in (text, f"{text}[{tag}]"):
        try:
            tree = parsed(query)
        except InvalidInput:
            continue
        assert parsed(printed(tree)) == tree
        matches(tree, fields_of(PAPER))


@pytest.mark.parametrize(
    "query",
    ["(" * 10_000, '"' * 9_999, "[" * 10_000, "a[" * 5_000, "[a" * 5_000, "*" * 10_000, "* " * 5_000, "2019 " * 2_000,
     "2019" + " " * 9_990, '"2019' * 2_000, "AND " * 2_500, "a*" * 5_000, "10.1000/" * 1_250, "[ti" + " " * 9_990,
     "10.1000/" + ")" * 9_990, "a AND " * 1_600 + "a", "(a) " * 2_500, "x" * 10_000 + "[" + "ti" * 10],
)  # fmt: skip
def test_hostile_queries_take_no_time(query):
    start = time.process_time()
    with suppress(InvalidInput):
        printed(parsed(query[:10_000]))
    assert time.process_time() - start < 1
