"""A change of the embedding model on a real node of OpenSearch, while others write and search."""

from collections import Counter
from itertools import count, islice

import httpx
import pytest

from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.literature.records import Deletion
from bio_mcp.ports.indexes import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.importing import import_records
from bio_mcp.syncing.reindexing import begin, behind, fill, of_role, reindex, switch
from bio_mcp.syncing.settling import settle
from tests.corpus import Corpus, HashedWords, Over
from tests.doors.command_line import sample
from tests.reembedding import STEPS, Dying, Stop, missing, nearness, ready, revised, searched, while_others_work

NUMBERS = count(1)


@pytest.fixture
def papers():
    return list(islice(sample(), 12))


@pytest.fixture
def opened(opensearch, tmp_path):
    name = f"reembedding-{next(NUMBERS)}"

    def another():
        made = Corpus(tmp_path, opensearch_url=opensearch.url, opensearch_service="none", index_name=name)
        made.other_models = [HashedWords("-2")]
        return made

    return another


@pytest.fixture
def corpus(opened, papers):
    with opened() as made:
        import_records(papers, made)
        yield made


def indices(corpus):
    asked = f"{corpus.settings.opensearch_url}/_cat/indices/{corpus.settings.index_name}-*?format=json"
    return [each["index"] for each in httpx.get(asked).json()]


def test_papers_are_searched_by_the_new_model_from_the_switch_on_and_by_the_old_one_after_the_way_back(corpus, papers):
    ready(corpus)
    for role, model in ((Role.NEXT, "hashed-words-2"), (Role.PREVIOUS, "hashed-words"), (Role.NEXT, "hashed-words-2")):
        switch(role, corpus)
        assert searched(corpus) == corpus.embeddings.fingerprint == model
        assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
        settle([revised(papers[1], 1), Deletion(papers[2].pmid)], corpus)
        assert [missing(corpus, each) for each in corpus.indexes.all()] == [set(), set()]
    assert corpus.indexes.remove()
    assert len(indices(corpus)) == 1
    assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_a_process_that_has_not_noticed_the_switch_searches_and_writes_on(corpus, opened, papers):
    with opened() as late:
        before = nearness(late, papers[0].pmid)
        ready(corpus)
        switch(Role.NEXT, corpus)
        assert late.embeddings.fingerprint == "hashed-words"
        assert nearness(late, papers[0].pmid) == before
        settle([revised(papers[1], 1), Deletion(papers[2].pmid)], late)
    assert [missing(corpus, each) for each in corpus.indexes.all()] == [set(), set()]


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


def test_what_an_index_lacks_or_has_too_much_is_found(corpus, papers):
    index = begin(corpus.other_models[0], corpus)
    assert len(set(behind(index, corpus))) == len(papers)
    fill(index, corpus)
    index.passages.delete([papers[0].pmid])
    assert set(behind(index, corpus)) == {papers[0].pmid}


def test_two_that_switch_at_once_switch_once(corpus, opened):
    ready(corpus)
    with opened() as other:
        roles = other.indexes._roles()
        switch(Role.NEXT, corpus)
        other.indexes._roles = lambda: roles
        with pytest.raises(Conflict, match="just switched"):
            other.indexes.switch(Role.NEXT)
    assert searched(corpus) == "hashed-words-2"


def test_stopped_before_any_call_of_any_step_and_repeated_nothing_is_lost(corpus, papers):
    stops = Counter()
    for at in range(6):
        for step in STEPS:
            left = [at]
            dying = Over(corpus, indexes=Dying(corpus.indexes, left), documents=Dying(corpus.documents, left))
            try:
                step(dying)
            except Stop:
                stops[step] += 1
                step(corpus)
        assert [missing(corpus, each) for each in corpus.indexes.all()] == [set(), set()]
        switch(Role.PREVIOUS, corpus)
        corpus.indexes.remove()
        assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert all(stops[step] > 1 for step in STEPS)


def test_while_writers_and_readers_work_nothing_is_lost_fails_or_is_compared_by_two_models(corpus, papers, opened):
    written, sims = while_others_work(corpus, papers, opened)
    assert written >= len(STEPS)
    assert min(sims) == pytest.approx(1, abs=1e-3)
    assert [missing(corpus, each) for each in corpus.indexes.all()] == [set(), set()]


def test_the_configured_model_replaces_another(corpus, papers):
    corpus.model, corpus.other_models = corpus.other_models[0], [corpus.model]
    assert reindex(corpus)
    assert (len(indices(corpus)), searched(corpus)) == (1, "hashed-words-2")
    assert of_role(Role.SEARCHED, corpus).passages.count()[0] == len(papers)
