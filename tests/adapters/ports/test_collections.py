import math
from zlib import crc32

import numpy as np
import pytest

from bio_mcp.errors import Conflict, EmbeddingFailed, IndexUnavailable, ModelMismatch, NotFound
from bio_mcp.literature.documents import SectionKind
from bio_mcp.retrieval.project_chunks import MAX_ID, ChunkFilters, ChunkQuery, ProjectChunk, Work, collection_name
from bio_mcp.tenants import JOINT, Names
from tests.adapters.chunks import chunk, document, store, vectors
from tests.adapters.entries import DIM, unit
from tests.support.cases import case
from tests.support.reference_indexes import ReferenceCollections

ONE, OTHER = "proj-lab-heart", "proj-lab-lung"
WORK = Work(
    doc_id="d7", title="Titin – 2ß", citekey="doe2020", doi="10.1000/xyz", pmid="7", url="https://example.org/7",
    year=2020, authors=("Doe J", "van der Berg JA"), tags=("Heart", "review"), language="de", source="a 'b'.pdf",
)  # fmt: skip
FULL = ProjectChunk(
    "c-7", WORK, 'Text with "quotes" – 𝛽.', 3, "Titin. Part I > Dosing.", "Dosing", ("Part I", "Dosing"), (4, 5), 120,
    160, SectionKind.TABLE, {"zotero": {"tags": ["x"]}, "n": 1.5, "none": None},
)  # fmt: skip


@pytest.fixture
def collections(ports):
    for name in (ONE, OTHER):
        ports.collections.create(name, "model-a", DIM)
    return ports.collections


def words(text):
    return tuple((word, 1.0) for word in text.split())


def found(collections, text="", vector=None, filters=None, depth=100, collection=ONE):
    query = ChunkQuery(words(text), vector, filters or ChunkFilters(), depth)
    return {match.chunk.chunk_id: match for match in collections.search(collection, query)}


def by_seed(texts):
    return np.stack([unit(crc32(text.encode())) for text in texts])


def test_a_chunk_comes_back_equal_however_it_is_asked_for(collections):
    collections.upsert(ONE, [FULL], {"c-7": unit(1)})
    [match] = collections.search(ONE, ChunkQuery(words("quot"), unit(1)))
    assert match.chunk == FULL
    assert collections.document(ONE, "d7") == collections.sample(ONE, 5) == [FULL]
    assert match.sim == pytest.approx(1, abs=1e-6)
    assert match.bm25 == pytest.approx(math.log(1 + 0.5 / 1.5) / 2.2, abs=1e-6)
    assert collections.hashes(ONE, "d7") == {"c-7": FULL.embedded_sha256}


def test_the_longest_name_that_a_tenants_collection_has_is_one(ports):
    project = "a-" + "b" * (MAX_ID - 2)
    for tenant in ("north", "south"):
        name = Names(tenant).stored(collection_name(project), JOINT)
        ports.collections.create(name, "model-a", DIM)
        ports.collections.upsert(name, document("d1", tenant), vectors(document("d1", tenant)))
        assert [each.text for each in ports.collections.document(name, "d1")] == [tenant]
        assert ports.collections.count(name) == 1


def test_a_collection_that_does_not_exist_is_empty_to_read_and_not_found_to_write(ports):
    nothing = ports.collections
    assert found(nothing, "text", unit(1), collection="proj-none") == nothing.hashes("proj-none", "d1") == {}
    assert nothing.document("proj-none", "d1") == nothing.sample("proj-none", 3) == []
    assert (nothing.count("proj-none"), nothing.model("proj-none"), nothing.drop("proj-none")) == (0, None, False)
    [one] = chunks = document("d1", "text")
    for write in (
        lambda: nothing.replace("proj-none", "d1", chunks, vectors(chunks)),
        lambda: nothing.replace("proj-none", "d1", [], {}),
        lambda: nothing.upsert("proj-none", [one], vectors(chunks)),
        lambda: nothing.rebuild("proj-none", "model-b", DIM, by_seed),
    ):
        with pytest.raises(NotFound, match="proj-none"):
            write()
    assert nothing.model("proj-none") is None


def test_a_dropped_collection_is_gone_with_all_its_chunks_and_may_be_made_again(collections):
    for name in (ONE, OTHER):
        store(collections, name, document("d1", "text"))
    assert found(collections, "text")
    assert collections.drop(ONE)
    assert not collections.drop(ONE)
    assert found(collections, "text", unit(1)) == {}
    with pytest.raises(NotFound):
        store(collections, ONE, document("d1", "late"))
    assert (collections.count(ONE), collections.model(ONE)) == (0, None)
    collections.create(ONE, "model-b", 3)
    assert found(collections, "text") == {}
    assert collections.document(ONE, "d1") == collections.sample(ONE, 9) == []
    assert set(found(collections, "text", collection=OTHER)) == {"d1-0"}


