"""What is noted about documents of a project that PubMed does not have, and what their searches say of it."""

from dataclasses import replace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.ingesting.notices import note_notices
from bio_mcp.literature.notices import Notice
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from tests.support.corpus import Corpus
from tests.support.sample_project import add_project, put

DOI = "10.1000/retracted"
WORK = Work(f"doi:{DOI}", title="A withdrawn finding", citekey="doe2019", doi=DOI, year=2019)
OTHER = Work("doi:10.1000/other", title="Another", doi="10.1000/other")
IN_PUBMED = replace(WORK, doc_id="pmid:7", doi="10.1000/7", pmid="7")
RETRACTION = Notice("retraction", "10.1000/notice", "2019-07-26", "Retraction", "retraction-watch")


@pytest.fixture
def backends(tmp_path):
    with Corpus(tmp_path) as corpus:
        project = add_project(corpus, "lab")
        put(corpus, project.collection, [ProjectChunk("w-0", WORK, "Cold fusion powers the mitochondria.")])
        for each in (WORK, OTHER, IN_PUBMED):
            named = frozenset({each.doc_id, f"doi:{each.doi}"})
            corpus.project_documents.put("lab", ProjectDocument(each, named, chunks=1))
        yield corpus


def noted(backends, **notices):
    return note_notices("lab", lambda dois: {doi: notices.get(doi.rpartition("/")[2], ()) for doi in dois}, backends)


def test_only_documents_without_a_pmid_are_asked_about(backends):
    asked = []
    note_notices("lab", lambda dois: asked.append(list(dois)) or {}, backends)
    assert asked == [["10.1000/other", DOI]]


def test_a_retraction_is_noted_and_flags_the_document_in_searches(backends):
    found = noted(backends, retracted=(RETRACTION,))
    assert (found.checked, found.unknown, found.changed) == (2, 0, 1)
    assert [(each.document.doc_id, each.status) for each in found.documents] == [(WORK.doc_id, "retracted")]
    body = call(
        TOOLS["query_hybrid"], {"project": "lab", "text": "cold fusion mitochondria", "top_k": 1}, backends
    ).body
    assert (body["items"][0]["doc_id"], body["items"][0]["retraction"]) == (WORK.doc_id, "retracted")
    assert body["warnings"] == [f"doe2019 (DOI {DOI}) was retracted: say so where you cite it."]


def test_noting_again_changes_nothing_and_a_reinstatement_takes_it_back(backends):
    noted(backends, retracted=(RETRACTION,))
    assert noted(backends, retracted=(RETRACTION,)).changed == 0
    mended = (RETRACTION, Notice("reinstatement", date="2020-01-01"))
    assert [each.status for each in noted(backends, retracted=mended).documents] == ["clear"]


def test_what_a_source_does_not_have_stays_as_it_was(backends):
    noted(backends, retracted=(RETRACTION,))
    found = note_notices("lab", lambda _dois: {}, backends)
    assert (found.unknown, found.changed) == (2, 0)
    assert [each.status for each in found.documents] == ["retracted"]
