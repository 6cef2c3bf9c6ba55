"""An import over a node whose searches see nothing by themselves, killed before and after it refreshes the index."""

import signal

import httpx
import pytest

from bio_mcp.syncing.applying import Change, apply_records
from tests.all.killed_import import PAPERS, over
from tests.support.corpus import Corpus
from tests.support.killing import killing


@pytest.fixture(scope="module")
def killed():
    with killing("tests.all.killed_import") as run:
        yield run


def indexed(corpus):
    heads = corpus.documents.heads([each.pmid for each in PAPERS])
    return sum(head.indexed_version == head.version for head in heads.values())


@pytest.mark.parametrize(
    ("step", "when", "seen"),
    [
        ("passages.upsert_chunks", "after", 0),
        ("passages.refresh", "before", 0),
        ("passages.refresh", "after", 70),
        ("documents.mark_indexed", "before", 70),
    ],
)
def test_a_paper_is_marked_and_reported_only_when_searches_see_it(
    tmp_path_factory, opensearch, killed, step, when, seen
):
    home = tmp_path_factory.mktemp("refresh")
    with over(Corpus, home, opensearch.url) as corpus:
        corpus.passages.ensure_schema(corpus.model.fingerprint, corpus.model.dim)
        settings = f"{opensearch.url}/{home.name}/_settings"
        httpx.put(settings, json={"index": {"refresh_interval": "-1"}}).raise_for_status()
        assert killed(str(home), opensearch.url, step, when) == -signal.SIGKILL
        assert (corpus.passages.count()[0], indexed(corpus)) == (seen, 0)
        assert bool(corpus.heard.all) == (step == "documents.mark_indexed")
        apply_records(PAPERS, corpus)
        assert corpus.passages.count()[0] == indexed(corpus) == 70
        assert {pmid for _, pmid, _ in corpus.heard.all} == {each.pmid for each in PAPERS}
        assert set(apply_records(PAPERS, corpus).changes.values()) == {Change.SKIPPED}
