"""Parsed documents cut into chunks."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.literature.documents import ParsedDocument, ParsedSection, SectionKind
from bio_mcp.retrieval.chunking import chunks_of_sections
from bio_mcp.retrieval.project_chunks import Work
from tests.retrieval.test_chunking import by_pieces, sentences

WORK = Work("doi:10.1/x", title="Curcumin in arthritis")
LIMIT = 40


def cut(*sections, work=WORK, limit=LIMIT):
    document = ParsedDocument(tuple(sections))
    return document, chunks_of_sections(document, work, by_pieces, limit)


def test_a_chunk_has_whole_sentences_with_title_and_headings_before_them():
    _, chunks = cut(ParsedSection(sentences(2), "Patients", ("Methods", "Patients")))
    assert [each.text for each in chunks] == [sentences(2)]
    assert chunks[0].embedded_text == f"Curcumin in arthritis. Methods > Patients. {sentences(2)}"
    assert (chunks[0].section, chunks[0].section_path) == ("Patients", ("Methods", "Patients"))


def test_the_next_chunk_begins_with_the_last_short_sentence():
    _, chunks = cut(ParsedSection(sentences(12)))
    ends = [re.findall(r"number \d+", each.text) for each in chunks]
    assert len(chunks) > 2
    assert all(before[-1] == after[0] for before, after in pairwise(ends))


def test_a_long_last_sentence_is_not_repeated():
    long = "A long sentence of words that fill some of the room of it ends."
    _, chunks = cut(ParsedSection(" ".join([long] * 4)))
    assert len(chunks) > 1
    assert " ".join(each.text for each in chunks) == " ".join([long] * 4)


def test_offsets_count_in_the_whole_text_and_pages_are_of_the_chunk():
    one = sentences(12)
    middle = one.index("Sentence number 6")
    document, chunks = cut(
        ParsedSection("Before it all.", page_starts=((0, 3),)),
        ParsedSection(one, "Results", ("Results",), page_starts=((0, 3), (middle, 4))),
    )
    assert all(document.text[each.char_start : each.char_end] == each.text for each in chunks)
    assert chunks[0].page_span == chunks[1].page_span == (3, 3)
    assert chunks[-1].page_span == (4, 4)


def test_references_have_no_chunks_but_count_in_offsets():
    document, chunks = cut(
        ParsedSection("Doe J. A title that would be found. 2020.", kind=SectionKind.REFERENCES),
        ParsedSection("A table\n1\t2", kind=SectionKind.TABLE),
    )
    assert [each.kind for each in chunks] == [SectionKind.TABLE]
    assert document.text[chunks[0].char_start : chunks[0].char_end] == "A table\n1\t2"


def test_ids_follow_from_the_document_and_the_position():
    _, once = cut(ParsedSection(sentences(9)))
    _, again = cut(ParsedSection(sentences(9)))
    _, other = cut(ParsedSection(sentences(9)), work=Work("doi:10.1/y"))
    ids = [each.chunk_id for each in once]
    assert ids == [each.chunk_id for each in again]
    assert len({*ids, *(each.chunk_id for each in other)}) == len(ids) + len(other)
    assert [each.position for each in once] == list(range(len(once)))


@pytest.mark.parametrize("text", ["", "  \n\n "])
def test_a_document_without_text_has_no_chunks(text):
    assert cut(ParsedSection(text))[1] == ()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("ab. \n1ก,", max_size=200), max_size=4),
    st.text("ab ", max_size=200),
    st.integers(min_value=12, max_value=60),
)
def test_every_character_is_in_a_chunk_and_no_chunk_is_too_long(texts, title, limit):
    document, chunks = cut(*map(ParsedSection, texts), work=Work("d", title=title), limit=limit)
    covered = {at for each in chunks for at in range(each.char_start, each.char_end)}
    assert all(at in covered or character.isspace() for at, character in enumerate(document.text))
    assert all(count <= limit for count in by_pieces([each.embedded_text for each in chunks]))
