from dataclasses import replace
from datetime import date

import pytest

from bio_mcp.literature.records import Article, Head
from bio_mcp.literature.serial import content_hash
from bio_mcp.syncing.applying import Change, revise

ARTICLE = Article(pmid="1", title="Aspirin", date_revised=date(2021, 6, 1))
HEAD = Head(content_hash(ARTICLE), version=3, indexed_version=3, pmid_version=1, date_revised=date(2021, 6, 1))


def test_an_unknown_record_is_inserted_as_version_one():
    found = revise(ARTICLE, None)
    assert (found.change, found.document.version, found.document.indexed_version) == (Change.INSERTED, 1, 0)


def test_the_same_record_is_skipped():
    assert revise(ARTICLE, HEAD).change is Change.SKIPPED
    assert revise(ARTICLE, HEAD).document is None


@pytest.mark.parametrize(
    "article",
    [
        replace(ARTICLE, title="Aspirin and stroke"),
        replace(ARTICLE, date_revised=date(2021, 6, 2)),
        replace(ARTICLE, title="Aspirin and stroke", date_revised=date(2021, 6, 2)),
        replace(ARTICLE, pmid_version=2),
        replace(ARTICLE, title="Aspirin and stroke", date_revised=None),
    ],
    ids=["content", "LR", "both", "PubMed version", "content without LR"],
)
def test_a_revision_raises_the_version_once(article):
    found = revise(article, HEAD)
    assert (found.change, found.document.version) == (Change.UPDATED, 4)


@pytest.mark.parametrize(
    ("article", "head"),
    [
        (replace(ARTICLE, title="old", date_revised=date(2021, 5, 31)), HEAD),
        (replace(ARTICLE, title="old"), replace(HEAD, pmid_version=2)),
        (replace(ARTICLE, date_revised=None), HEAD),
    ],
    ids=["older LR", "older PubMed version", "no LR, same content"],
)
def test_an_older_record_never_replaces_a_newer_one(article, head):
    assert revise(article, head).change is Change.SKIPPED


@pytest.mark.parametrize(("indexed", "change"), [(0, Change.INSERTED), (2, Change.UPDATED)])
def test_a_document_whose_passages_were_lost_in_a_crash_is_indexed_again_at_its_version(indexed, change):
    found = revise(ARTICLE, replace(HEAD, indexed_version=indexed))
    assert (found.change, found.document.version) == (change, 3)
