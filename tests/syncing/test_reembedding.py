"""An index beside the one that is searched: begun, filled, written to, switched to, and back.

`tests/all/test_opensearch_reembedding.py` runs this over a real node of OpenSearch.
"""

from collections import Counter
from itertools import islice

import pytest

from bio_mcp.answering.search import Question, search_papers
from bio_mcp.errors import Conflict, IndexUnavailable, ModelMismatch, NotFound
from bio_mcp.literature.records import Deletion
from bio_mcp.ports.models import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.scope import one_index
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.indexing import write_passages
from bio_mcp.syncing.reindexing import begin, behind, fill, of_role, reindex, switch
from tests.doors.command_line import sample
from tests.support.corpus import Corpus, HashedWords, Over
from tests.support.hooked import Hooked, at, beyond, raising
from tests.support.reembedding import (
    STEPS,
    Stop,
    begun,
    missing,
    nearness,
    ready,
    revised,
    searched,
    while_others_work,
)

OLD, NEW = "hashed-words", "hashed-words-2"
ANOTHER, SAME = "another model", "same model"
of_models = pytest.mark.parametrize("kind", [ANOTHER])


@pytest.fixture
def papers():
    return list(islice(sample(), 12))


@pytest.fixture(params=[ANOTHER, SAME])
def kind(request):
    return request.param


@pytest.fixture
def opened(tmp_path, kind):
    """Opens the corpus, as another process does."""

    def another():
        made = Corpus(tmp_path)
        made.other_models = [HashedWords("-2")] if kind == ANOTHER else []
        return made

    return another


@pytest.fixture
def corpus(opened, papers):
    with opened() as made:
        apply_records(papers, made)
        yield made


def lacking(corpus):
    """What each index has not, or has too much."""
    return [missing(corpus, each) for each in corpus.indexes.all()]


def test_papers_are_searched_in_the_new_index_from_the_switch_on_and_in_the_old_one_after_the_way_back(corpus, papers):
    old, new = of_role(Role.SEARCHED, corpus), ready(corpus)
    assert old.name != new.name
    for role, index in ((Role.NEXT, new), (Role.PREVIOUS, old), (Role.NEXT, new)):
        switch(role, corpus)
        assert searched(corpus) == index.name
        assert corpus.embeddings.fingerprint == index.fingerprint
        assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
        apply_records([revised(papers[1], 1), Deletion(papers[2].pmid)], corpus)
        assert lacking(corpus) == [set(), set()]
    assert corpus.indexes.remove()
    assert [each.name for each in corpus.indexes.all()] == [new.name]
    assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_a_call_stays_with_the_index_that_it_began_with(corpus):
    new = ready(corpus)
    with one_index():
        before = corpus.embeddings, corpus.passages.name()
        switch(Role.NEXT, corpus)
        assert (corpus.embeddings, corpus.passages.name()) == before
    assert corpus.passages.name() == new.name
    assert corpus.embeddings.fingerprint == new.fingerprint


def test_both_indexes_are_written_to_while_there_are_two(corpus, papers):
    index = ready(corpus)
    apply_records([revised(papers[0], 1), Deletion(papers[1].pmid)], corpus)
    assert missing(corpus, index) == set() == set(behind(index, corpus))
    switch(Role.NEXT, corpus)
    apply_records([revised(papers[2], 1), Deletion(papers[3].pmid)], corpus)
    previous = of_role(Role.PREVIOUS, corpus)
    assert missing(corpus, previous) == set() == set(behind(previous, corpus))


class Between:
    """The passages that are searched by then, which do something after the first write."""

    def __init__(self, corpus, then):
        self._corpus, self._then = corpus, [then]

    def __getattr__(self, name):
        return getattr(self._corpus.passages, name)

    def upsert_chunks(self, entries, *, refresh):
        self._corpus.passages.upsert_chunks(entries, refresh=refresh)
        while self._then:
            self._then.pop()()