def test_the_context_of_a_chunk_is_searched_too(collections):
    store(collections, ONE, document("d1", "text", context="Heart > Dosing."))
    assert set(found(collections, "dose")) == {"d1-0"}


def of(*values):
    return frozenset(values)


FILTERS = [
    (ChunkFilters(tags=of("heart")), {"a-0", "a-1", "b-0"}),
    (ChunkFilters(tags=of("HEART", "Review")), {"a-0", "a-1"}),
    (ChunkFilters(tags=of("heart", "cohort")), set()),
    (ChunkFilters(citekeys=of("doe2020", "nobody")), {"a-0", "a-1"}),
    (ChunkFilters(citekeys=of("Doe2020")), set()),
    (ChunkFilters(authors=of("van der berg")), {"b-0"}),
    (ChunkFilters(authors=of("DOE J", "nobody")), {"a-0", "a-1"}),
    (ChunkFilters(authors=of("j")), set()),
    (ChunkFilters(doc_ids=of("a", "c", "B")), {"a-0", "a-1", "c-0"}),
    (ChunkFilters(year_from=2010), {"a-0", "a-1", "b-0"}),
    (ChunkFilters(year_to=2015), {"b-0"}),
    (ChunkFilters(year_from=2016, year_to=2020), {"a-0", "a-1"}),
    (ChunkFilters(section_prefix="part i"), {"a-0", "a-1"}),
    (ChunkFilters(section_prefix="Part I > D"), {"a-1"}),
    (ChunkFilters(section_prefix="Dosing"), {"c-0"}),
    (ChunkFilters(section_prefix="*"), set()),
    (ChunkFilters(section_prefix=""), {"a-0", "a-1", "b-0", "c-0"}),
    (ChunkFilters(tags=of("heart"), year_to=2015, doc_ids=of("b")), {"b-0"}),
    (ChunkFilters(tags=of("heart"), section_prefix="Dosing"), set()),
]


@pytest.fixture
def varied(collections):
    a = {"citekey": "doe2020", "year": 2020, "authors": ("Doe J", "Roe K"), "tags": ("Heart", "review")}
    b = {"citekey": "berg", "year": 2015, "authors": ("van der Berg JA",), "tags": ("heart",)}
    chunks = [
        chunk("a-0", "x y", "a", work=a, section_path=("Part I",)),
        chunk("a-1", "x", "a", work=a, section_path=("Part I", "Dosing"), position=1),
        chunk("b-0", "x x", "b", work=b),
        chunk("c-0", "x", "c", section="Dosing"),
    ]
    collections.upsert(ONE, chunks, vectors(chunks))
    return collections


def test_filters(varied):
    for filters, wanted in FILTERS:
        with case(filters):
            assert set(found(varied, "x", filters=filters)) == wanted
            assert set(found(varied, vector=unit(0), filters=filters)) == wanted
            assert set(found(varied, "x", unit(0), filters)) == wanted


def test_filters_are_applied_before_the_best_are_taken(collections):
    many = [chunk(f"a{n:03}", "x x x x", "many") for n in range(150)]
    few = chunk("z", "x and other words", "few")
    collections.upsert(ONE, [*many, few], {each.chunk_id: unit(1) for each in many} | {"z": unit(2)})
    [match] = found(collections, "x", unit(1), ChunkFilters(doc_ids=of("few")), depth=1).values()
    assert (match.chunk, match.bm25 is None, match.sim is None) == (few, False, False)


def test_a_vector_that_is_not_given_stays_while_the_text_stands(collections):
    store(collections, ONE, document("d1", "first", "second"))
    before = found(collections, vector=unit(9))
    moved = [chunk("d1-0", "new"), chunk("d1-1", "first", position=1), chunk("d1-2", "second", position=2)]
    collections.replace(ONE, "d1", moved, vectors(moved[:1]))
    after = found(collections, vector=unit(9))
    assert after["d1-1"].sim == before["d1-0"].sim
    assert after["d1-2"].sim == before["d1-1"].sim


def test_a_vector_that_is_missing_for_a_new_text_refuses_the_whole_document(collections):
    store(collections, ONE, document("d1", "old"))
    changed = document("d1", "old", "another text")
    with pytest.raises(Conflict, match="d1-1"):
        collections.replace(ONE, "d1", changed, {})
    with pytest.raises(Conflict, match="d1-0"):
        collections.upsert(ONE, changed, {})
    assert [each.text for each in collections.document(ONE, "d1")] == ["old"]


