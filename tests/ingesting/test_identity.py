"""The same paper by any way is one paper of the project."""

import json

import pytest

from bio_mcp.ingesting.sources import Options
from bio_mcp.ingesting.writing import REMEDY
from bio_mcp.literature.records import Author, Document
from tests.ingesting.library import PROJECT
from tests.support.corpus import Over
from tests.support.hooked import Hooked, at
from tests.support.memory_corpus import article

DOI = "10.1186/s12984-016-0129-6"
REFERENCE = {
    "id": "demarchis2016",
    "title": "Multi-contact functional electrical stimulation for hand opening",
    "DOI": DOI.upper(),
    "issued": {"date-parts": [[2016]]},
    "author": [{"family": "De Marchis", "given": "Cristiano"}, {"literal": "The STIM group"}],
}


def references(library, *items):
    path = library.home_of_references = library.files.parent / "csl.json"
    path.write_text(json.dumps(items))
    return Options(references=str(path))


def work(library):
    [document] = library.documents_of_project
    return document.work


def test_a_copy_of_a_file_is_the_same_document(library):
    library.write("a.md", "Hearts beat.")
    library.write("copy/b.md", "Hearts beat.")
    report = library.ingest()
    assert (report.cursor.written, report.cursor.unchanged) == (1, 1)
    assert library.texts == ["Hearts beat."]


def test_two_files_with_one_doi_are_one_document_whose_first_text_stays(library):
    library.write("a.md", f"doi: {DOI}\nThe publisher's text.")
    library.write("b.md", f"doi: https://doi.org/{DOI}\nThe text of the manuscript.")
    report = library.ingest()
    assert library.texts == ["The publisher's text."]
    assert report.warnings == (
        "'b.md': this paper is in the project already; the text of the file that was read first stays",
    )
    again = library.ingest()
    assert (again.cursor.unchanged, again.cursor.written, again.warnings) == (2, 0, ())


def test_a_moved_file_is_the_same_document_and_another_in_its_place_is_not(library):
    path = library.write("a.md", "Hearts beat.")
    library.ingest()
    [before] = library.documents_of_project
    path.rename(library.files / "b.md")
    library.ingest()
    library.write("a.md", "Livers are large.")
    library.ingest()
    documents = {each.work.source: each for each in library.documents_of_project}
    assert library.texts == ["Hearts beat.", "Livers are large."]
    assert before.doc_id in {each.doc_id for each in documents.values()}


@pytest.mark.parametrize(
    ("rounds", "dois"),
    [
        (
            [{"a.md": f"doi: {DOI}\nThe first paper."}, {"a.md": "doi: 10.1000/other\nThe second paper."}],
            {DOI, "10.1000/other"},
        ),
        ([{"a.md": "The first paper."}, {"a.md": "The second paper."}, {"b.md": "The first paper."}], {None}),
    ],
    ids=["another paper in its place", "edited, and copied as it was"],
)
def test_another_text_is_another_document(library, rounds, dois):
    for files in rounds:
        for name, text in files.items():
            library.write(name, text)
        library.ingest()
    assert library.texts == ["The first paper.", "The second paper."]
    assert {each.work.doi for each in library.documents_of_project} == dois


def test_documents_that_turn_out_to_be_one_become_one(library):
    library.write("a.md", "pmid: 123\nThe text of a.")
    library.write("b.md", f"doi: {DOI}\nThe text of b.")
    library.ingest()
    assert len(library.documents_of_project) == 2
    library.write("c.md", f"pmid: 123\ndoi: {DOI}\nThe text of c.")
    library.ingest()
    [document] = library.documents_of_project
    assert {"pmid:123", f"doi:{DOI}"} <= document.identifiers
    assert library.texts == ["The text of a."]


