"""Answers that cite a paper are flagged when it is retracted."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.records import CitedSpan, RetractionStatus
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked, raising
from tests.support.memory_corpus import article

PAPER, OTHER = article("7", title="A trial."), article("8", title="Another.")
RETRACTED = replace(PAPER, retraction=RetractionStatus.RETRACTED)


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        apply_records([PAPER, OTHER], made)
        for answer_id, pmids in {"a": ("7", "8"), "b": ("8",)}.items():
            spans = tuple(CitedSpan(pmid, 1, "title", 0, 8, "A trial.") for pmid in pmids)
            made.answers.put(StoredAnswer(answer_id, "Why?", "So.", spans, 0.9, datetime(2026, 5, 1, tzinfo=UTC)))
        yield made


def flags(corpus):
    return {each.answer_id: each.flagged for each in corpus.answers.flagged(10)}


def test_a_retraction_flags_the_answers_that_cite_the_paper_and_no_others(corpus):
    apply_records([RETRACTED], corpus)
    assert flags(corpus) == {"a": ("7",)}


@pytest.mark.parametrize(
    "revised", [replace(PAPER, title="A new title."), replace(PAPER, retraction=RetractionStatus.CONCERN)]
)
def test_no_other_change_flags_anything(corpus, revised):
    apply_records([revised], corpus)
    assert flags(corpus) == {}


def test_what_a_run_that_failed_did_not_flag_the_next_one_does(corpus):
    deaf = Hooked(corpus.announcements, "publish", before=raising(UpstreamFailed, "the bus is down"))
    with pytest.raises(UpstreamFailed):
        apply_records([RETRACTED], Over(corpus, announcements=deaf))
    assert flags(corpus) == {}
    apply_records([RETRACTED], corpus)
    assert flags(corpus) == {"a": ("7",)}
