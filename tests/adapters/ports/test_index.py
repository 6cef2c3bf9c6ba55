"""What an index of papers and one of a project's chunks have in common, over every engine: one suite for both."""

import math
from zlib import crc32

import numpy as np
import pytest

from bio_mcp.errors import Conflict, EmbeddingFailed, ModelMismatch
from bio_mcp.retrieval.passages import Entry, PassageQuery
from bio_mcp.retrieval.project_chunks import ChunkQuery
from tests.adapters.chunks import chunk
from tests.adapters.entries import DIM, unit
from tests.adapters.entries import chunk as window

NAME = "proj-lab-heart"


def terms_of(text):
    return tuple((word, 1.0) for word in text.split())


class Papers:
    """The index of the corpus; each paper has one passage."""

    port, best = "passages", ("100", "99", "10", "9")  # of equal ones, the best first

    def __init__(self, port):
        self.passages = port

    def create(self, model="model-a", dim=DIM):
        self.passages.ensure_schema(model, dim)

    def put(self, texts, vectors=None):
        """Store texts by id; each has the vector that is given, or one that depends on its text."""
        given = {each: unit(crc32(text.encode())) for each, text in texts.items()} if vectors is None else vectors
        self.passages.upsert_chunks(
            [
                Entry(each, 1, "", text.split(), (window("w0", text),), {"w0": given[each]} if each in given else {})
                for each, text in texts.items()
            ]
        )

    def delete(self, *ids):
        self.passages.delete(ids)

    def scored(self, text="", vector=None, depth=100, terms=None):
        """BM25 and cosine of each that is found."""
        query = PassageQuery(terms_of(text) if terms is None else terms, vector, depth=depth)
        return {each.pmid: (each.bm25, each.sim) for each in self.passages.hybrid_search(query)}

    def count(self):
        documents, chunks = self.passages.count()
        assert documents == chunks
        return documents


class Chunks:
    """The index of a project; each document has one chunk."""

    port, best = "collections", ("10", "100", "9", "99")

    def __init__(self, port):
        self.collections = port

    def create(self, model="model-a", dim=DIM):
        self.collections.create(NAME, model, dim)

    def put(self, texts, vectors=None):
        given = {each: unit(crc32(text.encode())) for each, text in texts.items()} if vectors is None else vectors
        for each, text in texts.items():
            self.collections.replace(
                NAME, each, [chunk(each, text, each)], {each: given[each]} if each in given else {}
            )

    def delete(self, *ids):
        for each in ids:
            self.collections.replace(NAME, each, [], {})

    def scored(self, text="", vector=None, depth=100, terms=None):
        query = ChunkQuery(terms_of(text) if terms is None else terms, vector, depth=depth)
        return {each.chunk.chunk_id: (each.bm25, each.sim) for each in self.collections.search(NAME, query)}

    def count(self):
        return self.collections.count(NAME)


KINDS = {"papers": Papers, "chunks": Chunks}


@pytest.fixture
def bare(ports, contents):
    return KINDS[contents](getattr(ports, KINDS[contents].port))


@pytest.fixture
def index(bare):
    bare.create()
    return bare


def test_an_index_that_is_empty_or_was_never_made_gives_an_empty_list(bare):
    for _ in range(2):
        assert bare.scored("aspirin", unit(1)) == {}
        assert bare.count() == 0
        bare.create()


def test_a_leg_that_did_not_return_a_text_gives_no_score_and_no_leg_finds_nothing(index):
    index.put({"1": "aspirin", "2": "heparin"})
    [(bm25, sim)] = index.scored("aspirin").values()
    assert (bm25, sim) == (pytest.approx(math.log(1 + 1.5 / 1.5) / 2.2, abs=1e-6), None)
    [(bm25, sim)] = index.scored(vector=unit(crc32(b"heparin")), depth=1).values()
    assert (bm25, sim) == (None, pytest.approx(1, abs=1e-6))
    assert index.scored() == index.scored("unknownword") == {}


def test_weights_count_and_repeated_terms_add_up(index):
    index.put({"1": "aspirin", "2": "heparin"})
    [(once, _)] = index.scored("aspirin").values()
    assert index.scored(terms=(("aspirin", 0.5),))["1"][0] == pytest.approx(once / 2)
    assert index.scored("aspirin aspirin")["1"][0] == pytest.approx(2 * once)


def test_equal_scores_have_an_order(index):
    index.put(dict.fromkeys(index.best, "aspirin"), dict.fromkeys(index.best, unit(1)))
    assert set(index.scored("aspirin", depth=2)) == set(index.best[:2])
    assert set(index.scored(vector=unit(1), depth=3)) == set(index.best[:3])


def test_what_is_replaced_is_found_by_its_new_words_alone(index):
    index.put({"1": "old", "2": "old"})
    assert set(index.scored("old")) == {"1", "2"}
    index.put({"1": "new"})
    assert (set(index.scored("old")), set(index.scored("new"))) == ({"2"}, {"1"})
    assert index.count() == 2


def test_the_same_write_twice_leaves_what_one_leaves(index):
    texts = {"1": "x y", "2": "x"}
    index.put(texts)
    once = index.scored("x y", unit(3))
    index.put(texts)
    assert index.scored("x y", unit(3)) == once
    assert index.count() == 2


def test_what_is_deleted_is_found_no_more_until_it_comes_back(index):
    index.put({"1": "x", "2": "x"})
    for _ in range(2):
        index.delete("1", "77")
        assert set(index.scored("x", unit(1))) == {"2"}
        assert index.count() == 1
    index.put({"1": "x"})
    assert set(index.scored("x", unit(1))) == {"1", "2"}


def test_a_vector_that_is_not_given_stays_while_the_text_stands(index):
    index.put({"1": "text", "2": "other"})
    before = index.scored(vector=unit(9))
    index.put({"1": "text"}, {})
    assert index.scored(vector=unit(9)) == before
    with pytest.raises(Conflict):
        index.put({"1": "another text"}, {})
    assert set(index.scored("text")) == {"1"}


def test_another_models_vectors_are_refused_naming_both_and_an_empty_index_takes_them(index):
    index.put({"1": "x"})
    index.create()
    for model in (("model-b", DIM), ("model-a", DIM + 1)):
        with pytest.raises(ModelMismatch, match="model-a"):
            index.create(*model)
    assert index.count() == 1
    index.delete("1")
    index.create("model-b", 3)
    index.put({"1": "x"}, {"1": unit(1, 3)})
    assert set(index.scored(vector=unit(1, 3))) == {"1"}


def test_vectors_that_do_not_fit_are_refused(index):
    for vector, failure in ((unit(1, 3), ModelMismatch), (np.full(DIM, np.nan, np.float32), EmbeddingFailed)):
        with pytest.raises(failure):
            index.put({"1": "x"}, {"1": vector})
    assert index.scored(vector=unit(1, 3)) == {}
    index.put({"1": "x"})
    with pytest.raises(ModelMismatch):
        index.scored(vector=unit(1, 3))
