"""Whatever is written, in whatever order, a search answers as one over an index built afresh from the file."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.vector_search import Sizes
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import DIM, entry, unit

PMIDS = st.integers(1, 30).map(str)
TERMS = st.lists(st.sampled_from("abcdefgh"), max_size=60).map(" ".join)


@st.composite
def _entries(draw):
    return entry(
        draw(PMIDS),
        draw(TERMS),
        version=draw(st.integers(1, 3)),
        vectors=[unit(draw(st.integers(0, 40))) for _ in range(draw(st.integers(0, 3)))],
        year=draw(st.sampled_from([None, 1999, 2020])),
        tags=tuple(draw(st.sets(st.sampled_from(["x", "y"])))),
    )


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.lists(_entries(), min_size=1, max_size=8)),
        st.tuples(st.just("delete"), st.lists(PMIDS, min_size=1, max_size=4)),
        st.tuples(st.just("search"), st.just(None)),
    ),
    max_size=12,
)
QUERIES = [
    PassageQuery((("a", 1.0), ("b", 0.5), ("h", 2.0)), unit(1), depth=7),
    PassageQuery((("c", 1.0),), unit(2), Filters(year_from=2000), depth=5),
    PassageQuery((("d", 1.0),), unit(3), Filters(tags=frozenset({"x"})), depth=50),
]


def answers(passages):
    return [
        {(each.pmid, each.chunk_id): (each.bm25, each.sim, each.year) for each in passages.hybrid_search(query)}
        for query in QUERIES
    ]


def assert_equal(live, fresh):
    for one, other in zip(answers(live), answers(fresh), strict=True):
        assert one.keys() == other.keys()
        for key, values in one.items():
            assert values == tuple(value and pytest.approx(value, abs=1e-5) for value in other[key])


HOLDINGS = {"vectors": Sizes(), "vectors and codes": Sizes(exact=0), "codes": Sizes(exact=0, in_memory=0)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, holding=st.sampled_from(sorted(HOLDINGS)))
def test_after_any_changes_the_live_index_answers_as_a_fresh_one(tmp_path_factory, steps, holding):
    database = Database(tmp_path_factory.mktemp("corpus"))
    writer, reader = SqlitePassages(database), SqlitePassages(database, HOLDINGS[holding])
    writer.ensure_schema("m", DIM)
    for step, what in steps:
        if step == "upsert":
            writer.upsert_chunks(what)
        elif step == "delete":
            writer.delete(what)
        else:
            answers(reader)
    assert_equal(reader, SqlitePassages(database))
    database.close()


@pytest.mark.parametrize("holding", sorted(HOLDINGS))
def test_many_small_batches_merge_and_sweep_without_a_trace(tmp_path, holding):
    database = Database(tmp_path)
    live = SqlitePassages(database, HOLDINGS[holding])
    live.ensure_schema("m", DIM)
    rng = np.random.default_rng(0)
    for start in range(0, 3_000, 250):
        batch = [
            entry(
                str(int(pmid)),
                " ".join(rng.choice(list("abcdefgh"), 12)),
                vectors=[unit(int(n)) for n in rng.integers(0, 99_999, 3)],
                version=start + 1,
                year=int(rng.integers(1990, 2020)),
                tags=("x",),
            )
            for pmid in rng.choice(np.arange(1, 1_500), 250, replace=False)
        ]
        live.upsert_chunks(batch)
        live.delete([str(n) for n in rng.integers(1, 1_500, 20)])
        assert_equal(live, SqlitePassages(database))
    database.close()


@pytest.mark.parametrize(
    ("apart", "in_memory", "depth"), [(0.4, 1 << 18, 100), (5.0, 1 << 18, 100), (0.4, 0, 100), (0.4, 0, 20)]
)
def test_the_codes_find_what_a_full_product_finds(tmp_path, apart, in_memory, depth):
    """With more windows than are scored outright, close neighbours, and documents of one subject or of several; by the
    vectors in memory, and by those of the corpus file; for few hits documents are selected by signs first."""
    dim, documents, of_each = 256, 2_400, 3
    database = Database(tmp_path)
    passages = SqlitePassages(database, Sizes(in_memory=in_memory))
    passages.ensure_schema("m", dim)
    rng = np.random.default_rng(1)
    spectrum = (1 / np.sqrt(np.arange(1, dim + 1))).astype(np.float32)
    centres = np.repeat(rng.standard_normal((200, dim))[rng.integers(0, 200, documents)], of_each, axis=0)
    own = np.repeat(rng.standard_normal((documents, dim)), of_each, axis=0)
    matrix = (centres + 0.8 * own + apart * rng.standard_normal((documents * of_each, dim))) * spectrum
    matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    live = [str(n + 1) for n in range(documents)]
    passages.upsert_chunks([entry(pmid, vectors=matrix[3 * i : 3 * i + 3], dim=dim) for i, pmid in enumerate(live)])
    gone = {str(n) for n in range(1, documents, 7)}
    passages.hybrid_search(PassageQuery((), matrix[0]))
    passages.delete(sorted(gone))
    shares = []
    for row in range(0, len(matrix), 500):
        best = (matrix @ matrix[row]).reshape(documents, of_each).max(axis=1)
        exact = {pmid: float(cosine) for pmid, cosine in zip(live, best, strict=True) if pmid not in gone}
        wanted = sorted(exact, key=exact.__getitem__, reverse=True)[:depth]
        got = {each.pmid: each.sim for each in passages.hybrid_search(PassageQuery((), matrix[row], depth=depth))}
        assert got.keys().isdisjoint(gone)
        assert len(got) == depth
        assert all(sim == pytest.approx(exact[pmid], abs=1e-5) for pmid, sim in got.items())
        shares.append(len(got.keys() & set(wanted)) / depth)
    assert np.mean(shares) >= 0.99
    database.close()