def test_single_chunks_are_added_beside_what_a_document_has(collections):
    store(collections, ONE, document("d1", "one", "two"))
    more = [chunk("d1-1", "changed", position=1), chunk("d1-5", "five", position=5)]
    collections.upsert(ONE, more, vectors(more))
    assert [each.text for each in collections.document(ONE, "d1")] == ["one", "changed", "five"]


def test_a_chunk_id_of_another_document_moves(collections):
    store(collections, ONE, document("d1", "one", "two"))
    moved = [chunk("d1-1", "mine", "d2")]
    collections.upsert(ONE, moved, vectors(moved))
    assert [each.chunk_id for each in collections.document(ONE, "d1")] == ["d1-0"]
    assert collections.document(ONE, "d2") == moved
    assert collections.count(ONE) == 2
    store(collections, ONE, moved)
    assert collections.count(ONE) == 2


def test_a_document_comes_in_the_order_of_its_positions_then_ids(collections):
    chunks = [chunk(each, position=at) for each, at in (("z", 0), ("b", 2), ("a", 2), ("y", 11), ("x", 3))]
    collections.upsert(ONE, chunks, vectors(chunks))
    assert [each.chunk_id for each in collections.document(ONE, "d1")] == ["z", "a", "b", "x", "y"]


def test_a_sample_has_the_lowest_ids(collections):
    store(collections, ONE, document("b", "1", "2"), document("a", "1"))
    assert [each.chunk_id for each in collections.sample(ONE, 2)] == ["a-0", "b-0"]
    assert collections.sample(ONE, 0) == []


def test_a_document_longer_than_a_batch(collections):
    many = document("d1", *(f"word{n}" for n in range(700)))
    store(collections, ONE, many)
    assert collections.count(ONE) == 700
    assert collections.document(ONE, "d1") == many
    assert len(collections.hashes(ONE, "d1")) == 700
    store(collections, ONE, many[:2])
    assert collections.count(ONE) == 2


HOSTILE = (
    "d1' OR '1'='1",
    'd1" OR ""="',
    "*",
    "d1*",
    "?",
    "../proj-lab-lung/d1",
    "%",
    "d1\x00",
    "𝐝1",
    "ｄ1",
    "_all",
    "",
)


def test_an_id_is_nothing_but_an_id(collections):
    store(collections, ONE, document("d1", "text"))
    for hostile in HOSTILE:
        with case(hostile):
            assert (collections.document(ONE, hostile), collections.hashes(ONE, hostile)) == ([], {})
            collections.replace(ONE, hostile, [], {})
            assert collections.count(ONE) == 1
            assert found(collections, "text", filters=ChunkFilters(doc_ids=of(hostile))) == {}


def test_another_models_vectors_are_built_of_every_chunk_and_then_searched(collections):
    store(collections, ONE, document("d1", "one", "two", context="T."), document("d2", "three"))
    before = found(collections, "two")
    collections.rebuild(ONE, "model-b", DIM, by_seed)
    assert collections.model(ONE) == ("model-b", DIM)
    assert found(collections, vector=unit(crc32(b"T. two")), depth=1)["d1-1"].sim == pytest.approx(1, abs=1e-5)
    assert found(collections, "two")["d1-1"].bm25 == before["d1-1"].bm25
    assert collections.count(ONE) == 3
    collections.create(ONE, "model-b", DIM)


def test_searches_go_on_in_the_old_vectors_while_others_are_built(collections):
    store(collections, ONE, document("d1", "one", "two"))
    before, seen = found(collections, "one", unit(4)), []

    def embed(texts):
        seen.append((found(collections, "one", unit(4)), collections.model(ONE)))
        return by_seed(texts)

    collections.rebuild(ONE, "model-b", DIM, embed)
    assert seen
    assert all(each == (before, ("model-a", DIM)) for each in seen)


def test_what_is_written_while_others_are_built_is_in_them_or_refused(collections):
    store(collections, ONE, document("d1", "one"), document("d2", "two"))
    written = []

    def embed(texts):
        if not written:
            written.append(None)
            try:
                store(collections, ONE, document("d3", "three"), document("d1", "changed"))
                collections.replace(ONE, "d2", [], {})
                written.append({"d3-0", "d1-0"})
            except Conflict:
                written.append({"d1-0", "d2-0"})
        return by_seed(texts)

    collections.rebuild(ONE, "model-b", DIM, embed)
    assert set(found(collections, vector=unit(1))) == written[-1]
    for each in collections.sample(ONE, 9):
        best = found(collections, vector=unit(crc32(each.embedded_text.encode())), depth=1)
        assert best[each.chunk_id].sim == pytest.approx(1, abs=1e-5)


