"""What is told of papers that come, change, are retracted and go; and that nothing is lost when telling fails."""

from dataclasses import replace

import pytest

from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.records import Deletion, RetractionStatus
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked, raising
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


@pytest.mark.parametrize(
    "told",
    [
        [(PAPER, ["new 1"]), (PAPER, []), (CHANGED, ["changed 2"]), (CHANGED, [])],
        [
            (PAPER, ["new 1"]),
            (RETRACTED, ["changed 2", "retracted 2"]),
            (replace(RETRACTED, title="RETRACTED: A trial."), ["changed 3"]),
        ],
        [(RETRACTED, ["new 1", "retracted 1"]), (CHANGED, ["changed 2"]), (RETRACTED, ["changed 3", "retracted 3"])],
        *(
            [(replace(PAPER, retraction=standing), ["new 1"])]
            for standing in (RetractionStatus.NOTICE, RetractionStatus.CONCERN, RetractionStatus.CORRECTED)
        ),
    ],
    ids=["once", "retracted once", "comes retracted and is so once more", "notice", "concern", "correction"],
)
def test_a_paper_is_announced_when_it_comes_changes_or_is_retracted_and_not_when_it_stays(corpus, told):
    for record, news in told:
        assert announced(corpus, record) == [(kind, "7", version) for kind, version in map(str.split, news)]


def test_a_paper_that_goes_is_announced_if_it_was_there(corpus):
    announced(corpus, PAPER, CHANGED)
    assert announced(corpus, Deletion("7"), Deletion("8")) == [("deleted", "7", "1")]
    assert announced(corpus, Deletion("7")) == []
    assert corpus.documents.count() == corpus.passages.count()[0] == 0


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
        deaf = Hooked(corpus.announcements, "publish", before=raising(UpstreamFailed, "not now"))
        with pytest.raises(UpstreamFailed):
            apply_records([record], Over(corpus, announcements=deaf))
    with Corpus(tmp_path) as corpus:
        head = corpus.documents.heads(["7"])["7"]
        assert (head.indexed_version < head.version) is (record is not DELETION)
        assert announced(corpus, record) == news
        assert announced(corpus, record) == []
        assert corpus.documents.count() == (record is not DELETION)
