"""Texts cut into sentences, and papers and documents into passages that are indexed."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.literature.documents import ParsedDocument, ParsedSection, SectionKind
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import AbstractSection, Article, Document, Journal, RetractionStatus
from bio_mcp.retrieval.chunking import (
    abstract_text,
    chunks_of,
    chunks_of_sections,
    entry_of,
    search_terms,
    sentence_spans,
)
from bio_mcp.retrieval.passages import chunk_uuid
from bio_mcp.retrieval.project_chunks import Work
from tests.support.memory_corpus import WordVectors
from tests.support.memory_corpus import article as printed
from tests.support.real_records import FILES
from tests.support.real_records import records as published


def parts_of(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["We grew E. coli in broth.", "It grew."],
        ["The effect was small (p < 0.05).", "We conclude nothing."],
        ["Risk fell (HR 0.46, P = 0.03).", "It rose again."],
        ["Smith et al. Reported the same.", "We did not."],
        ["Drug A vs. Placebo was tested.", "A won."],
        ["See Fig. 2 for the curve.", "It rises."],
        ["Dose was approx. 5 mg.", "None died."],
        ["Infection with hepatitis B.", "We tested all."],
        ["Was it safe?", "Yes!", "It was."],
        ["The variant p.Arg117His was found."],
        ["Cells died.", "p53 was induced.", "mRNA levels fell.", "α-Tubulin rose."],
        ["In the U.S. Patients were older.", "They were ill."],
        ["治療は有効であった。", "副作用はなかった。"],
        ["It was 3.5 mg/kg.", "(Funded by NIH.)", "Next."],
    ],
)
def test_prose_is_split_where_sentences_end(parts):
    assert parts_of(" ".join(parts)) == parts


def test_sentences_glued_together_are_taken_apart():
    text = "We grew large amounts.Synthetic peptides (n = 7).The rest was 0.05.In all, 12%.Done so."
    assert parts_of(text) == [
        "We grew large amounts.",
        "Synthetic peptides (n = 7).",
        "The rest was 0.05.",
        "In all, 12%.",
        "Done so.",
    ]


@given(st.text(alphabet=st.sampled_from("aB. !?\n(1é。'"), max_size=60))
def test_spans_are_ordered_apart_and_hold_every_character_that_is_no_space(text):
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    covered = {at for start, end in spans for at in range(start, end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered


@pytest.mark.parametrize(
    ("unit", "count"), [("a. B", 125_001), ("A. ", 1), ("....", 1), (" \u2003", 0), ("a.\n", 166_666), ("!?x", 1)]
)
def test_half_a_million_characters_take_no_longer_each_than_a_few(unit, count):
    """Where the time grows with the square of the length, this one does not come back."""
    assert len(parts_of(unit * (500_000 // len(unit)))) == count


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
        article(
            ("BACKGROUND", "BACKGROUND", "It was unknown. METHODS: of a kind."),
            ("RESULTS", None, sentences(5)),
        ),
        by_pieces,
        256,
    )
    assert [(each.chunk_id, each.section) for each in chunks] == [
        ("s0", "BACKGROUND"),
        ("s1_0", "RESULTS"),
        ("s1_1", "RESULTS"),
    ]
    assert chunks[0].text == "BACKGROUND: It was unknown. METHODS: of a kind."


def test_the_abstract_is_joined_as_the_contract_prints_it_without_the_label_unlabelled():
    whole = article(("UNLABELLED", None, "First."), ("AIM", None, "Second."))
    assert abstract_text(whole) == "First. AIM: Second."
    assert [each.section for each in chunks_of(whole, by_pieces, 256)] == [None, "AIM"]
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
    check_passages(article(*sections, title=title), by_pieces, LIMIT)


def check_passages(record, count, limit):
    text, chunks = abstract_text(record), chunks_of(record, count, limit)
    assert chunks
    assert len({each.chunk_id for each in chunks}) == len(chunks)
    assert max(count([each.embedded_text for each in chunks])) <= limit
    assert all(each.text == text[each.char_start : each.char_end] for each in chunks)
    covered = {at for each in chunks for at in range(each.char_start, each.char_end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered
    assert all(each.embedded_text.strip() for each in chunks)


def test_a_tokenizer_whose_tokens_span_sentences_is_still_obeyed():
    def joined_cost(texts):
        return [2 + len(text) // 4 + 3 * text.count(". ") for text in texts]

    chunks = chunks_of(plain(sentences(30)), joined_cost, LIMIT)
    assert max(joined_cost([each.embedded_text for each in chunks])) <= LIMIT


WORK = Work("doi:10.1/x", title="Curcumin in arthritis")


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


def test_chunks_have_the_kind_of_their_section():
    document, chunks = cut(
        ParsedSection("Doe J. A title. 2020.", kind=SectionKind.REFERENCES),
        ParsedSection("A table\n1\t2", kind=SectionKind.TABLE),
    )
    assert [each.kind for each in chunks] == [SectionKind.REFERENCES, SectionKind.TABLE]
    assert document.text[chunks[1].char_start : chunks[1].char_end] == "A table\n1\t2"


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


def test_a_word_of_the_title_counts_twice_and_comes_first_and_mesh_is_not_searched():
    assert search_terms(printed(title="Statins", text="Statins help.")) == ["statin", "statin", "statin", "help"]
    assert search_terms(Article(pmid="384001")) == ["384001"], "without any text"
    assert "human" not in search_terms(printed(mesh=[("D006801", "Humans")]))


def test_an_entry_holds_what_filters_and_ranking_ask_for():
    paper = printed("7", types=[("D016449", "Randomized Controlled Trial")], mesh=[("D006801", "Humans")])
    chunks = chunks_of(paper, WordVectors().count_tokens, 256)
    entry = entry_of(Document(paper, "hash", version=3), chunks, {"w0": np.zeros(64, np.float32)})
    assert (entry.pmid, entry.version, entry.year) == ("7", 3, 2024)
    assert (entry.journal, entry.journal_nlm_id, entry.publication_types) == ("A journal", "0000000", ("D016449",))
    assert entry.quality == StaticQuality(design=2, journal=0, human=2)
    assert entry.retraction is RetractionStatus.CLEAR
    assert [chunk.chunk_id for chunk in entry.chunks] == list(entry.vectors) == ["w0"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_real_record_is_cut_without_losing_a_character_fits_the_model_and_gives_terms(path):
    for record in published(path):
        check_passages(record, WordVectors().count_tokens, 128)
        assert search_terms(record), record.pmid
