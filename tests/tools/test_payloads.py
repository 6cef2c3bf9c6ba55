"""What clients send with a chunk, in the shapes of both documents of the contract."""

import pytest

from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.tools.payloads import chunk_from, full_text, further

NESTED = {
    "project": "citeloom/clean-arch",
    "source": {"path": "docs/clean-arch.pdf", "title": "Clean Architecture", "shelf": 7},
    "zotero": {"citekey": "cleanArchitecture2023", "tags": ["architecture"], "key": "ABCD1234"},
    "doc": {"page_span": [45, 46], "section": "Entities", "section_path": ["Part I", "Chapter 3"]},
    "embed_model": "fastembed/all-MiniLM-L6-v2",
    "version": "1.0",
    "fulltext": "Entities and value objects are distinct.",
}
FLAT = {
    "project_id": "citeloom/clean-arch",
    "doc_id": "clean-arch",
    "section_path": ["Part I", "Chapter 3"],
    "page_start": 45,
    "page_end": 46,
    "citekey": "cleanArchitecture2023",
    "doi": "https://doi.org/10.1000/XYZ123",
    "pmid": "PMID: 0384001",
    "year": 2023,
    "authors": ["Martin RC"],
    "title": "Clean Architecture",
    "tags": ["architecture"],
    "source_path": "C:\\Users\\ada\\clean-arch.pdf",
    "chunk_text": "Entities and value objects are distinct.",
    "heading_chain": "Part I > Chapter 3",
    "embed_model": "fastembed/BAAI/bge-small-en-v1.5",
    "version": "1.0",
    "note": {"mine": True},
}


def test_the_payload_of_the_first_document_is_read():
    chunk = chunk_from("c1", "text", NESTED)
    assert chunk.work == Work(
        "citekey:cleanArchitecture2023",
        title="Clean Architecture",
        citekey="cleanArchitecture2023",
        tags=("architecture",),
        source="clean-arch.pdf",
    )
    assert (chunk.section, chunk.section_path) == ("Entities", ("Part I", "Chapter 3"))
    assert chunk.page_span == (45, 46)
    assert further(chunk.metadata) == {"source": {"shelf": 7}, "zotero": {"key": "ABCD1234"}}


def test_the_payload_of_the_second_document_is_read():
    chunk = chunk_from("c1", "text", FLAT)
    assert chunk.work == Work(
        "clean-arch",
        title="Clean Architecture",
        citekey="cleanArchitecture2023",
        doi="10.1000/xyz123",
        pmid="384001",
        year=2023,
        authors=("Martin RC",),
        tags=("architecture",),
        source="clean-arch.pdf",
    )
    assert (chunk.section, chunk.section_path, chunk.page_span) == ("Chapter 3", ("Part I", "Chapter 3"), (45, 46))
    assert further(chunk.metadata) == {"note": {"mine": True}}
    assert chunk.metadata == FLAT


def test_the_whole_text_is_the_one_that_was_sent_as_such():
    assert full_text(chunk_from("c", "Entities", NESTED)) == NESTED["fulltext"]
    assert full_text(chunk_from("c", "Entities", {"fulltext": " "})) == "Entities"


def test_headings_may_come_as_a_chain():
    assert chunk_from("c", "t", {"heading_chain": "Part I > Chapter 3"}).section_path == ("Part I", "Chapter 3")


@pytest.mark.parametrize(
    ("metadata", "doc_id"),
    [
        ({"doc_id": "d", "pmid": 1}, "d"),
        ({"doc": {"id": "d"}}, "d"),
        ({"pmid": 384001, "doi": "10.1/x"}, "pmid:384001"),
        ({"doi": "doi:10.1000/X", "citekey": "a"}, "doi:10.1000/x"),
        ({"citekey": "a", "source_path": "x.pdf"}, "citekey:a"),
        ({"source_path": "/home/ada/x.pdf"}, "source:x.pdf"),
        ({}, "chunk:c"),
    ],
)
def test_a_document_is_known_by_the_best_name_that_is_given(metadata, doc_id):
    assert chunk_from("c", "t", metadata).work.doc_id == doc_id


@pytest.mark.parametrize(
    ("metadata", "span"),
    [
        ({"page_start": 3, "page_end": 5}, (3, 5)),
        ({"page_start": 3}, (3, 3)),
        ({"page_end": 5}, (5, 5)),
        ({"page_start": "3", "page_end": "5"}, (3, 5)),
        ({"page_start": 5, "page_end": 3}, None),
        ({"page_span": [7]}, None),
        ({"page_span": [0, 1]}, (1, 1)),
        ({"page_span": "7"}, None),
        ({}, None),
    ],
)
def test_pages_are_a_span_or_unknown(metadata, span):
    assert chunk_from("c", "t", metadata).page_span == span


@pytest.mark.parametrize(
    "metadata",
    [
        *({"year": each} for each in ("next year", 2020.5, True, -1)),
        *({"doi": "none"}, {"pmid": "x"}, {"authors": 7}, {"tags": [7, None]}, {"title": ["x"]}, {"zotero": "x"}),
        {"section_path": {"a": 1}},
    ],
)
def test_a_value_that_cannot_be_one_counts_as_absent_and_comes_back_as_it_was_sent(metadata):
    assert chunk_from("c", "t", metadata).work == Work("chunk:c")
    assert further(metadata) == metadata


HOSTILE = [None, True, -1, 1.5, 10**30, "", " ", "x" * 100_000, [], [[]], [None, 7, "a"], {}, {"id": ["x"], "tags": 7}]


@pytest.mark.parametrize("name", [*FLAT, *NESTED])
def test_whatever_is_sent_makes_a_chunk(name):
    for value in HOSTILE:
        chunk = chunk_from("c", "t", {name: value})
        assert 0 < len(chunk.work.doc_id) < 600
        assert all(type(each) is str for each in (*chunk.work.tags, *chunk.work.authors, *chunk.section_path))
        assert chunk.metadata == {name: value}
        further(chunk.metadata)
