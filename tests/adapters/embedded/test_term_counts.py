from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.embedded.term_ids import MAX_FREQUENCY, term_counts

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