def test_a_writer_that_began_before_the_next_index_writes_to_it_as_well(corpus, papers):
    late = Over(corpus, passages=Between(corpus, lambda: ready(corpus)))
    apply_records([revised(papers[0], 1)], late)
    assert missing(corpus, of_role(Role.NEXT, corpus)) == set()


def test_a_writer_that_meets_a_switch_leaves_the_paper_in_both(corpus, papers):
    ready(corpus)
    for number, role in enumerate((Role.NEXT, Role.PREVIOUS, Role.NEXT)):
        late = Over(corpus, passages=Between(corpus, lambda to=role: corpus.indexes.switch(to)))
        apply_records([revised(papers[number], 1)], late)
        assert lacking(corpus) == [set(), set()]


def once(port, name, **hooks):
    """A port of which something is done before or after the first call of one of its functions."""
    return Hooked(port, name, **{when: at({1}, do) for when, do in hooks.items()})


def test_a_paper_that_is_deleted_while_it_is_filled_in_does_not_come_back(corpus, papers):
    index = begun(corpus)
    documents = once(corpus.documents, "get_many", after=lambda: apply_records([Deletion(papers[0].pmid)], corpus))
    fill(index, Over(corpus, documents=documents))
    assert missing(corpus, index) == set()


def test_a_paper_that_is_deleted_and_stored_again_while_it_is_filled_in_is_there_as_it_is_now(corpus, papers):
    """Its versions begin anew; the higher one that was deleted does not count as newer."""
    apply_records([revised(papers[0], 1)], corpus)
    index = begun(corpus)

    def again():
        apply_records([Deletion(papers[0].pmid)], corpus)
        apply_records([revised(papers[0], 2)], corpus)

    fill(index, Over(corpus, documents=once(corpus.documents, "get_many", after=again)))
    assert missing(corpus, index) == set()
    passages = (each.passages for each in corpus.indexes.all())
    here, there = (set(each.chunk_texts([papers[0].pmid])[papers[0].pmid].values()) for each in passages)
    assert here == there


def test_a_paper_that_is_stored_again_before_it_is_deleted_from_the_index_stays_there(corpus, papers):
    deleting = once(corpus.documents, "get_many", after=lambda: apply_records([Deletion(papers[0].pmid)], corpus))
    storing = once(corpus.passages, "delete", before=lambda: apply_records([papers[0]], corpus))
    reindex(Over(corpus, documents=deleting, passages=storing))
    assert lacking(corpus) == [set()]


def test_a_paper_whose_vectors_are_deleted_while_it_is_written_is_embedded(corpus, papers):
    index, pmid = ready(corpus), papers[0].pmid
    passages = once(index.passages, "upsert_chunks", before=lambda: index.passages.delete([pmid]))
    write_passages([corpus.documents.get(pmid)], corpus.models.of(index.fingerprint), passages)
    assert missing(corpus, index) == set()


@pytest.mark.parametrize("kind", [SAME])
def test_vectors_of_the_same_model_are_copied_and_what_is_written_meanwhile_is_embedded_once(corpus, papers):
    before = corpus.model.embedded
    old, new = of_role(Role.SEARCHED, corpus).passages, ready(corpus).passages
    assert corpus.model.embedded == before
    pmids = [each.pmid for each in papers]
    copied, vectors = new.chunk_vectors(pmids), old.chunk_vectors(pmids)
    assert {pmid: each.keys() for pmid, each in copied.items()} == {pmid: each.keys() for pmid, each in vectors.items()}
    assert all((copied[pmid][key] == vectors[pmid][key]).all() for pmid in pmids for key in vectors[pmid])
    apply_records([revised(papers[0], 1)], corpus)
    assert corpus.model.embedded == before + len(old.chunk_texts([papers[0].pmid])[papers[0].pmid])
    assert lacking(corpus) == [set(), set()]


@of_models
def test_a_process_without_the_model_fails_and_marks_nothing_as_indexed(corpus, papers):
    ready(corpus)
    corpus.other_models = []
    with pytest.raises(ModelMismatch, match="is not installed here"):
        apply_records([revised(papers[0], 1)], corpus)
    head = corpus.documents.heads([papers[0].pmid])[papers[0].pmid]
    assert head.indexed_version < head.version
    with pytest.raises(ModelMismatch):
        switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    apply_records([revised(papers[0], 1)], corpus)
    assert lacking(corpus) == [set()]


