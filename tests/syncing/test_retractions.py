"""A retraction that PubMed learns of later: the next sync flips the status, tells of it and sinks the paper."""

import io
from datetime import date

import pytest

from bio_mcp.call import call
from bio_mcp.deadline import NEVER
from bio_mcp.literature.medline import parse
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.retrieval.ranking import NAMED, RETRACTED_FACTOR
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.syncing.queries import RETRACTIONS_KEY, RETRACTIONS_TERM
from bio_mcp.tools.pubmed import fetch_details
from bio_mcp.tools.search import rag_search
from tests.support.corpus import Corpus, Heard
from tests.support.retracting import doubt, is_plain, plain_papers, retract, term


class Durable(Heard):
    """Hears only what is already true: each news is held against the index and the store as they are then."""

    def __init__(self, path, corpus):
        super().__init__(path)
        self.corpus, self.indexed = corpus, {}

    def publish(self, news):
        for each in news:
            with self.corpus.database.reading() as connection:
                found = connection.execute("SELECT version, retraction FROM entries WHERE pmid = ?", (each.pmid,))
                self.indexed[each.kind.value, each.pmid] = found.fetchone()
        super().publish(news)


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as made:
        made.heard = Durable(tmp_path / "heard", made)
        yield made


def sync(corpus, pmids):
    return sync_delta("k", term(pmids), 5, corpus, NEVER, lambda *_: None)


def hits(corpus, query):
    whole = {"top_k": 20, "include_weak": True, "explain": True}
    found = call(rag_search, {"query": query, **whole}, corpus).body["results"]
    return {hit["doc_id"]: (hit["score"], hit.get("retraction", "clear"), hit["quality"]) for hit in found}


def test_a_retraction_flips_the_status_is_reported_once_and_sinks_the_paper(corpus, ncbi):
    pmids = plain_papers(ncbi, 12)
    sync(corpus, pmids)
    pmid = pmids[5]
    title = corpus.documents.get(pmid).article.title
    score, flag, _ = hits(corpus, title)[f"pmid:{pmid}"]
    assert flag == "clear"
    before = corpus.heard.all
    retract(ncbi, pmid)
    report = sync(corpus, pmids)
    assert (report.updated, report.inserted) == (1, 0)
    document = corpus.documents.get(pmid)
    assert (document.article.retraction, document.version, document.indexed_version) == ("retracted", 2, 2)
    assert corpus.heard.since(before) == [("changed", pmid, "2"), ("retracted", pmid, "2")]
    assert corpus.heard.indexed["retracted", pmid] == (2, "retracted")
    sunk, flag, quality = hits(corpus, title)[f"pmid:{pmid}"]
    assert (flag, quality) == ("retracted", 0)
    assert sunk - NAMED <= RETRACTED_FACTOR * (score - NAMED)
    announced = corpus.heard.all
    sync(corpus, pmids)
    assert corpus.heard.since(announced) == []


def sweep(corpus):
    return sync_delta(RETRACTIONS_KEY, RETRACTIONS_TERM, 5, corpus, NEVER, lambda *_: None, known_only=True)


def standings(corpus, pmids):
    return [corpus.documents.get(pmid).article.retraction for pmid in pmids]


def test_papers_that_no_query_finds_any_more_are_flagged_and_none_is_added(corpus, ncbi):
    retracted, partly, republished, doubted, *clear, unknown = pmids = plain_papers(ncbi, 7)
    sync(corpus, pmids[:-1])
    retract(ncbi, unknown)
    retract(ncbi, retracted)
    doubt(ncbi, partly, "PartialRetractionIn")
    doubt(ncbi, republished, "RetractedandRepublishedIn")
    doubt(ncbi, doubted, "ExpressionOfConcernIn")
    before = corpus.heard.all
    report = sweep(corpus)
    assert (report.state, report.inserted, report.updated, report.failed) == ("complete", 0, 4, 0)
    assert report.processed == report.expected == 5
    assert report.skipped == report.processed - report.updated
    assert standings(corpus, pmids[:4]) == ["retracted", "retracted", "retracted", "concern"]
    assert standings(corpus, clear) == ["clear", "clear"]
    assert unknown not in corpus.documents.heads(pmids)
    announced = {(kind, pmid) for kind, pmid, _ in corpus.heard.since(before)}
    assert {pmid for kind, pmid in announced if kind == "retracted"} == {retracted, partly, republished}


