"""Another model's index beside the one that is searched: begun, filled, written to, switched to, and back."""

from collections import Counter
from itertools import islice

import pytest

from bio_mcp.answering.retrieving import Question, find
from bio_mcp.errors import Conflict, IndexUnavailable, ModelMismatch, NotFound
from bio_mcp.literature.records import Deletion
from bio_mcp.one_index import one_index
from bio_mcp.ports.indexes import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.importing import import_records
from bio_mcp.syncing.reindexing import begin, behind, fill, of_role, reindex, switch
from bio_mcp.syncing.settling import settle
from tests.corpus import Corpus, HashedWords, Over
from tests.doors.command_line import sample
from tests.reembedding import STEPS, Dying, Stop, missing, nearness, ready, revised, searched, while_others_work

PAPERS = 12
OLD, NEW = "hashed-words", "hashed-words-2"


def opened(home):
    made = Corpus(home)
    made.other_models = [HashedWords("-2")]
    return made


@pytest.fixture
def papers():
    return list(islice(sample(), PAPERS))


@pytest.fixture
def corpus(tmp_path, papers):
    with opened(tmp_path) as made:
        import_records(papers, made)
        yield made


def test_papers_are_searched_by_the_new_model_from_the_switch_on_and_by_the_old_one_after_the_way_back(corpus, papers):
    ready(corpus)
    assert searched(corpus) == corpus.embeddings.fingerprint == OLD
    for role, model in ((Role.NEXT, NEW), (Role.PREVIOUS, OLD), (Role.NEXT, NEW)):
        switch(role, corpus)
        assert searched(corpus) == corpus.embeddings.fingerprint == model
        assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert corpus.indexes.remove()
    assert [each.fingerprint for each in corpus.indexes.all()] == [NEW]
    assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_another_process_follows_the_switch_at_its_next_call(corpus, papers, tmp_path):
    with opened(tmp_path) as other:
        found = [each.candidate.pmid for each in find(Question(papers[0].title), other).ranked]
        ready(corpus)
        switch(Role.NEXT, corpus)
        assert other.embeddings.fingerprint == NEW
        again = [each.candidate.pmid for each in find(Question(papers[0].title), other).ranked]
        assert set(again) == set(found)
        assert nearness(other, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_a_call_stays_with_the_index_that_it_began_with(corpus):
    ready(corpus)
    with one_index():
        before = corpus.embeddings, corpus.passages.model()
        switch(Role.NEXT, corpus)
        assert (corpus.embeddings, corpus.passages.model()) == before
    assert corpus.passages.model()[0] == corpus.embeddings.fingerprint == NEW


def test_both_indexes_are_written_to_while_there_are_two(corpus, papers):
    index = ready(corpus)
    settle([revised(papers[0], 1), Deletion(papers[1].pmid)], corpus)
    assert missing(corpus, index) == set() == set(behind(index, corpus))
    switch(Role.NEXT, corpus)
    settle([revised(papers[2], 1), Deletion(papers[3].pmid)], corpus)
    previous = of_role(Role.PREVIOUS, corpus)
    assert missing(corpus, previous) == set() == set(behind(previous, corpus))


class Between:
    """Passages that do something after the first write."""

    def __init__(self, passages, then):
        self._passages, self._then = passages, [then]

    def __getattr__(self, name):
        return getattr(self._passages, name)

    def upsert_chunks(self, entries, *, refresh):
        self._passages.upsert_chunks(entries, refresh=refresh)
        while self._then:
            self._then.pop()()


def test_a_writer_that_began_before_the_next_index_writes_to_it_as_well(corpus, papers):
    late = Over(corpus, passages=Between(corpus.passages, lambda: ready(corpus)))
    settle([revised(papers[0], 1)], late)
    assert missing(corpus, of_role(Role.NEXT, corpus)) == set()


def test_a_writer_that_meets_a_switch_leaves_the_paper_in_both(corpus, papers):
    ready(corpus)
    late = Over(corpus, passages=Between(corpus.passages, lambda: corpus.indexes.switch(Role.NEXT)))
    settle([revised(papers[0], 1)], late)
    for each in corpus.indexes.all():
        assert missing(corpus, each) == set()


def test_a_paper_that_is_deleted_while_it_is_filled_in_does_not_come_back(corpus, papers):
    index, documents = begin(corpus.other_models[0], corpus), corpus.documents

    class Deleting:
        def __getattr__(self, name):
            return getattr(documents, name)

        def get_many(self, pmids):
            found = documents.get_many(pmids)
            settle([Deletion(papers[0].pmid)], corpus)
            return found

    fill(index, Over(corpus, documents=Deleting()))
    assert missing(corpus, index) == set()


def test_what_only_the_other_index_has_is_deleted_there_unless_it_is_stored(corpus, papers):
    index = ready(corpus)
    first, second = papers[0].pmid, papers[1].pmid
    searched_passages = of_role(Role.SEARCHED, corpus).passages
    searched_passages.delete([first, second])
    corpus.documents.delete([first])
    assert set(behind(index, corpus)) == {first}
    fill(index, corpus)
    assert dict(index.versions()).keys() == {each.pmid for each in papers} - {first}


def test_a_process_without_the_model_fails_and_marks_nothing_as_indexed(corpus, papers):
    ready(corpus)
    corpus.other_models = []
    with pytest.raises(ModelMismatch, match="is not installed here"):
        settle([revised(papers[0], 1)], corpus)
    head = corpus.documents.heads([papers[0].pmid])[papers[0].pmid]
    assert head.indexed_version < head.version
    with pytest.raises(ModelMismatch):
        switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    settle([revised(papers[0], 1)], corpus)
    assert missing(corpus, of_role(Role.SEARCHED, corpus)) == set()


def test_after_the_switch_a_process_without_the_new_model_does_not_search_at_all(corpus, papers, tmp_path):
    ready(corpus)
    switch(Role.NEXT, corpus)
    with Corpus(tmp_path) as without, pytest.raises(ModelMismatch):
        find(Question(papers[0].title), without)


def test_at_most_one_index_is_beside_the_one_that_is_searched(corpus):
    with pytest.raises(Conflict, match="already"):
        begin(corpus.model, corpus)
    ready(corpus)
    with pytest.raises(Conflict, match="remove it"):
        begin(HashedWords("-3"), corpus)
    switch(Role.NEXT, corpus)
    with pytest.raises(Conflict, match="previous"):
        begin(HashedWords("-3"), corpus)
    with pytest.raises(NotFound):
        switch(Role.NEXT, corpus)


def test_nothing_can_be_begun_before_there_is_an_index(tmp_path):
    with opened(tmp_path) as empty:
        assert empty.indexes.all() == []
        with pytest.raises(IndexUnavailable, match="import or sync first"):
            begin(empty.other_models[0], empty)


def test_a_reader_of_a_removed_index_hears_so_and_is_not_given_an_empty_result(corpus, papers):
    ready(corpus)
    old = of_role(Role.SEARCHED, corpus).passages
    query = PassageQuery((), corpus.model.embed([papers[0].title])[0])
    switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    with pytest.raises(IndexUnavailable, match="removed; ask again"):
        old.hybrid_search(query)


def test_the_files_of_removed_indexes_are_deleted(corpus):
    for _ in range(2):
        ready(corpus)
        switch(Role.NEXT, corpus)
        switch(Role.PREVIOUS, corpus)
        corpus.indexes.remove()
    assert list((corpus.settings.home / "indexes").iterdir()) == []


def test_a_second_model_after_the_first_is_removed_starts_from_the_searched_one(corpus, papers):
    ready(corpus)
    switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    corpus.other_models.append(HashedWords("-3"))
    fill(begin(corpus.other_models[1], corpus), corpus)
    switch(Role.NEXT, corpus)
    assert corpus.embeddings.fingerprint == "hashed-words-3"
    corpus.indexes.remove()
    assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_stopped_before_any_call_of_any_step_and_repeated_nothing_is_lost(tmp_path, papers):
    stops = Counter()
    for at in (0, 1, 2, 3, 5, 8):
        home = tmp_path / str(at)
        home.mkdir()
        with opened(home) as corpus:
            import_records(papers[:2], corpus)
            for step in STEPS:
                left = [at]
                dying = Over(corpus, indexes=Dying(corpus.indexes, left), documents=Dying(corpus.documents, left))
                try:
                    step(dying)
                except Stop:
                    stops[step] += 1
                    assert find(Question(papers[0].title), corpus).ranked
                    step(corpus)
            assert searched(corpus) == NEW
            assert {str(missing(corpus, each)) for each in corpus.indexes.all()} == {"set()"}
            corpus.indexes.remove()
            assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert all(stops[step] > 1 for step in STEPS)


def test_while_writers_and_readers_work_nothing_is_lost_fails_or_is_compared_by_two_models(corpus, papers, tmp_path):
    written, sims = while_others_work(corpus, papers, lambda: opened(tmp_path))
    assert written >= len(STEPS)
    assert min(sims) == pytest.approx(1, abs=1e-3)
    for each in corpus.indexes.all():
        assert missing(corpus, each) == set()


def test_the_configured_model_replaces_another_while_searches_go_on(corpus, papers):
    corpus.model, corpus.other_models = corpus.other_models[0], [corpus.model]
    assert corpus.embeddings.fingerprint == OLD
    during = []
    reindex(corpus, lambda *_: during.append(nearness(corpus, papers[0].pmid)))
    assert min(during) == pytest.approx(1, abs=1e-3)
    assert [each.fingerprint for each in corpus.indexes.all()] == [NEW]
