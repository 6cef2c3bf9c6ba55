"""rag.search with the real model: it warns of what has nothing to do with the corpus, and of nothing else."""

from pathlib import Path

import pytest

from bio_mcp.call import call
from bio_mcp.tools.search import rag_search
from tests.sample_corpus import corpus

OFF_TOPIC = [
    question
    for name in ("off_topic", "off_topic_held_out")
    for question in (Path(__file__).parents[2] / f"benchmarks/{name}.txt").read_text("utf-8").splitlines()[::3]
]
TITLED = {each.pmid: each.title for each in corpus().articles if each.title and each.abstract}


def search(query):
    return call(rag_search, {"query": query}, corpus()).body


@pytest.mark.parametrize("query", OFF_TOPIC)
def test_a_question_of_another_field_is_warned_of(query):
    assert any("Probably none of the papers fits" in each for each in search(query)["warnings"])


@pytest.mark.parametrize("pmid", TITLED)
def test_a_question_that_a_paper_answers_is_not(pmid):
    body = search(TITLED[pmid])
    assert body["warnings"] == []
    assert ["match" in hit for hit in body["results"] if hit["doc_id"] == f"pmid:{pmid}"] == [False]
