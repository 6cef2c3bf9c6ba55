"""What a paper is found by in OpenSearch, and what is asked for queries, like words and other names."""

import re

import pytest

from bio_mcp.adapters.opensearch.found_by import LONGEST, MAPPING, alike, defining, finding, found_by
from bio_mcp.adapters.opensearch.index import Index
from bio_mcp.adapters.opensearch.passages import document_of
from bio_mcp.adapters.opensearch.schema import DOMAIN, FOUND_BY, SERVERLESS
from bio_mcp.errors import IndexUnavailable, InvalidInput
from bio_mcp.literature.records import Article, Author
from bio_mcp.retrieval.analysis import QUERY_TERMS
from bio_mcp.retrieval.passages import Filters, Matching, OtherName, PassageQuery
from bio_mcp.retrieval.pubmed_syntax import MOST_TERMS, Or, fields_of, parsed
from tests.adapters.entries import entry, unit
from tests.adapters.opensearch.fake import OPEN, Scripted
from tests.support.boolean_queries import PAPER

MOST_CLAUSES = 1_024  # of a query, as OpenSearch is installed


def test_a_text_is_sent_once_and_copied_to_each_tag_that_looks_into_it():
    words = MAPPING["words"]["properties"]
    assert words["title"]["copy_to"] == ["words.ti", "words.tiab", "words.tw", "words.all", "words.spelled"]
    assert words["names"]["copy_to"] == ["words.all"]
    assert {name for each in words.values() for name in each.get("copy_to", ())} <= {f"words.{name}" for name in words}
    assert found_by(entry("1", fields=fields_of(PAPER)))["words"] == fields_of(PAPER).texts


def test_a_value_says_its_field_and_a_persons_the_beginnings_by_which_it_is_found():
    article = Article("7", authors=(Author("Berg", "Jo Ann", "JA"),), languages=("ger",))
    assert found_by(entry("7", fields=fields_of(article)))["values"] == [
        f"{field}:{value}"
        for field in ("1au", "au")
        for value in ("berg,*", "berg,j*", "berg,ja", "berg,ja*", "berg;jo *", "berg;jo ann")
    ] + ["la:ger", *(f"lastau:berg{each}" for each in (",*", ",j*", ",ja", ",ja*", ";jo *", ";jo ann")), "pmid:7"]


def test_days_participants_and_both_directions_of_an_abbreviation_are_sent():
    dated = fields_of(PAPER)
    sent = found_by(entry("7", fields=dated, participants=334, abbreviations=(("ci", "confidence interval"),)))
    assert sent["days"] == [each.toordinal() for each in dated.days]
    assert (sent["newest"], sent["participants"]) == (max(sent["days"]), 334)
    assert sent["names"] == ["ci\tconfidence interval", "confidence interval\tci"]
    assert not {"newest", "participants"} & found_by(entry("7")).keys()


LUNG, MICE = {"term": {"words.all": "lung"}}, {"term": {"words.all": "mice"}}


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("lung[ti]", {"term": {"words.ti": "lung"}}),
        ("lung*", {"prefix": {"words.all": "lung"}}),
        ('"lung cell"[tiab]', {"match_phrase": {"words.tiab": "lung cell"}}),
        ('"lung cell*"', {"match_phrase_prefix": {"words.all": {"query": "lung cell", "max_expansions": 2**31 - 1}}}),
        ("x" * 250, {"match_phrase": {"words.all": f"{'x' * 100}+ +{'x' * 100}+ +{'x' * 50}"}}),
        ("lung[mh:noexp]", {"terms": {"values": ["mh:lung"]}}),
        ("lung*[mh]", {"bool": {"should": [{"prefix": {"values": "mh:lung"}}], "minimum_should_match": 1}}),
        ("berg[1au]", {"terms": {"values": ["1au:berg,*"]}}),
        ('"p q"[au]', {"terms": {"values": ["au:p,q", "au:p;q", "au:q,p", "au:q;p", "au:p q,*"]}}),
        ("1970[dp]", {"range": {"days": {"gte": 719163, "lte": 719527}}}),
        ("lung NOT mice", {"bool": {"filter": [LUNG], "must_not": [MICE]}}),
        ("NOT lung", {"bool": {"must_not": [LUNG]}}),
        ("lung OR mice", {"bool": {"should": [LUNG, MICE], "minimum_should_match": 1}}),
    ],
)  # fmt: skip
def test_a_query_is_asked_as(query, asked):
    assert finding(parsed(query)) == asked


@pytest.mark.parametrize(
    "term", ["lung", "lung*", "lung cell[tiab]", "van den berg j[au]", "lung/surgery[majr]", "rct[pt]", "2019[dp]"]
)
def test_as_many_terms_as_a_query_may_have_fit_beside_the_words_that_it_is_ranked_by(term):
    query = Or((parsed(term),) * MOST_TERMS)
    assert clauses(finding(query)) + QUERY_TERMS + 20 <= MOST_CLAUSES


def clauses(query):
    """What Lucene counts of the kinds that are asked here: each query that is no combination of others."""
    if "bool" not in query:
        return 1
    return sum(clauses(each) for some in query["bool"].values() if isinstance(some, list) for each in some)


def opened(version=FOUND_BY):
    meta = OPEN["corpus-abc-1"]["mappings"]["_meta"] | {"version": version}
    return 200, {"corpus-abc-1": OPEN["corpus-abc-1"] | {"mappings": {"_meta": meta}}}


