"""Abstracts cut into passages."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.literature.records import AbstractSection, Article, Journal
from bio_mcp.retrieval.chunking import abstract_text, chunks_of
from bio_mcp.retrieval.passages import chunk_uuid

LIMIT = 40


def by_pieces(texts):
    """A tokenizer of a kind: at most six letters a token, every mark one, two special tokens."""
    return [2 + len(re.findall(r"\w{1,6}|[^\w\s]", text)) for text in texts]


def article(*sections, title="A title of five words", **more):
    return Article(pmid="1", title=title, abstract=tuple(AbstractSection(*each) for each in sections), **more)


def plain(text, **more):
    return article((None, None, text), **more)


def sentences(count):
    return " ".join(f"Sentence number {n} ends." for n in range(count))


@pytest.mark.parametrize(
    ("pmid", "chunk_id", "uuid"),
    [
        ("12345678", "w0", "2fc98da8-dd62-5e12-bb60-1d806bd65212"),
        ("12345678", "s0", "e8ee20d0-2278-5230-81e1-4894b0a3c4f6"),
        ("1", "s0", "b3a9e454-772a-5436-8663-06dc3e5aee69"),
        ("384001", "s0", "ebe153e1-80b5-5306-adbb-e20b1986f843"),
    ],
)
def test_chunk_uuids_are_stable(pmid, chunk_id, uuid):
    assert chunk_uuid(pmid, chunk_id) == uuid


@pytest.mark.parametrize(
    ("count", "windows"),
    [(1, [(0, 1)]), (3, [(0, 3)]), (4, [(0, 3), (2, 4)]), (5, [(0, 3), (2, 5)]), (6, [(0, 3), (2, 5), (4, 6)])],
)
def test_a_window_is_three_sentences_and_begins_two_after_the_last(count, windows):
    chunks = chunks_of(plain(sentences(count)), by_pieces, 256)
    one = [f"Sentence number {n} ends." for n in range(count)]
    assert [each.text for each in chunks] == [" ".join(one[start:end]) for start, end in windows]
    assert [each.chunk_id for each in chunks] == [f"w{n}" for n in range(len(windows))]
    assert chunks[0].embedded_text == f"A title of five words {chunks[0].text}"


def test_sections_come_from_the_record_and_never_from_the_text():
    chunks = chunks_of(
        article(("BACKGROUND", "BACKGROUND", "It was unknown. METHODS: of a kind."), ("RESULTS", None, sentences(5))),
        by_pieces,
        256,
    )
    assert [(each.chunk_id, each.section) for each in chunks] == [
        ("s0", "BACKGROUND"),
        ("s1_0", "RESULTS"),
        ("s1_1", "RESULTS"),
    ]
    assert chunks[0].text == "BACKGROUND: It was unknown. METHODS: of a kind."


def test_the_label_unlabelled_is_not_a_word_of_the_abstract():
    whole = article(("UNLABELLED", None, "First."), ("AIM", None, "Second."))
    assert abstract_text(whole) == "First. AIM: Second."
    assert [each.section for each in chunks_of(whole, by_pieces, 256)] == [None, "AIM"]


def test_the_abstract_is_joined_as_the_contract_prints_it():
    assert abstract_text(article(("Background", None, "B."), ("Methods", None, "M."))) == "Background: B. Methods: M."


@pytest.mark.parametrize(
    ("record", "embedded"),
    [
        (article(title="Only a title"), "Only a title"),
        (article(title=None, journal=Journal(title="The Lancet")), "The Lancet"),
        (article(title=None), "PMID 1"),
    ],
)
def test_every_citation_has_at_least_one_chunk(record, embedded):
    (chunk,) = chunks_of(record, by_pieces, 256)
    assert (chunk.chunk_id, chunk.text, chunk.embedded_text) == ("w0", "", embedded)
    assert (chunk.char_start, chunk.char_end) == (0, 0)


def test_a_title_longer_than_the_limit_is_cut_for_embedding_only():
    title = " ".join(f"word{n}" for n in range(100))
    for record in (plain(sentences(3), title=title), article(title=title)):
        chunks = chunks_of(record, by_pieces, LIMIT)
        assert max(by_pieces([each.embedded_text for each in chunks])) <= LIMIT
        assert all(each.embedded_text.startswith("word0 word1") for each in chunks)


def test_a_giant_sentence_is_split_and_no_word_is_lost():
    text = " ".join(f"w{n}" for n in range(300))
    chunks = chunks_of(plain(text), by_pieces, LIMIT)
    assert max(by_pieces([each.embedded_text for each in chunks])) <= LIMIT
    assert set(" ".join(each.text for each in chunks).split()) == set(text.split())


words = st.text(alphabet="abcDEF.(12é治 ", min_size=1, max_size=30)
texts = st.lists(words, max_size=40).map(" ".join)
records = st.lists(st.tuples(st.sampled_from([None, "AIM", "UNLABELLED"]), st.none(), texts), max_size=4)


@given(records, texts)
@settings(max_examples=200)
def test_chunks_hold_every_character_at_its_place_and_fit_the_model(sections, title):
    record = article(*sections, title=title)
    text, chunks = abstract_text(record), chunks_of(record, by_pieces, LIMIT)
    assert chunks
    assert len({each.chunk_id for each in chunks}) == len(chunks)
    assert max(by_pieces([each.embedded_text for each in chunks])) <= LIMIT
    assert all(each.text == text[each.char_start : each.char_end] for each in chunks)
    covered = {at for each in chunks for at in range(each.char_start, each.char_end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered
    assert all(each.embedded_text.strip() for each in chunks)


def test_a_tokenizer_whose_tokens_span_sentences_is_still_obeyed():
    def joined_cost(texts):
        return [2 + len(text) // 4 + 3 * text.count(". ") for text in texts]

    chunks = chunks_of(plain(sentences(30)), joined_cost, LIMIT)
    assert max(joined_cost([each.embedded_text for each in chunks])) <= LIMIT
