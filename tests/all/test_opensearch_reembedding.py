"""A change of the index on a real node of OpenSearch, while others write and search."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import count, islice

import httpx
import pytest

from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.literature.records import Deletion
from bio_mcp.ports.models import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import begin, fill, switch
from tests.doors.command_line import sample
from tests.support.corpus import Corpus, HashedWords
from tests.support.reembedding import begun, missing, nearness, ready, revised, searched
from tests.syncing.test_reembedding import *  # noqa: F403  the very same tests
from tests.syncing.test_reembedding import ANOTHER, lacking

NUMBERS = count(1)
SHARDS, PAPER = "more shards", "a vector a paper"
SETTINGS = {
    SHARDS: {"opensearch_shards": 3, "opensearch_vectors": "byte"},
    PAPER: {"opensearch_vectors": "paper"},
}


@pytest.fixture(params=[ANOTHER, SHARDS, PAPER])
def kind(request):
    return request.param


@pytest.fixture
def opened(opensearch, tmp_path, kind):
    """Opens the corpus as another process, with the settings of the next index where none are given."""
    name = f"reembedding-{next(NUMBERS)}"

    def another(**settings):
        chosen = settings or SETTINGS.get(kind, {})
        made = Corpus(tmp_path, opensearch_url=opensearch.url, opensearch_service="none", index_name=name, **chosen)
        made.other_models = [HashedWords("-2")] if kind == ANOTHER else []
        return made

    return another


@pytest.fixture
def corpus(opened, papers):
    with opened(opensearch_shards=1) as made:
        apply_records(papers, made)
    with opened() as made:
        yield made


def indices(corpus):
    asked = f"{corpus.settings.opensearch_url}/_cat/indices/{corpus.settings.index_name}-*?format=json"
    return {each["index"]: int(each["pri"]) for each in httpx.get(asked).json()}


@pytest.mark.parametrize("kind", [SHARDS, PAPER])
def test_an_index_is_made_as_is_set_and_the_old_one_stays_as_it_was(corpus):
    wanted = {SHARDS: "3 shards, byte, mapping 4", PAPER: "1 shard, paper, mapping 4"}
    new = begin(corpus.model, corpus)
    [old, _] = corpus.indexes.all()
    assert (old.settings, new.settings) in {("1 shard, float, mapping 4", each) for each in wanted.values()}
    assert indices(corpus)[new.name] == corpus.settings.opensearch_shards
    assert begin(corpus.model, corpus).name == new.name
    fill(new, corpus)
    switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    assert indices(corpus) == {new.name: corpus.settings.opensearch_shards}
    with pytest.raises(Conflict, match="already"):
        begin(corpus.model, corpus)


@pytest.mark.parametrize("kind", [SHARDS])
def test_an_index_that_was_begun_with_other_settings_is_not_continued(corpus, opened):
    begun(corpus)
    with (
        opened(opensearch_shards=2) as other,
        pytest.raises(Conflict, match=r"\(3 shards, byte, mapping 4\).*2 shards"),
    ):
        begin(other.model, other)


@pytest.mark.parametrize("kind", [ANOTHER])
def test_an_index_that_nothing_uses_is_named_and_not_taken(corpus):
    alias = corpus.indexes._alias
    name = alias.layout.index_name(alias.corpus, "hashed-words-2", corpus.model.dim)
    alias._create(name, "hashed-words-2", corpus.model.dim, [])
    with pytest.raises(Conflict, match=f"DELETE /{name}"):
        begun(corpus)
    httpx.delete(f"{corpus.settings.opensearch_url}/{name}").raise_for_status()
    assert begun(corpus).name == name


def test_a_process_that_has_not_noticed_the_switch_searches_and_writes_on(corpus, opened, papers):
    with opened() as late:
        before, old = nearness(late, papers[0].pmid), late.embeddings.fingerprint
        ready(corpus)
        switch(Role.NEXT, corpus)
        assert late.embeddings.fingerprint == old
        assert nearness(late, papers[0].pmid) == before
        apply_records([revised(papers[1], 1), Deletion(papers[2].pmid)], late)
    assert lacking(corpus) == [set(), set()]


def test_a_process_that_searches_a_removed_index_hears_so_once(corpus, opened, papers):
    with opened() as late:
        vector = late.model.embed([papers[0].title])[0]
        late.passages.hybrid_search(PassageQuery((), vector))
        ready(corpus)
        switch(Role.NEXT, corpus)
        corpus.indexes.remove()
        with pytest.raises(IndexUnavailable):
            late.passages.hybrid_search(PassageQuery((), vector))
        assert nearness(late, papers[0].pmid) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("kind", [ANOTHER])
def test_doctor_says_how_each_index_was_made_and_when_it_is_of_an_older_mapping(corpus):
    assert corpus.indexes.inspect() == Finding(OK, "searched: 1 shard, float, mapping 4")
    layout = corpus.indexes._alias.layout
    corpus.indexes._alias.layout = replace(layout, contents=replace(layout.contents, version=5))
    index = ready(corpus)
    assert index.settings == "1 shard, float, mapping 5"
    finding = corpus.indexes.inspect()
    assert finding.state == WARN
    assert finding.found == "searched: 1 shard, float, mapping 4; next: 1 shard, float, mapping 5"
    assert "writes mapping 5: bio-mcp admin reindex start" in finding.remedy
    switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    assert corpus.indexes.inspect() == Finding(OK, "searched: 1 shard, float, mapping 5")


def test_two_that_begin_at_once_begin_one(corpus, opened):
    with opened() as other:
        there = other.indexes.all()
        mine = begun(corpus)
        looks = iter([there])
        every = other.indexes.all
        other.indexes.all = lambda: next(looks, None) or every()
        assert begun(other).name == mine.name
    assert len(indices(corpus)) == 2


def test_two_that_switch_at_once_switch_once(corpus, opened):
    new = ready(corpus)
    with opened() as other:
        roles = other.indexes._roles()
        switch(Role.NEXT, corpus)
        other.indexes._roles = lambda: roles
        with pytest.raises(Conflict, match="just switched"):
            other.indexes.switch(Role.NEXT)
    assert searched(corpus) == new.name


@pytest.mark.parametrize("kind", [ANOTHER])
def test_an_index_that_was_lost_is_made_again_beside_the_one_that_is_left(corpus, papers):
    ready(corpus)
    lost = searched(corpus)
    httpx.delete(f"{corpus.settings.opensearch_url}/{lost}").raise_for_status()
    with pytest.raises(IndexUnavailable, match="import or sync first"):
        begun(corpus)
    apply_records([revised(papers[0], 1)], corpus)
    assert [each.role for each in corpus.indexes.all()] == [Role.SEARCHED, Role.NEXT]
    assert missing(corpus, corpus.indexes.all()[1]) == set()


@pytest.mark.parametrize("kind", [SHARDS])
def test_a_process_that_is_killed_again_and_again_while_others_write_ends_with_all_of_it(corpus, tmp_path):
    papers = list(islice(sample(), 400))
    apply_records(papers, corpus)
    to = corpus.settings
    named = {"opensearch_url": to.opensearch_url, "opensearch_service": "none", "index_name": to.index_name}
    arguments = [str(tmp_path), json.dumps(named | SETTINGS[SHARDS])]
    old, copied, pmids = searched(corpus), [0], [each.pmid for each in papers]
    for killed in range(4):
        child = subprocess.Popen([sys.executable, "-m", "tests.all.killed_change", *arguments])
        while killed < 3 and child.poll() is None:
            there = [len(each.passages.chunk_texts(pmids)) for each in corpus.indexes.all()[1:]]
            if there and there[0] > copied[-1]:
                child.kill()
                copied += there
        assert child.wait(60) == (-9 if killed < 3 else 0)
        apply_records(
            [revised(papers[killed], 1), revised(papers[-1 - killed], 1), Deletion(papers[200 + killed].pmid)], corpus
        )
        if killed < 3:
            assert searched(corpus) == old
    assert searched(corpus) != old
    assert [each.role for each in corpus.indexes.all()] == [Role.SEARCHED, Role.PREVIOUS]
    assert lacking(corpus) == [set(), set()]