@of_models
def test_after_the_switch_a_process_without_the_new_model_does_not_search_at_all(corpus, papers, opened):
    ready(corpus)
    switch(Role.NEXT, corpus)
    with opened() as without:
        without.other_models = []
        with pytest.raises(ModelMismatch):
            search_papers(Question(papers[0].title), without)


def test_at_most_one_index_is_beside_the_one_that_is_searched(corpus):
    ready(corpus)
    with pytest.raises(Conflict, match="remove it"):
        begin(HashedWords("-3"), corpus)
    switch(Role.NEXT, corpus)
    with pytest.raises(Conflict, match="previous"):
        begin(HashedWords("-3"), corpus)
    with pytest.raises(NotFound):
        switch(Role.NEXT, corpus)


def test_nothing_can_be_begun_before_there_is_an_index(opened):
    with opened() as empty:
        assert empty.indexes.all() == []
        with pytest.raises(IndexUnavailable, match="import or sync first"):
            begun(empty)


def test_a_reader_of_a_removed_index_hears_so_and_is_not_given_an_empty_result(corpus, papers):
    ready(corpus)
    old = of_role(Role.SEARCHED, corpus).passages
    query = PassageQuery((), corpus.model.embed([papers[0].title])[0])
    switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    with pytest.raises(IndexUnavailable):
        old.hybrid_search(query)


def test_a_writer_that_meets_a_removal_goes_on_and_who_fills_hears_of_it(corpus, papers):
    index = begun(corpus)
    documents = once(corpus.documents, "get_many", after=corpus.indexes.remove)
    with pytest.raises(Conflict, match="removed while it was filled"):
        fill(index, Over(corpus, documents=documents))
    ready(corpus)
    removed = once(corpus.models, "of", after=corpus.indexes.remove)
    apply_records([revised(papers[0], 1)], Over(corpus, models=removed))
    assert lacking(corpus) == [set()]


def test_a_failure_of_an_index_that_is_still_there_is_not_passed_over(corpus, papers):
    ready(corpus)
    models = Hooked(corpus.models, "of", after=raising(IndexUnavailable, "away"))
    with pytest.raises(IndexUnavailable, match="away"):
        apply_records([revised(papers[0], 1)], Over(corpus, models=models))


def test_stopped_before_any_call_of_any_step_and_repeated_nothing_is_lost(corpus, papers):
    stops = Counter()
    for calls in range(6):
        for step in STEPS:
            stop = at(beyond(calls), raising(Stop))
            dying = Over(
                corpus, indexes=Hooked(corpus.indexes, before=stop), documents=Hooked(corpus.documents, before=stop)
            )
            try:
                step(dying)
            except Stop:
                stops[step] += 1
                assert search_papers(Question(papers[0].title), corpus).ranked
                step(corpus)
        assert lacking(corpus) == [set(), set()]
        switch(Role.PREVIOUS, corpus)
        corpus.indexes.remove()
        assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert all(stops[step] > 1 for step in STEPS)


def test_while_writers_and_readers_work_nothing_is_lost_fails_or_is_compared_by_two_models(corpus, papers, opened):
    written, sims = while_others_work(corpus, papers, opened)
    assert written >= len(STEPS)
    assert min(sims) == pytest.approx(1, abs=1e-3)
    assert lacking(corpus) == [set(), set()]


@of_models
def test_the_configured_model_replaces_another_while_searches_go_on(corpus, papers):
    corpus.model, corpus.other_models = corpus.other_models[0], [corpus.model]
    assert corpus.embeddings.fingerprint == OLD
    during = []
    assert reindex(corpus, lambda *_: during.append(nearness(corpus, papers[0].pmid)))
    assert min(during) == pytest.approx(1, abs=1e-3)
    assert [each.fingerprint for each in corpus.indexes.all()] == [NEW]
    assert lacking(corpus) == [set()]
