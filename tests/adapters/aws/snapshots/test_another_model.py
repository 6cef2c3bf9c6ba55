"""An index in S3 whose model is changed in place, as processes see it that search and write meanwhile."""

from itertools import islice

import pytest

from bio_mcp.adapters.embedded.only_index import OnlyIndex
from bio_mcp.answering.retrieving import Question, find
from bio_mcp.errors import IndexUnavailable, ModelMismatch
from bio_mcp.one_index import one_index
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.importing import import_records
from bio_mcp.syncing.indexing import searched_index, write_passages
from bio_mcp.syncing.reindexing import reindex
from bio_mcp.syncing.settling import settle
from tests.adapters.embedded.engine import passages_in
from tests.corpus import Corpus, HashedWords
from tests.doors.command_line import sample
from tests.published import MemoryObjects, database
from tests.reembedding import nearness, revised

OLD, NEW = HashedWords(), HashedWords("-2")


class Published(Corpus):
    """A corpus whose index is in S3; it looks for changes before each transaction."""

    def __init__(self, home, index, model, *others):
        super().__init__(home)
        self.model, self.other_models = model, list(others)
        self.index = OnlyIndex(passages_in(index))

    @property
    def indexes(self):
        return self.index


@pytest.fixture
def process(tmp_path):
    """Another process over the same papers and the same index in S3, with these models."""
    objects, made = MemoryObjects(), []

    def another(*models):
        index = database(tmp_path / f"copy{len(made)}", objects)
        made.append(Published(tmp_path, index, *models))
        made[-1].close_index = index.close
        return made[-1]

    yield another
    for each in made:
        each.close_index()
        each.close()


@pytest.fixture
def papers():
    return list(islice(sample(), 8))


@pytest.fixture
def operator(process, papers):
    """Who changes the model: it has imported the papers with the old one."""
    made = process(OLD, NEW)
    import_records(papers, made)
    made.model, made.other_models = NEW, [OLD]
    return made


def test_a_process_with_both_models_searches_by_that_of_the_copy(operator, process, papers):
    searching = process(OLD, NEW)
    assert (searching.embeddings, nearness(searching, papers[0].pmid)) == (OLD, pytest.approx(1, abs=1e-3))
    reindex(operator)
    assert (searching.embeddings, nearness(searching, papers[0].pmid)) == (NEW, pytest.approx(1, abs=1e-3))


@pytest.mark.parametrize(("model", "changed"), [(NEW, False), (OLD, True)])
def test_a_process_without_the_model_of_the_copy_says_so_and_answers_nothing(operator, process, papers, model, changed):
    searching = process(model)
    if changed:
        reindex(operator)
    with pytest.raises(ModelMismatch, match="The index holds vectors of the model"):
        find(Question(papers[0].title), searching)
    with pytest.raises(ModelMismatch):
        settle([revised(papers[0], 1)], searching)


READS = {
    "a search": lambda passages, vector, _: passages.hybrid_search(PassageQuery((), vector)),
    "cosines": lambda passages, vector, pmid: passages.chunks([pmid], vector),
    "a paper's vector": lambda passages, _, pmid: passages.document_vectors([pmid]),
    "stored vectors": lambda passages, _, pmid: passages.chunk_vectors([pmid]),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_call_that_began_with_the_old_model_is_refused_until_it_is_repeated(operator, process, papers, read):
    searching, vector = process(OLD, NEW), OLD.embed([papers[0].title])[0]
    with one_index():
        assert read(searching.passages, vector, papers[0].pmid)
        reindex(operator)
        with pytest.raises(IndexUnavailable, match="ask again") as raised:
            read(searching.passages, vector, papers[0].pmid)
        assert raised.value.retryable
    vector = NEW.embed([papers[0].title])[0]
    assert read(searching.passages, vector, papers[0].pmid)


def test_a_writer_that_began_with_the_old_model_writes_no_vector_of_it_into_the_new_index(operator, process, papers):
    writing = process(OLD, NEW)
    [document] = operator.documents.get_many([papers[0].pmid]).values()
    with searched_index(writing) as (embeddings, passages):
        assert embeddings is OLD
        reindex(operator)
        with pytest.raises(IndexUnavailable, match="ask again"):
            write_passages([document], embeddings, passages)
    settle([revised(papers[0], 1)], writing)
    assert nearness(operator, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_while_the_index_is_written_anew_fewer_papers_are_found_and_none_by_another_model(operator, process):
    more = list(islice(sample(), 100))
    operator.model = OLD
    import_records(more, operator)
    operator.model, searching, seen = NEW, process(OLD, NEW), []

    def look(*_):
        found = searching.passages.hybrid_search(PassageQuery((), searching.embeddings.embed(["heart"])[0]))
        seen.append((len(found), nearness(searching, found[0].pmid)))

    reindex(operator, look)
    counts, sims = zip(*seen, strict=True)
    assert counts[0] < counts[-1] == 100
    assert min(sims) == pytest.approx(1, abs=1e-3)


def test_an_index_of_which_nothing_is_written_yet_is_no_empty_corpus(operator, process, papers):
    operator.indexes.passages.renew(NEW.fingerprint, NEW.dim)
    with pytest.raises(IndexUnavailable, match="the index has none of them") as raised:
        find(Question(papers[0].title), process(NEW))
    assert raised.value.retryable


def test_an_index_that_is_empty_takes_the_configured_model(process, papers):
    first = process(OLD)
    import_records(papers, first)
    first.passages.delete([each.pmid for each in papers])
    second = process(NEW)
    assert reindex(second) is False
    assert nearness(second, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert second.indexes.all()[0].fingerprint == NEW.fingerprint
