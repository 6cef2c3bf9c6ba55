"""rag.search with the real model: it warns of what has nothing to do with the corpus, and of nothing else."""

from pathlib import Path

import pytest

from bio_mcp.call import call
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.tools.search import rag_search
from tests.support.sample_corpus import articles, corpus

LISTS = [Path(__file__).parents[2] / f"benchmarks/{name}.txt" for name in ("off_topic", "off_topic_held_out")]
OFF_TOPIC = [question for path in LISTS for question in path.read_text("utf-8").splitlines()[::6]]
TITLED = {each.pmid: each.title for each in articles() if each.title and each.abstract}


def search(query, corpus):
    body = call(rag_search, {"query": query, "include_weak": True}, corpus).body
    assert "results" in body, body
    return body


@pytest.mark.parametrize("query", OFF_TOPIC)
def test_a_question_of_another_field_is_warned_of_and_no_hit_is_likely_to_fit(query):
    body = search(query, corpus())
    assert "Probably none of the papers fits the query" in body["warnings"][-1]
    assert body["results"][0]["score"] > 0.5, "a score cannot show it"
    assert max(hit["relevance"] for hit in body["results"]) < 0.4


def test_an_answer_has_as_many_characters_as_it_has_room():
    """The test of the whole sample in tests/all says more."""
    for title in TITLED.values():
        fitting = call(rag_search, {"query": title, "top_k": 10}, corpus())
        assert len(fitting.text.encode()) <= 4_500
        marked = call(rag_search, {"query": title, "top_k": 10, "include_weak": True}, corpus())
        assert len(marked.text.encode()) <= 4_900, "each says that it is weak, and most that it was corrected"
        assert all(hit["snippet"] for hit in marked.body["results"])


@pytest.mark.parametrize("pmid", TITLED)
def test_a_question_that_a_paper_answers_is_not(pmid):
    body = call(rag_search, {"query": TITLED[pmid]}, corpus()).body
    assert body["warnings"] == []
    assert [hit["relevance"] > 0.5 for hit in body["results"] if hit["doc_id"] == f"pmid:{pmid}"] == [True]
    assert ["match" in hit for hit in body["results"] if hit["doc_id"] == f"pmid:{pmid}"] == [False]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("drinking problem", "alcoholism"),
        ("painkillers", "analgesics"),
        ("skin cancer", "melanoma"),
    ],
)
def test_an_everyday_name_finds_the_paper_that_calls_it_otherwise_in_the_first_three(query, said):
    texts = {f"pmid:{each.pmid}": f"{each.title} {abstract_text(each)}".lower() for each in articles()}
    hits = [hit["doc_id"] for hit in search(query, corpus())["results"][:3]]
    assert any(said in texts[hit] and query not in texts[hit] for hit in hits)
