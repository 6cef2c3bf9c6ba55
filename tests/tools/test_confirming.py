"""pubmed.sync_delta asks before a typing error makes or turns a followed query."""

from datetime import date

import pytest

from bio_mcp.call import call
from bio_mcp.syncing.queries import RETRACTIONS_KEY, RETRACTIONS_TERM
from bio_mcp.tools.news import whats_new
from bio_mcp.tools.sync_delta import sync_delta
from tests.support.corpus import Corpus


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as made:
        yield made


def sync(corpus, key, term, *, unattended=False, **more):
    return call(sync_delta, {"query_key": key, "term": term, **more}, corpus, unattended=unattended).body


def followed(corpus):
    return [(each["query_key"], each["term"]) for each in call(whats_new, {}, corpus).body["queries"]]


@pytest.mark.parametrize("unattended", [False, True], ids=["called", "by a schedule"])
@pytest.mark.parametrize(
    ("term", "why"),
    [
        ("zzyzzyva", "PubMed does not know 'zzyzzyva'"),
        ("cancer OR zzyzzyva", "PubMed does not know 'zzyzzyva'"),
        ("cancer AND 33605197[pmid] AND 33605198[pmid]", "PubMed finds nothing by cancer AND"),
    ],
)
def test_a_word_that_pubmed_lacks_and_a_term_without_a_paper_are_asked_about(corpus, term, why, unattended):
    error = sync(corpus, "topic", term, unattended=unattended)["error"]
    assert error["message"].startswith(why)
    assert error["message"].endswith("Correct the term, or give confirm: true to follow it")
    assert (error["code"], error["details"]["confirm"]) == ("VALIDATION", {"confirm": True})
    assert (followed(corpus), corpus.jobs.newest("sync", 9)) == ([], [])
    assert sync(corpus, "topic", term, confirm=True)["state"] == "complete"
    assert followed(corpus) == [("topic", term)]
    assert sync(corpus, "topic", term)["state"] == "complete"


def test_another_term_for_a_followed_key_is_asked_about_and_one_that_it_had_is_not(corpus):
    sync(corpus, "topic", "kidney")
    error = sync(corpus, "topic", "liver")["error"]
    assert error["message"].startswith("'topic' follows another term: kidney. Choose another key, or give confirm")
    assert followed(corpus) == [("topic", "kidney")]
    assert sync(corpus, "topic", "liver", confirm=True)["state"] == "complete"
    assert sync(corpus, "topic", "kidney")["state"] == "complete"


def test_a_watermark_alone_is_no_query_whose_term_could_be_turned(corpus):
    corpus.checkpoints.set("topic", "2025-01-01T00:00:00Z", {})
    assert sync(corpus, "topic", "kidney")["state"] == "complete"


def test_what_the_installation_looks_for_is_not_asked_about(corpus):
    corpus.checkpoints.advance(RETRACTIONS_KEY, "as a version before had it")
    assert sync(corpus, RETRACTIONS_KEY, RETRACTIONS_TERM, known_only=True)["state"] == "complete"
    [listed] = call(whats_new, {}, corpus).body["queries"][-1:]
    assert listed["about"] == "looks for retractions of any paper of the corpus and of projects"
