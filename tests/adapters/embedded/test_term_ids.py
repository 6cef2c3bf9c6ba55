"""Terms and facets as numbers."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.term_ids import MAX_FREQUENCY, Numbers, term_counts
from bio_mcp.errors import Conflict
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import DIM, chunk, entry


@pytest.fixture
def two(tmp_path):
    """Two connections to one corpus, as two processes have them."""
    databases = [Database(tmp_path), Database(tmp_path)]
    engines = [SqlitePassages(database) for database in databases]
    engines[0].ensure_schema("model", DIM)
    yield engines
    for database in databases:
        database.close()


def found(engine, term, journal=None):
    filters = Filters(journals=frozenset({journal})) if journal else Filters()
    return sorted(each.pmid for each in engine.hybrid_search(PassageQuery(((term, 1.0),), None, filters)))


def unwritable(pmid):
    """An entry with a chunk whose vector is nowhere."""
    broken = entry(pmid, "zinc apple", journal="Cell")
    broken.chunks += (chunk("w1", "never embedded"),)
    return broken


def test_what_a_failed_batch_numbered_is_numbered_anew(two):
    one, other = two
    with pytest.raises(Conflict):
        one.upsert_chunks([unwritable(1)])
    other.upsert_chunks([entry(2, "banana", journal="Gut")])  # takes the number that zinc or apple had
    one.upsert_chunks([entry(3, "zinc banana", journal="Cell")])
    assert (found(other, "zinc"), found(other, "banana"), found(other, "apple")) == (["3"], ["2", "3"], [])
    assert (found(other, "banana", "cell"), found(other, "banana", "gut")) == (["3"], ["2"])


def test_terms_and_facets_have_their_numbers_however_few_are_remembered(tmp_path, closed):
    few = Numbers(most=3)
    with closed(Database(tmp_path)).writing() as connection:
        for change in range(1, 6):
            few.begin(connection, change)
            terms = ["every", f"t{change + 1}", f"t{change}", "every"]
            facets = [("tag", "every"), ("tag", f"t{change}"), ("journal", f"t{change + 1}")]
            numbers = few.of_terms(connection, [terms[:1], [], terms[1:]]).tolist(), few.of_facets(connection, facets)
            stored = dict(connection.execute("SELECT term, id FROM terms"))
            known = {(kind, value): number for number, kind, value in connection.execute("SELECT * FROM facets")}
            assert numbers[0] == [stored[term] for term in terms]
            assert [numbers[1][facet] for facet in facets] == [known[facet] for facet in facets]
            assert len(numbers[1]) <= 6


def test_two_connections_that_write_by_turns_agree_on_numbers(two):
    for pmid in range(1, 9):
        two[pmid % 2].upsert_chunks([entry(pmid, f"every t{pmid} t{pmid + 1}", journal=f"J{pmid % 3}")])
    for engine in two:
        assert [found(engine, f"t{n}") for n in range(2, 9)] == [[str(n - 1), str(n)] for n in range(2, 9)]
        assert found(engine, "every", "j0") == ["3", "6"]


LARGEST = 0xFFFFFFFF


def flat(documents):
    return np.array([term for document in documents for term in document], np.int64)


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, 7, LARGEST - 1, LARGEST]), max_size=12), max_size=5))
def test_each_document_has_its_terms_in_order_and_how_often_it_has_each(documents):
    counted = term_counts(flat(documents), list(map(len, documents)))
    read = [(np.frombuffer(terms, "<u4").tolist(), np.frombuffer(often, "<u2").tolist()) for terms, often in counted]
    assert [dict(zip(*each, strict=True)) for each in read] == [Counter(document) for document in documents]
    assert [terms for terms, _ in read] == [sorted(set(document)) for document in documents]


def test_a_term_counts_no_more_often_than_two_bytes_hold():
    [(_, often)] = term_counts(flat([[3] * (MAX_FREQUENCY + 9)]), [MAX_FREQUENCY + 9])
    assert np.frombuffer(often, "<u2").tolist() == [MAX_FREQUENCY]
