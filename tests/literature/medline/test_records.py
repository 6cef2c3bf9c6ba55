"""Single records: what each field holds where the XML is awkward."""

import io
from datetime import date

import pytest

from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import (
    AbstractSection,
    Author,
    Book,
    Correction,
    Deletion,
    Grant,
    PartialDate,
    Reference,
    RetractionStatus,
)  # fmt: skip
from tests.literature.medline.records import FIXTURES, fixture_records, parsed


@pytest.fixture
def odd():
    (article,) = parse(io.BytesIO((FIXTURES / "handwritten" / "odd_record.xml").read_bytes()))
    return article


@pytest.fixture
def book_set():
    return list(parse(io.BytesIO((FIXTURES / "handwritten" / "book_set.xml").read_bytes())))


def test_of_two_dois_the_one_that_the_article_confirms_counts_and_ids_of_cited_works_never_become_its_own(odd):
    assert odd.doi == "10.5555/Second"
    assert (odd.pmid, odd.pmcid, odd.pii) == ("90000010", "PMC9000001", None)
    assert odd.references == (Reference("Cited one.", "1", "10.5555/cited", "PMC1"), Reference("Nested."))


def test_an_impossible_day_is_left_out_and_the_rest_kept(odd):
    assert odd.publication_date == PartialDate("2025 Feb 30", 2025, 2, None)
    assert odd.publication_date.iso == "2025-02"
    assert odd.date_revised is None
    assert odd.mhda is None


def test_entrez_is_the_creation_date_and_pubmed_the_entry_date(odd):
    assert (odd.edat, odd.crdt) == ("2024-01-01", "2025-02-10T23:59")
    assert odd.electronic_date == PartialDate("2025 Jan 9", 2025, 1, 9)


def test_the_space_between_marked_words_is_kept_and_an_empty_section_keeps_its_label(odd):
    assert odd.title == "Homo sapiens & CO₂ at 5 m² per day."
    assert odd.abstract == (AbstractSection(None, "UNASSIGNED", "First line."), AbstractSection("METHODS", None, ""))


def test_authors_keep_every_part_of_their_name_and_every_affiliation(odd):
    assert odd.authors == (
        Author("Wrong", "Ann", "A", "3ʳᵈ", None, "0000-0002-1825-009X", ("One", "Two ᵃ"), True, False),
        Author(collective_name="The Invented Group"),
    )
    assert odd.authors_complete is False


def test_the_graver_notice_decides_and_a_notice_may_lack_a_pmid(odd):
    assert odd.retraction is RetractionStatus.CONCERN
    assert odd.corrections == (
        Correction("ExpressionOfConcernIn", "Invented J. 2025", "90000011", "a note"),
        Correction("ErratumIn", "Invented J. 2026"),
    )


def test_an_ampersand_escaped_twice_is_read_once_more_and_numbers_stay_as_they_are_printed(odd):
    assert odd.grants == (Grant("R&D 1", None, "A & B"),)
    assert (odd.journal.volume, odd.journal.issue, odd.pages) == ("4002.e26", "007", "e1-e9")


def test_the_journal_joins_what_two_elements_say_of_it(odd):
    journal = odd.journal
    assert (journal.title, journal.nlm_id, journal.issn, journal.issn_type, journal.issn_l) == (
        "Invented Journal", "0000001", "0000-0019", "Electronic", "0000-0027",
    )  # fmt: skip


def test_a_whole_book_takes_its_title_and_authors_from_the_book(book_set):
    article = book_set[0]
    assert article.title == "A Handbook of H₂O"
    assert article.authors == (Author("Writer", "Whole Book", "WB"),)
    assert article.authors_complete is False
    assert article.book == Book(
        "A Handbook of H₂O", "Invented Press", "Chiang Mai", "2nd", ("9780000000002", "9780000000019"), "NBK900001",
        (Author("Editor", "Ed", "E"),), PartialDate("2024 Feb 29", 2024, 2, 29), ("Not an abstract",),
    )  # fmt: skip


def test_a_book_has_the_rest_of_a_record_too(book_set):
    article = book_set[0]
    assert (article.doi, article.crdt, article.date_revised) == ("10.5555/book.1", "2024-03-01T06:00", date(2025, 1, 2))
    assert article.abstract == (AbstractSection("Scope", None, "Water."),)
    assert (article.copyright, article.keywords, article.languages) == ("© Nobody", ("water",), ("eng",))
    assert (article.journal, article.publication_date.iso) == (None, "2024-03")
    assert article.references == (Reference("A cited book."),)


def test_delete_document_deletes_like_delete_citation(book_set):
    assert book_set[1:] == [Deletion("90000002", 1), Deletion("90000003", 1)]


def test_a_real_chapter_has_its_own_authors_and_the_books_editors():
    article = parsed(fixture_records()["20301577"][0][1])
    assert article.book.title == "GeneReviews®"
    assert article.book.accession == "NBK1403"
    assert "Adam" in [editor.last_name for editor in article.book.editors]
    assert article.title != article.book.title
    assert article.authors
    assert not {a.last_name for a in article.authors} >= {e.last_name for e in article.book.editors}