def answer(total, *pmids, **more):
    hits = [{"fields": {"pmid": [pmid]}, "sort": [7, pmid]} for pmid in pmids]
    shards = {"total": 1, "successful": 1, "failed": 0}
    return 200, {"timed_out": False, "_shards": shards, "hits": {"total": {"value": total}, "hits": hits}, **more}


def test_papers_that_pass_are_counted_and_listed_until_there_are_enough():
    server = Scripted(opened(), answer(9, 8, 7), answer(9, 6, 5))
    assert server.passages().matching(Filters(project="p"), 3) == Matching(9, ("8", "7", "6"))
    first, following = (body for _, _, [body] in server.asked[1:])
    assert (first["size"], first["track_total_hits"]) == (3, True)
    papers = {"range": {"pmid": {"gte": 0}}}
    assert first["query"] == {"bool": {"filter": [papers, {"term": {"projects": "p"}}]}}
    assert following == first | {"search_after": [7, 7], "track_total_hits": False}


def test_a_query_that_is_too_long_for_opensearch_is_said_to_be():
    refusal = (400, {"error": {"root_cause": [{"type": "too_many_nested_clauses"}]}, "status": 400})
    with pytest.raises(InvalidInput, match="more terms than OpenSearch takes"):
        Scripted(opened(), refusal).passages().matching(Filters(tree=parsed("lung")), 3)
    other = (400, {"error": {"root_cause": [{"type": "parsing_exception"}]}, "status": 400})
    with pytest.raises(IndexUnavailable, match="parsing_exception"):
        Scripted(opened(), other).passages().hybrid_search(PassageQuery((("x", 1.0),), None))


NEW = [
    lambda passages: passages.hybrid_search(PassageQuery((("x", 1.0),), None, Filters(tree=parsed("lung")))),
    lambda passages: passages.hybrid_search(PassageQuery((), unit(1), Filters(participants_min=1))),
    lambda passages: passages.matching(Filters(tree=parsed("lung")), 0),
    lambda passages: passages.matching(Filters(), 1),
    lambda passages: passages.words_like("lung"),
    lambda passages: passages.other_names(["ci"]),
]


@pytest.mark.parametrize("ask", NEW)
def test_an_index_of_an_older_mapping_names_the_way_to_one_that_can_answer(ask):
    with pytest.raises(IndexUnavailable, match=r"\(mapping 3\).*bio-mcp admin reindex start") as refused:
        ask(Scripted(opened(FOUND_BY - 1)).passages())
    assert not refused.value.retryable


def test_an_index_of_an_older_mapping_answers_questions_and_is_written_as_it_was_made():
    passages = Scripted(opened(2), answer(2), (200, {"responses": [answer(0)[1]]})).passages()
    assert passages.matching(Filters(year_from=2001), 0) == Matching(2, ())
    assert passages.hybrid_search(PassageQuery((("x", 1.0),), None)) == []
    older = document_of(entry("7"), unit(1)[None], Index("corpus-1", "model-a", 8, version=FOUND_BY - 1))
    newer = document_of(entry("7"), unit(1)[None], Index("corpus-1", "model-a", 8, version=FOUND_BY))
    assert newer.keys() - older.keys() == {"words", "values", "days", "names"}


def test_words_near_one_that_no_paper_has_are_counted_without_deleted_papers():
    options = [{"text": each} for each in ("infection", "infarction", "infraction")]
    counts = {"infection": 1, "infarction": 2, "infraction": 0}
    buckets = {word: {"doc_count": papers} for word, papers in counts.items()}
    server = Scripted(
        opened(),
        answer(0, suggest={"like": [{"options": options}]}),
        answer(0, aggregations={"words": {"buckets": buckets}}),
    )
    assert server.passages().words_like("infractoin") == [("infarction", 2), ("infection", 1)]
    assert server.asked[1][2] == [alike("infractoin", suggest=True)]


@pytest.mark.parametrize(("papers", "found"), [(1, [("lung", 1)]), (0, [])])
def test_serverless_is_asked_for_the_word_alone(papers, found):
    server = Scripted(opened(), answer(papers))
    assert server.passages(SERVERLESS).words_like("lung") == found
    assert "suggest" not in server.asked[1][2][0]


def test_no_word_and_one_that_is_longer_than_any_are_not_asked_for():
    for word in ("", "x" * 101):
        assert Scripted().passages(DOMAIN).words_like(word) == []
    assert Scripted().passages().other_names([]) == []


def test_other_names_are_counted_by_expressions_of_bounded_length_that_mean_the_names_themselves():
    names = [f"name {number} (il-{number}.5)" for number in range(200)] + ["x" * 2_000]
    asked = defining(names)
    patterns = [each["terms"]["include"] for each in asked["aggs"].values()]
    assert all(len(each) <= LONGEST for each in patterns)
    assert patterns == [each["regexp"]["names"]["value"] for each in asked["query"]["bool"]["should"]]
    for name in names[:-1]:
        assert sum(bool(re.fullmatch(each, f"{name}\tother")) for each in patterns) == 1
    assert not any(re.fullmatch(each, "name 1 (il-1x5)\tother") for each in patterns)


def test_a_short_form_may_stand_for_several_names():
    buckets = [{"key": "ci\tconfidence interval", "doc_count": 3}, {"key": "ci\tcardiac index", "doc_count": 1}]
    server = Scripted(opened(), answer(4, aggregations={"names 0": {"buckets": buckets}}))
    expected = [OtherName("ci", "confidence interval", 3), OtherName("ci", "cardiac index", 1)]
    assert server.passages().other_names(["ci"]) == expected
