"""What the suite of the port does not ask of a node: words of any length, long and deep queries, indexes of before."""

from dataclasses import replace

import pytest

from bio_mcp.adapters.opensearch.found_by import MAPPING
from bio_mcp.adapters.opensearch.index import StoredIndex, page
from bio_mcp.adapters.opensearch.passages import NEWEST, OpenSearchIndexes
from bio_mcp.adapters.opensearch.schema import FOUND_BY, VECTOR_LAYOUTS
from bio_mcp.errors import IndexUnavailable, InvalidInput
from bio_mcp.health import WARN
from bio_mcp.literature.records import Article, PartialDate
from bio_mcp.retrieval.analysis import QUERY_TERMS
from bio_mcp.retrieval.passages import Filters, Matching, PassageQuery
from bio_mcp.retrieval.pubmed_syntax import MOST_LEVELS, MOST_TERMS, And, Field, Or, Term, fields_of, matches, parsed
from tests.adapters.entries import DIM, entry, unit
from tests.support.boolean_queries import PAPER
from tests.support.cases import case
from tests.support.opensearch_node.passages import passages_at


def titled(pmid, title, **article):
    return entry(pmid, "x", fields=fields_of(Article(pmid, title=title, **article)))


@pytest.fixture
def passages(opensearch):
    made = passages_at(opensearch.url)
    made.ensure_schema("model-a", DIM)
    return made


LETTER = "𐌰"  # two of Java's characters


def test_a_word_of_any_length_is_found_by_itself_and_by_its_beginnings_alone(passages):
    lengths = (99, 100, 101, 150, 200, 201, 250, 40_000)
    papers = [titled(str(length), f"of {LETTER * length} lungs") for length in lengths]
    passages.upsert_chunks(papers)
    for length in (50, 99, 100, 101, 150, 200, 201, 202):
        for truncated in (False, True):
            for words in ((LETTER * length,), ("of", LETTER * length), (LETTER * length, "lungs")):
                tree = Term(Field.TITLE, words, len(words) > 1, truncated)
                with case(tree):
                    wanted = {each.pmid for each in papers if matches(tree, each.fields)}
                    assert set(passages.matching(Filters(tree=tree), 100).pmids) == wanted


TERMS = ["word{}", "word{}*", '"phrase of{}"[tiab]', "berg{} j[au]", "van der berg{} j[1au]", "heading{}[majr]"]


@pytest.mark.parametrize("layout", VECTOR_LAYOUTS)
def test_as_many_terms_and_levels_as_a_query_may_have_are_asked_at_once(opensearch, layout):
    passages = passages_at(opensearch.url, vectors=layout)
    passages.ensure_schema("model-a", DIM)
    passages.upsert_chunks([entry(PAPER.pmid, "x", fields=fields_of(PAPER))])
    of_terms = [Or(tuple(parsed(each.format(number)) for number in range(MOST_TERMS - 1))) for each in TERMS]
    of_levels = parsed("asthma AND none OR " * (MOST_LEVELS // 2 - 1) + "asthma")
    words = [*((f"w{number}", 1.0) for number in range(QUERY_TERMS)), ("x", 1.0)]
    for tree in (*of_terms, of_levels):
        some = Or((*tree.parts, parsed("asthma")))
        for each, found in ((some, 1), (And((some, parsed("none"))), 0)):
            for within in (None, frozenset(["7", PAPER.pmid])):
                query = PassageQuery(tuple(words), unit(1), Filters(tree=each), within=within)
                assert passages.matching(query.filters, 1).total == len(passages.hybrid_search(query)) == found


def test_a_query_of_too_many_clauses_is_said_to_be_too_long(passages):
    passages.upsert_chunks([titled("1", " ".join(f"lung{number} cells" for number in range(MOST_TERMS)))])
    phrases = tuple(parsed(f'"lung{number} of the cell*"') for number in range(MOST_TERMS))
    with pytest.raises(InvalidInput, match="more terms"):
        passages.matching(Filters(tree=Or(phrases)), 1)
    assert passages.matching(Filters(tree=Or(phrases[:200])), 1).total == 0


def test_the_newest_papers_are_listed_page_by_page_those_without_a_day_last(passages):
    passages.upsert_chunks(
        [
            titled(str(pmid), "Lung", publication_date=PartialDate("", 2000 + pmid % 2) if pmid < 5 else None)
            for pmid in range(1, 8)
        ]
    )
    stored = StoredIndex(passages.alias, passages.alias.index())
    for size in (1, 2, 3, 7):
        listed = stored.listed(page(size, {"match_all": {}}, NEWEST, "pmid"))
        assert [hit["fields"]["pmid"][0] for hit in listed] == [3, 1, 4, 2, 7, 6, 5]


def test_an_index_of_an_older_mapping_goes_on_and_says_what_it_lacks(opensearch):
    older = passages_at(opensearch.url)
    layout = older.alias.layout
    before = replace(
        layout.contents,
        version=FOUND_BY - 1,
        fields=lambda *kind: {n: each for n, each in layout.contents.fields(*kind).items() if n not in MAPPING},
    )
    older.alias.layout = replace(layout, contents=before)
    older.ensure_schema("model-a", DIM)
    passages = passages_at(opensearch.url, alias=older.alias.name)
    passages.upsert_chunks([titled("1", "Lung"), titled("3", "Lung"), titled("2", "Lung")])
    assert passages.matching(Filters(), 0) == Matching(3, ())
    assert len(passages.hybrid_search(PassageQuery((("x", 1.0),), unit(1)))) == 3
    with pytest.raises(IndexUnavailable, match="bio-mcp admin reindex start"):
        passages.hybrid_search(PassageQuery((("x", 1.0),), unit(1), Filters(tree=parsed("lung"))))
    assert OpenSearchIndexes(passages).inspect().state == WARN
