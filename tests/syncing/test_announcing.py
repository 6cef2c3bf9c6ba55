"""What is told of papers that come, change, are retracted and go; and that nothing is lost when telling fails."""

from dataclasses import replace

import pytest

from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.records import Deletion, RetractionStatus
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article

PAPER = article("7", title="A trial of something.")
CHANGED = replace(PAPER, title="A trial of something else.")
RETRACTED = replace(CHANGED, retraction=RetractionStatus.RETRACTED)
DELETION = Deletion("7")


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        yield made


def announced(corpus, *records):
    before = corpus.heard.all
    apply_records(records, corpus)
    return corpus.heard.since(before)


def test_a_paper_is_announced_when_it_comes_and_changes_and_not_when_it_stays(corpus):
    assert announced(corpus, PAPER) == [("new", "7", "1")]
    assert announced(corpus, PAPER) == []
    assert announced(corpus, CHANGED) == [("changed", "7", "2")]
    assert announced(corpus, CHANGED) == []


def test_a_paper_is_reported_to_be_retracted_once(corpus):
    announced(corpus, PAPER)
    assert announced(corpus, RETRACTED) == [("changed", "7", "2"), ("retracted", "7", "2")]
    assert announced(corpus, replace(RETRACTED, title="RETRACTED: A trial.")) == [("changed", "7", "3")]


def test_a_paper_that_comes_retracted_is_reported_to_be_both(corpus):
    assert announced(corpus, RETRACTED) == [("new", "7", "1"), ("retracted", "7", "1")]


def test_a_paper_that_is_retracted_once_more_is_reported_again(corpus):
    announced(corpus, RETRACTED)
    announced(corpus, CHANGED)
    assert ("retracted", "7", "3") in announced(corpus, RETRACTED)


@pytest.mark.parametrize("standing", [RetractionStatus.NOTICE, RetractionStatus.CONCERN, RetractionStatus.CORRECTED])
def test_no_other_standing_is_a_retraction(corpus, standing):
    assert announced(corpus, replace(PAPER, retraction=standing)) == [("new", "7", "1")]


def test_a_paper_that_goes_is_announced_if_it_was_there(corpus):
    announced(corpus, PAPER, CHANGED)
    assert announced(corpus, Deletion("7"), Deletion("8")) == [("deleted", "7", "1")]
    assert announced(corpus, Deletion("7")) == []
    assert corpus.documents.count() == corpus.passages.count()[0] == 0


class Deaf:
    """A bus that takes nothing."""

    def publish(self, _news):
        raise UpstreamFailed("not now")


class DeafCorpus(Corpus):
    @property
    def bus(self):
        return Deaf()


@pytest.mark.parametrize(
    ("before", "record", "news"),
    [
        ([], PAPER, [("new", "7", "1")]),
        ([], RETRACTED, [("new", "7", "1"), ("retracted", "7", "1")]),
        ([PAPER], RETRACTED, [("changed", "7", "2"), ("retracted", "7", "2")]),
        ([PAPER], DELETION, [("deleted", "7", "1")]),
    ],
)
def test_what_could_not_be_announced_is_announced_by_the_next_run(tmp_path, before, record, news):
    with Corpus(tmp_path) as corpus:
        announced(corpus, *before)
    with DeafCorpus(tmp_path) as corpus, pytest.raises(UpstreamFailed):
        apply_records([record], corpus)
    with Corpus(tmp_path) as corpus:
        head = corpus.documents.heads(["7"])["7"]
        assert (head.indexed_version < head.version) is (record is not DELETION)
        assert announced(corpus, record) == news
        assert announced(corpus, record) == []
        assert corpus.documents.count() == (record is not DELETION)