def test_vectors_of_the_model_before_a_rebuild_are_neither_written_nor_compared(collections):
    old, new = document("d1", "one", "two"), document("d2", "three")
    store(collections, ONE, old)
    collections.rebuild(ONE, "model-b", DIM, by_seed)
    with pytest.raises(Conflict, match="rebuilt for another model meanwhile"):
        collections.replace(ONE, "d2", new, vectors(new), "model-a")
    with pytest.raises(Conflict):
        collections.upsert(ONE, new, vectors(new), "model-a")
    assert collections.document(ONE, "d2") == []
    with pytest.raises(IndexUnavailable, match="rebuilt for another model meanwhile"):
        collections.search(ONE, ChunkQuery((), unit(1), model="model-a"))
    collections.replace(ONE, "d1", old[:1], {}, "model-a")
    collections.upsert(ONE, new, vectors(new), "model-b")
    assert len(collections.search(ONE, ChunkQuery((), unit(1), model="model-b"))) == 2
    assert collections.search(ONE, ChunkQuery(words("three"), model="model-a"))


def test_a_rebuild_that_stops_half_way_changes_nothing_and_may_be_repeated(collections):
    store(collections, ONE, document("d1", *(f"word{n}" for n in range(600))))
    before, calls = found(collections, "word7", unit(4), depth=3), []

    def stops(texts):
        calls.append(len(texts))
        if len(calls) > 1:
            raise EmbeddingFailed("the model is gone")
        return by_seed(texts)

    with pytest.raises(EmbeddingFailed):
        collections.rebuild(ONE, "model-b", DIM, stops)
    assert collections.model(ONE) == ("model-a", DIM)
    assert found(collections, "word7", unit(4), depth=3) == before
    collections.rebuild(ONE, "model-b", DIM, by_seed)
    assert collections.model(ONE) == ("model-b", DIM)
    assert found(collections, vector=unit(crc32(b"word599")), depth=1)["d1-599"].sim == pytest.approx(1, abs=1e-5)


def test_vectors_of_another_length_may_be_built(collections):
    store(collections, ONE, document("d1", "one"))
    with pytest.raises(ModelMismatch):
        collections.rebuild(ONE, "model-b", 3, by_seed)
    collections.rebuild(ONE, "model-b", 3, lambda texts: np.stack([unit(1, 3)] * len(texts)))
    assert set(found(collections, vector=unit(1, 3))) == {"d1-0"}
    with pytest.raises(ModelMismatch):
        store(collections, ONE, document("d2", "two"))


def test_an_empty_collection_is_rebuilt_without_embedding_anything(collections):
    collections.rebuild(ONE, "model-b", 3, lambda texts: pytest.fail(f"embedded {texts}"))
    assert collections.model(ONE) == ("model-b", 3)


@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_plain_reading_of_the_contract(collections, seed):
    rng = np.random.default_rng(seed)
    plain = ReferenceCollections()
    plain.create(ONE, "model-a", DIM)
    for _ in range(3):
        for doc in rng.choice(np.arange(1, 30), 12, replace=False):
            work = {"year": int(rng.integers(2000, 2010)), "tags": ("a",) if rng.random() < 0.5 else ("a", "b")}
            texts = [
                " ".join(f"t{int(n)}" for n in rng.zipf(1.4, int(rng.integers(1, 120))) % 50)
                for _ in range(int(rng.integers(0, 6)))
            ]
            chunks = document(f"d{doc}", *texts, work=work)
            for each in (collections, plain):
                each.replace(ONE, f"d{doc}", chunks, vectors(chunks))
        for filters in (ChunkFilters(), ChunkFilters(year_from=2004, tags=of("b"))):
            terms = (("t1", 1.0), ("t2", 0.5), ("t7", 1.0), ("t99", 1.0))
            query = ChunkQuery(terms, unit(int(rng.integers(9))), filters, 15)
            got = {match.chunk.chunk_id: match for match in collections.search(ONE, query)}
            wanted = {match.chunk.chunk_id: match for match in plain.search(ONE, query)}
            assert got.keys() == wanted.keys()
            for chunk_id, each in wanted.items():
                assert got[chunk_id].chunk == each.chunk
                assert got[chunk_id].bm25 == (each.bm25 and pytest.approx(each.bm25, abs=1e-5))
                assert got[chunk_id].sim == (each.sim and pytest.approx(each.sim, abs=1e-5))