def test_only_papers_that_the_corpus_holds_are_fetched(corpus, ncbi):
    pmids = plain_papers(ncbi, 3)
    sync(corpus, pmids)
    retract(ncbi, pmids[0])
    ncbi.control.clear_requests()
    sweep(corpus)
    [fetched] = ncbi.control.requests("efetch")
    assert fetched["params"]["id"] == pmids[0]
    again = sweep(corpus)
    assert (again.updated, again.state) == (0, "complete")


def test_a_paper_of_a_project_alone_comes_into_the_corpus_once_it_is_retracted(corpus, ncbi):
    retracted, clear, elsewhere = plain_papers(ncbi, 3)
    corpus.projects.put(Project("lab/hearts", "proj-lab-hearts", "words"))
    for pmid in (retracted, clear):
        work = Work(f"pmid:{pmid}", pmid=pmid)
        corpus.project_documents.put("lab/hearts", ProjectDocument(work, frozenset([work.doc_id])))
    for pmid in (retracted, elsewhere):
        retract(ncbi, pmid)
    report = sweep(corpus)
    assert (report.state, report.inserted, report.processed) == ("complete", 1, report.expected)
    assert (list(corpus.documents.pmids()), standings(corpus, [retracted])) == ([retracted], ["retracted"])


def test_a_look_that_finds_no_retraction_warns_of_no_spelling(corpus, ncbi):
    ncbi.control.withdraw([pmid for pmid in ncbi.control.pmids() if not is_plain(ncbi.control.record(pmid))])
    report = sweep(corpus)
    assert (report.state, report.processed, report.warnings) == ("complete", 0, ())


def test_a_paper_that_came_after_the_last_look_is_flagged_by_the_next(corpus, ncbi):
    [pmid] = plain_papers(ncbi, 1)
    old = list(parse(io.BytesIO(f"<PubmedArticleSet>{ncbi.control.record(int(pmid))}</PubmedArticleSet>".encode())))
    retract(ncbi, pmid, "2025/10/01")
    sweep(corpus)
    apply_records(old, corpus)
    assert standings(corpus, [pmid]) == ["clear"]
    assert sweep(corpus).updated == 1
    assert standings(corpus, [pmid]) == ["retracted"]


def test_a_look_that_failed_says_so_and_the_next_one_sees_what_it_did_not(corpus, ncbi):
    pmids = plain_papers(ncbi, 3)
    sync(corpus, pmids)
    retract(ncbi, pmids[0])
    ncbi.control.fault(endpoint="efetch", status=500, times=50)
    failed = sweep(corpus)
    assert (failed.state, failed.failed, failed.updated) == ("incomplete", 1, 0)
    assert corpus.checkpoints.get(RETRACTIONS_KEY).windows == {}
    ncbi.control.clear_faults()
    assert (sweep(corpus).state, standings(corpus, pmids[:1])) == ("complete", ["retracted"])


FORMS = ("abstract_plus", "citation_data", "full_xml", "medline_text")


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_of_pubmed_that_is_kept_says_it_as_soon_as_the_sync_knows(corpus, ncbi, form):
    def details():
        return call(fetch_details, {"pmids": pmids[:2], "detailLevel": form}, corpus)

    pmids = plain_papers(ncbi, 3)
    sync(corpus, pmids)
    details()
    retract(ncbi, pmids[1])
    stored = details()
    assert [each["retraction"] for each in stored.body["articles"]] == ["clear", "clear"]
    assert stored.audit["cache"]["status"] == "hit"
    sync(corpus, pmids)
    assert [each["retraction"] for each in details().body["articles"]] == ["clear", "retracted"]


def test_a_retraction_that_is_taken_back_is_clear_again(corpus, ncbi):
    pmids = plain_papers(ncbi, 3)
    sync(corpus, pmids)
    whole = ncbi.control.record(int(pmids[0]))
    retract(ncbi, pmids[0], "2025/12/30")
    sync(corpus, pmids)
    assert corpus.documents.get(pmids[0]).article.retraction == "retracted"
    ncbi.control.put(f"<PubmedArticleSet>{whole}</PubmedArticleSet>")
    ncbi.control.revise(int(pmids[0]), "2025/12/31")
    sync(corpus, pmids)
    assert corpus.documents.get(pmids[0]).article.retraction == "clear"
