"""A search whose best papers a reranker reads again, through the tool that every door calls."""

from dataclasses import replace

import pytest

from bio_mcp.answering.search import BEST
from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, EmbeddingFailed, Misconfigured, UpstreamFailed
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.tools.search import rag_search
from tests.support.memory_corpus import Corpus, article

QUESTION = "statins mortality"
PAPERS = [
    article(str(n), f"Statins and mortality {n}.", f"Statins lowered mortality {'again ' * n}.", 2020)
    for n in range(10, 10 + BEST + 5)
]


class Reranker:
    """Prefers low PMIDs, which stand in the titles; notes what it was given."""

    fingerprint = "made-up"

    def __init__(self, failure=None):
        self.failure, self.read = failure, []

    def scores(self, question, passages, _deadline):
        self.read.append((question, passages))
        if self.failure:
            raise self.failure
        return [-float(each.split("mortality ")[1].split(".")[0]) for each in passages]


def searched(reranker=None, papers=PAPERS, **more):
    corpus = Corpus(*papers)
    corpus.reranker = reranker
    whole = {"top_k": 100, "max_characters": 100_000, "include_weak": True, "explain": True}
    body = call(rag_search, {"query": QUESTION, **whole, **more}, corpus).body
    return body, [int(each["doc_id"][5:]) for each in body["results"]]


def test_the_best_papers_come_in_its_order_and_the_others_after_them_as_they_were():
    _, before = searched()
    body, after = searched(reranker := Reranker())
    assert after[:BEST] == sorted(before[:BEST])
    assert after[BEST:] == before[BEST:]
    assert after != before
    [(question, passages)] = reranker.read
    assert (question, len(passages)) == (QUESTION, BEST)
    assert all(each.startswith("Statins and mortality") for each in passages)
    scores = [each["score"] for each in body["results"]]
    assert scores == sorted(scores, reverse=True)


def test_an_explanation_says_what_it_did():
    body, [first, *_] = searched(Reranker())
    assert f"by the reranker, which gave it -{first}" in body["results"][0]["explanation"]
    plain, _ = searched()
    assert "reranker" not in plain["results"][0]["explanation"]


def test_quality_and_retraction_count_after_it_as_before():
    retracted = replace(PAPERS[0], pmid="1", title="Statins and mortality 1.", retraction=RetractionStatus.RETRACTED)
    body, _ = searched(Reranker(), [retracted, *PAPERS[:4]], quality_bias=False)
    by_pmid = {each["doc_id"]: each for each in body["results"]}
    assert by_pmid["pmid:1"]["score"] == 0.5  # the highest base, 1, times that of a retracted paper
    assert "set to 1.00 by the reranker" in by_pmid["pmid:1"]["explanation"]
    biased, _ = searched(Reranker(), PAPERS[:4])
    plain, _ = searched(Reranker(), PAPERS[:4], quality_bias=False)
    for each, without in zip(biased["results"], plain["results"], strict=True):
        assert each["score"] == pytest.approx(without["score"] * (1 + each["quality"] / 10), abs=1e-5)


@pytest.mark.parametrize(
    "failure",
    [
        UpstreamFailed("It is down."),
        EmbeddingFailed("The reranker failed."),
        DeadlineExceeded("out of time"),
        BudgetSpent("It is spent.", retry_after_s=60),
        Misconfigured("SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_where_it_fails_the_order_is_that_of_the_search_and_a_warning_says_why(failure):
    _, before = searched()
    body, after = searched(Reranker(failure))
    assert after == before
    [warning] = [each for each in body["warnings"] if each.startswith("The reranker did not answer")]
    assert str(failure) in warning


def test_where_the_call_s_own_time_is_over_so_is_the_call():
    class Slow(Reranker):
        def scores(self, _question, _passages, deadline):
            deadline.expire()
            raise DeadlineExceeded("out of time")

    corpus = Corpus(*PAPERS)
    corpus.reranker = Slow()
    body = call(rag_search, {"query": QUESTION}, corpus, deadline=Deadline(8)).body
    assert "answering in the order of the search" in body["error"]["message"]


def test_two_searches_give_one_answer():
    assert searched(Reranker()) == searched(Reranker())


def test_a_single_hit_is_not_read_again():
    searched(reranker := Reranker(), PAPERS[:1])
    assert reranker.read == []
