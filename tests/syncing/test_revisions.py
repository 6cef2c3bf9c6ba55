from dataclasses import replace
from datetime import date

import pytest

from bio_mcp.literature.records import Article, Head
from bio_mcp.literature.serial import content_hash
from bio_mcp.syncing.applying import Change, revise

ARTICLE = Article(pmid="1", title="Aspirin", date_revised=date(2021, 6, 1))
HEAD = Head(content_hash(ARTICLE), version=3, indexed_version=3, pmid_version=1, date_revised=date(2021, 6, 1))
OLDER = date(2021, 5, 31)
NEWER = date(2021, 6, 2)


@pytest.mark.parametrize(
    ("article", "head", "change", "version"),
    [
        (ARTICLE, None, Change.INSERTED, 1),
        (ARTICLE, HEAD, Change.SKIPPED, None),
        (replace(ARTICLE, title="Aspirin and stroke"), HEAD, Change.UPDATED, 4),
        (replace(ARTICLE, date_revised=NEWER), HEAD, Change.UPDATED, 4),
        (replace(ARTICLE, title="Aspirin and stroke", date_revised=NEWER), HEAD, Change.UPDATED, 4),
        (replace(ARTICLE, pmid_version=2), HEAD, Change.UPDATED, 4),
        (replace(ARTICLE, title="Aspirin and stroke", date_revised=None), HEAD, Change.UPDATED, 4),
        (replace(ARTICLE, title="old", date_revised=OLDER), HEAD, Change.SKIPPED, None),
        (replace(ARTICLE, title="old"), replace(HEAD, pmid_version=2), Change.SKIPPED, None),
        (replace(ARTICLE, date_revised=None), HEAD, Change.SKIPPED, None),
        (ARTICLE, replace(HEAD, indexed_version=0), Change.INSERTED, 3),
        (ARTICLE, replace(HEAD, indexed_version=2), Change.UPDATED, 3),
    ],
    ids=[
        *("unknown", "the same", "content", "LR", "content and LR", "PubMed version", "content without LR"),
        *("older LR", "older PubMed version", "no LR, same content", "never indexed", "its passages lost in a crash"),
    ],
)
def test_a_newer_record_replaces_an_older_one_and_what_was_not_indexed_is_indexed_at_its_version(
    article, head, change, version
):
    found, document = revise(article, head)
    assert (found, document and document.version) == (change, version)
    assert document is None or document.indexed_version == (head.indexed_version if head else 0)
