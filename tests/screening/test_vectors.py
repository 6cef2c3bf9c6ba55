"""Vectors are those of the index; without them a ranking goes on, and says so."""

from types import SimpleNamespace

import numpy as np

from bio_mcp.errors import IndexUnavailable
from bio_mcp.ports.stores import ReviewRecord
from bio_mcp.screening import ranking as vectors
from bio_mcp.screening.ranking import vectors_of


def index(find):
    return SimpleNamespace(passages=SimpleNamespace(document_vectors=find))


def records(*names):
    return [ReviewRecord(each, "Title") for each in names]


def test_papers_of_pubmed_are_asked_for_and_no_others():
    asked = []
    found, warnings = vectors_of(
        records("1", "doi:10.1/x", "2"), index(lambda pmids: asked.append(pmids) or {"1": np.ones(2)})
    )
    assert (asked, list(found), warnings) == ([["1", "2"]], ["1"], [])


def test_an_index_that_is_down_is_a_warning():
    def down(_pmids):
        raise IndexUnavailable("the index is away")

    found, [warning] = vectors_of(records("1"), index(down))
    assert (found, "the index is away" in warning) == ({}, True)


def test_vectors_of_a_very_large_review_are_not_read():
    many = records(*map(str, range(1, vectors.MOST + 2)))
    assert vectors_of(many, index(lambda _pmids: 1 / 0)) == ({}, [])