def test_a_paper_of_the_corpus_brings_its_record_along(library):
    record = article("123", "What PubMed calls it", year=2016, doi=DOI, authors=(Author("Doe", "Jane Q", "JQ"),))
    library.documents.put([Document(record, "hash")])
    library.write("paper.md", "title: A heading\npmid: 0123\nHearts beat.")
    assert library.ingest().warnings == ()
    found = work(library)
    assert (found.title, found.pmid, found.doi, found.year, found.authors) == (
        "What PubMed calls it",
        "123",
        DOI,
        2016,
        ("Doe JQ",),
    )
    [chunk] = library.chunks
    assert chunk.work == found
    assert chunk.context == "What PubMed calls it."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.md", f"doi: {DOI}\nHearts beat."),
        ("x.md", f"title: {REFERENCE['title']}\nHearts beat."),
        ("demarchis2016.md", "Hearts beat."),
        ("De Marchis et al. - 2016 - Multi-contact functional electrical stimulation.md", "Hearts beat."),
    ],
    ids=["doi", "title", "citekey", "file name"],
)
def test_references_describe_the_document_that_they_match(library, name, text):
    library.write(name, text)
    report = library.ingest(options=references(library, REFERENCE, {"id": "other2020", "title": "Another paper"}))
    found = work(library)
    assert (found.citekey, found.doi, found.year) == ("demarchis2016", DOI, 2016)
    assert found.authors == ("De Marchis C", "The STIM group")
    assert report.warnings == ()


def test_references_are_trusted_more_than_the_corpus_and_that_more_than_the_document(library):
    library.documents.put([Document(article("123", "What PubMed calls it", year=2016, doi=DOI), "hash")])
    library.write("paper.md", "title: A heading\npmid: 123\nHearts beat.")
    library.ingest(options=references(library, {"id": "doe2016", "PMID": 123, "title": "What its reader calls it"}))
    found = work(library)
    assert (found.title, found.citekey, found.year, found.doi) == ("What its reader calls it", "doe2016", 2016, DOI)


def test_a_reference_that_changes_is_taken_over_and_one_that_is_not_given_again_stays(library):
    library.write("demarchis2016.md", "Hearts beat.")
    library.ingest(options=references(library, REFERENCE))
    assert library.ingest(options=references(library, REFERENCE | {"title": "Another title"})).cursor.written == 1
    assert work(library).title == "Another title"
    assert library.ingest().cursor.unchanged == 1
    library.plain.version = "plain 2"
    library.ingest()
    assert (work(library).citekey, work(library).title) == ("demarchis2016", "Another title")


def test_a_file_of_a_known_paper_that_knows_more_of_it_describes_the_chunks_that_stand(library):
    library.write("a.md", f"doi: {DOI}\nThe text of a.")
    library.ingest()
    embedded = library.model.embedded
    library.write("demarchis2016.md", f"doi: {DOI}\nThe text of the other file.")
    library.ingest(options=references(library, REFERENCE))
    assert [(each.work.citekey, each.text) for each in library.chunks] == [("demarchis2016", "The text of a.")]
    assert library.model.embedded == embedded + 1  # its title is embedded with its text


def test_a_document_of_which_nothing_is_known_is_a_warning(library):
    library.write("paper.md", "title: A heading\nHearts beat.")
    assert library.ingest().warnings == ("Metadata not found for document 'paper.md'", REMEDY)
    assert work(library).title == "A heading"


def test_two_papers_with_one_citekey_are_two(library):
    one, other = REFERENCE | {"DOI": "10.1000/one"}, REFERENCE | {"DOI": "10.1000/another", "title": "Another paper"}
    library.write("a.md", "doi: 10.1000/one\nThe first.")
    library.write("b.md", "doi: 10.1000/another\nThe second.")
    library.ingest(options=references(library, one, other))
    assert library.texts == ["The first.", "The second."]
    assert [each.work.citekey for each in library.documents_of_project] == ["demarchis2016"] * 2


def test_a_paper_of_one_project_is_unknown_to_another(library):
    library.add_project("lab/other")
    library.write("a.md", f"doi: {DOI}\nHearts beat.")
    library.ingest()
    assert library.project_documents.find("lab/other", [f"doi:{DOI}"]) == []
    assert library.project_documents.find(PROJECT, [f"doi:{DOI}"]) != []


def test_two_runs_that_bring_in_one_paper_at_once_leave_one_document(library):
    """The other run comes between the chunks of this one and their record."""
    other = library.write("other/a.md", f"doi: {DOI}\nThe other file.")
    this = library.write("this/b.md", f"doi: {DOI}\nThis file.")

    race = at({1}, lambda: library.ingest(other))
    racing = Over(library, collections=Hooked(library.collections, "replace", after=race))
    report = library.ingest(this, over=racing)
    assert library.texts == ["The other file."]
    assert report.warnings == (
        "'b.md': this paper is in the project already; the text of the file that was read first stays",
    )
