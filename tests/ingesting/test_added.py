"""What is added in the browser: files that are sent, and papers of the corpus that are saved."""

from dataclasses import replace

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.added import Upload, papers_in, suffix_of, upload_in
from bio_mcp.ingesting.files import STORED_PDF, UPLOADS, folder_of, stored_pdf_key
from bio_mcp.syncing.applying import apply_records
from tests.ingesting.library import PROJECT
from tests.support.memory_corpus import article

TEXT = b"title: A trial\ndoi: 10.1000/a\n# Results\nThe drug lowers mortality in adults with heart failure."
PDF = TEXT.replace(b"#", b"version: %PDF-1.7\n#")
PAPER = article("7", "A trial", "Mortality fell with the drug.", doi="10.1000/a")


def sent(library, content=PDF, name="trial.pdf"):
    """The source of a file that was sent."""
    return Upload(library.blobs.put(folder_of(PROJECT, UPLOADS), content), name).source


def documents(library):
    return library.project_documents.all(PROJECT)


def texts(library, document):
    return [
        each.text for each in library.collections.document(library.projects.get(PROJECT).collection, document.doc_id)
    ]


def test_a_file_that_was_sent_is_read_and_kept_for_its_document(library):
    report = library.ingest(sent(library), local=False)
    assert (report.state, report.cursor.written) == ("complete", 1)
    [document] = documents(library)
    assert document.work.source == "trial.pdf"
    assert library.blobs.get(stored_pdf_key(document)) == PDF


def test_two_files_of_one_name_are_two_documents(library):
    library.ingest(sent(library, name="main.pdf"))
    library.ingest(sent(library, b"title: Another\n# Results\nNothing of it is the same.", "main.pdf"))
    assert len(documents(library)) == 2


def test_a_pdf_is_kept_from_wherever_it_is_read(library):
    library.write("trial.pdf", PDF)
    library.ingest()
    [document] = documents(library)
    assert library.blobs.get(stored_pdf_key(document)) == PDF


def test_a_pdf_that_an_earlier_version_did_not_keep_is_kept_once_it_is_sent(library):
    library.write("trial.pdf", PDF)
    library.ingest()
    [document] = documents(library)
    library.project_documents.put(PROJECT, replace(document, origin={**document.origin, STORED_PDF: None}))
    report = library.ingest(sent(library))
    assert report.cursor.unchanged == 1
    assert stored_pdf_key(documents(library)[0]) is not None


def test_what_is_no_pdf_has_no_pages_to_show(library):
    library.ingest(sent(library, b"title: A note\n# Text\nNothing is drawn.", "notes.txt"))
    [document] = documents(library)
    assert stored_pdf_key(document) is None


def test_papers_are_saved_with_their_abstract_and_what_the_corpus_does_not_have_is_named(library):
    apply_records([PAPER], library)
    report = library.ingest("pmid:7,8", local=False)
    assert (report.cursor.written, report.cursor.failed) == (1, 1)
    assert "'PMID 8': the corpus does not have this paper" in report.warnings
    [document] = documents(library)
    assert document.work.pmid == "7"
    assert texts(library, document) == ["Mortality fell with the drug."]
    assert library.ingest("pmid:7").cursor.unchanged == 1


def test_the_file_of_a_saved_paper_takes_the_place_of_its_abstract(library):
    apply_records([PAPER], library)
    library.ingest("pmid:7")
    library.ingest(sent(library, TEXT))
    [document] = documents(library)
    assert (document.work.pmid, document.work.doi) == ("7", "10.1000/a")
    assert texts(library, document) == ["The drug lowers mortality in adults with heart failure."]
    library.ingest("pmid:7")  # which says less
    assert texts(library, documents(library)[0]) == ["The drug lowers mortality in adults with heart failure."]


@pytest.mark.parametrize(
    "source",
    [
        f"upload:uploads/../{'0' * 64}?name=a.pdf",
        f"upload:exports/{'0' * 32}/{'0' * 64}?name=a.pdf",
        "upload:uploads/x?name=a.pdf",
        f"upload:uploads/{'0' * 32}/{'0' * 64}?name=a.exe",
        f"upload:uploads/{'0' * 32}/{'0' * 64}",
        "pmid:abc",
        "pmid:0",
    ],
    ids=["above", "folder", "no key", "kind", "nameless", "word", "zero"],
)
def test_a_source_that_names_neither_file_nor_paper_is_refused(library, source):
    with pytest.raises(InvalidInput):
        library.ingest(source)


def test_more_papers_than_are_saved_at_once_are_refused():
    with pytest.raises(InvalidInput, match="more than the 500"):
        papers_in("pmid:" + ",".join(map(str, range(1, 502))))
    assert papers_in("pmid:3, 1,3") == ["1", "3"]
    assert papers_in("s3://bucket") is upload_in("zotero") is None


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("A.PDF", ".pdf"), ("a.b.docx", ".docx"), ("a.exe", None), ("pdf", None), ("C:\\x.txt", ".txt")],
)
def test_only_files_that_can_be_read_have_a_suffix(name, suffix):
    assert suffix_of(name) == suffix
