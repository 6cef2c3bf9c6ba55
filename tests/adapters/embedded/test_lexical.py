"""Leaving documents out that cannot be hits changes nothing that is found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.adapters.embedded.bm25 import (
    GatheredPostings,
    Postings,
    Segments,
    Texts,
    best,
    best_by_bm25,
    norms,
    packed,
)

WORDS, DEPTH = 12, 10
NONE = np.empty(0, np.int32)
SHARES = 0.9 / (1 + np.arange(WORDS)) ** 1.5  # the first word is in nearly every document, the last in few


def postings_of(*columns):
    return Postings.sorted(packed(*columns))


def made_up(seed, rows):
    """Postings of `rows` documents, in parts, with dead ones; and how often each document has each word."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((rows, WORDS)) < SHARES, rng.integers(1, 6, (rows, WORDS)), 0)
    segments = Segments()
    for start, end in zip([0, rows // 2, rows * 7 // 8], [rows // 2, rows * 7 // 8, rows], strict=True):
        numbers, terms = np.nonzero(table[start:end])
        frequencies = table[start:end][numbers, terms].astype(np.uint16)
        segments = segments.plus(postings_of(terms.astype(np.uint32), (numbers + start).astype(np.int32), frequencies))
    return segments, table, rng.random(rows) > 0.1 * (seed % 2)


def scored(table, alive, own, query, documents):
    """The BM25 score of every row, word by word, with nothing left out."""
    scores = np.zeros(len(table))
    for term, weight in query:
        df = np.count_nonzero(table[alive, term])
        frequencies = table[:, term].astype(np.float32)
        scaled = np.float32(weight * np.log1p((documents - df + 0.5) / (df + 0.5)))
        scores += frequencies / (frequencies + own) * scaled
    return np.where(alive, scores, 0)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9_999), rows=st.sampled_from([30, 400, 3_000]), share=st.sampled_from([None, 0.002, 0.4]))
def test_the_hits_are_those_of_scoring_every_document(seed, rows, share):
    segments, table, alive = made_up(seed, rows)
    rng = np.random.default_rng(seed + 1)
    own = norms(table.sum(axis=1).astype(np.int32), alive)
    query = [(int(term), float(rng.choice([1.0, 2.0, 0.3]))) for term in rng.permutation(WORDS)[: rng.integers(1, 9)]]
    among = None if share is None else np.flatnonzero(alive & (rng.random(rows) < share)).astype(np.int32)
    dead, order = np.flatnonzero(~alive).astype(np.int32), rng.permutation(rows).astype(np.int64)
    found, scores = best_by_bm25(Texts(segments, own, dead), query, among, order, DEPTH)
    wanted = scored(table, alive, own, query, rows - len(dead))
    candidates = np.arange(rows) if among is None else among
    candidates = candidates[wanted[candidates] > 0]
    best_ = candidates[best(wanted[candidates], order[candidates], DEPTH)]
    assert scores == pytest.approx(wanted[best_], rel=1e-6)
    assert sorted(wanted[found].tolist()) == pytest.approx(sorted(wanted[best_].tolist()), rel=1e-6)
    assert len(set(found.tolist())) == len(found)


def test_the_postings_of_all_of_pubmed_have_their_own_numbers():
    terms, rows = np.array([40_000_000, 5, 5], np.uint32), np.array([50_000_000, 50_000_000, 7], np.int32)
    made = postings_of(terms, rows, np.array([3, 60_000, 4_095], np.uint16))
    assert made.terms.tolist() == [5, 40_000_000]
    assert made.rows.tolist() == [7, 50_000_000, 50_000_000]
    assert made.frequencies.tolist() == [4_095, 4_095, 3]


class Norms(np.ndarray):
    """Norms that count how many are taken at once."""

    taken: list[int]

    def __getitem__(self, key):
        self.taken.append(len(key))
        return np.asarray(self)[key]


def test_a_word_of_most_documents_is_looked_up_for_those_alone_that_may_be_hits():
    """Many papers have "patients", few "guselkumab": the former is not scored in each of them."""
    rows = 50_000
    rare = np.sort(np.random.default_rng(0).choice(rows, 300, replace=False)).astype(np.int32)
    common = np.arange(rows, dtype=np.int32)
    terms = np.repeat(np.array([0, 1], np.uint32), [len(common), len(rare)])
    segments = Segments().plus(postings_of(terms, np.concatenate([common, rare]), np.ones(len(terms), np.uint16)))
    own = norms(np.full(rows, 100, np.int32), np.ones(rows, np.bool_)).view(Norms)
    own.taken = []
    found, _ = best_by_bm25(Texts(segments, own, NONE), [(0, 1.0), (1, 1.0)], None, np.arange(rows), 100)
    assert found.tolist() == rare[::-1][:100].tolist()
    assert own.taken == [300, 100, 300]  # scored for the rare word, and looked up for the best of them and for all


def test_postings_that_are_gathered_in_parts_are_those_of_all_at_once():
    segments, table, _ = made_up(4, 3_000)
    rows, terms = np.nonzero(table)
    every = (terms.astype(np.uint32), rows.astype(np.int32), table[rows, terms].astype(np.uint16))
    gathered = GatheredPostings(at_once=2_000)
    for place in np.array_split(np.arange(len(rows)), 20):
        gathered.add(*(column[place] for column in every))
    for one in (gathered.postings(), segments.whole):
        for name in ("terms", "starts", "rows", "frequencies"):
            assert getattr(one, name).tolist() == getattr(postings_of(*every), name).tolist()
