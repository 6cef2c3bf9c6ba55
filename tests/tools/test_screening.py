"""screenPapers, labelPapers and snowball, called as every door calls them."""

from types import SimpleNamespace

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.sync_state import SqliteLeases
from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.errors import IndexUnavailable, NcbiFailed
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.state import Checkpoint
from bio_mcp.retrieval.project_chunks import Work, unknown_project
from bio_mcp.tools.screening import edit_review, label_papers, screen_papers
from bio_mcp.tools.snowball import snowball_papers
from tests.adapters.clocks import Clock
from tests.support.corpus import Over
from tests.support.memory_corpus import Corpus, article
from tests.support.sample_corpus import TheseRecords, corpus
from tests.support.sample_review import QUERY_KEY

HEART = [
    article(str(number), f"Statins in heart failure, trial {number}", "Adults with heart failure.")
    for number in (1, 2, 3)
]
SKIN = [article(str(number), f"Retinoids in acne, trial {number}", "Skin of adolescents.") for number in (11, 12, 13)]
ALL = [*HEART, *SKIN]
KEY = {"query_key": "heart"}


class Audit:
    """Remembers what was recorded."""

    def __init__(self):
        self.records = []

    def record(self, *record, caller=None):
        self.records.append((*record, caller))


class OneProject:
    def all(self):
        return [self.get("lab/heart")]

    def get(self, project_id):
        if project_id != "lab/heart":
            raise unknown_project(project_id, ["lab/heart"])
        return Project(project_id, "proj-lab", "words")


@pytest.fixture
def backends():
    made = Corpus(*ALL)
    made.pubmed, made.audit, made.projects = TheseRecords(ALL), Audit(), OneProject()
    made.checkpoints = SimpleNamespace(
        get=lambda key: Checkpoint(key, term="heart[ti]" if key == "heart" else None), all=lambda _key: []
    )
    return made


def label(backends, given=KEY, *, caller=None, **arguments):
    return call(label_papers, {**given, **arguments}, backends, caller=caller).body


def screen(backends, given=KEY, **arguments):
    return call(screen_papers, {**given, **arguments}, backends).body


def decided(decision, *papers, **more):
    return [{"paper": each, "decision": decision, **more} for each in papers]


def papers(body):
    return [each["paper"] for each in body["papers"]]


def test_what_is_like_included_papers_is_shown_first_and_decided_ones_no_more(backends):
    label(backends, pmids=[each.pmid for each in ALL])
    body = label(backends, labels=[*decided("include", "1"), *decided("exclude", "11")])
    assert body["counts"] == {"records": 6, "include": 1, "exclude": 1, "maybe": 0, "undecided": 4}
    body = screen(backends, top_k=3)
    assert (papers(body)[:2], body["left_out"]) == (["3", "2"], 1)
    first = body["papers"][0]
    assert first["title"] == "Statins in heart failure, trial 3"
    assert first["abstract"] == "Adults with heart failure."
    assert "heart" in " ".join(first["why"])
    assert first["url"].endswith("/3/")


def test_a_query_key_collects_what_its_term_finds_and_says_so_in_the_report(backends):
    assert label(backends, collect=True)["added"] == 6
    report = screen(backends, show="report")
    assert report["prisma"]["identified"] == 6
    [search] = report["searches"]
    assert (search["database"], search["platform"], search["term"]) == ("PubMed", "NCBI E-utilities", "heart[ti]")
    assert (search["found"], search["new"]) == (6, 6)
    error = label(backends, {"query_key": "unknown"}, collect=True)["error"]
    assert (error["code"], "never synced" in error["message"]) == ("VALIDATION", True)


def test_a_project_collects_its_documents_also_those_outside_of_pubmed(backends):
    documents = [ProjectDocument(Work("c", title="A paper", doi="10.1/c"), frozenset())]
    backends.project_documents = SimpleNamespace(all=lambda _project: documents)
    assert label(backends, {"project": "lab/heart"}, collect=True)["added"] == 1
    assert screen(backends, {"project": "lab/heart"})["papers"][0]["url"] == "https://doi.org/10.1/c"


def test_a_decision_is_stored_once_and_a_changed_one_is_audited(backends):
    first = label(backends, labels=decided("include", "1", "2"))
    assert (first["added"], first["labelled"]) == (2, 2)
    again = label(backends, labels=decided("include", "1", "2"))
    assert (again["labelled"], again["unchanged"]) == (0, 2)
    assert backends.audit.records == []
    label(backends, labels=decided("exclude", "2", reason="no adults"))
    assert backends.audit.records == [("review.abstract", "query:heart", {"2": "include"}, {"2": "exclude"}, None)]
    [paper] = screen(backends, show="exclude")["papers"]
    assert (paper["paper"], paper["reason"], paper["decision"]) == ("2", "no adults", "exclude")


def test_the_full_text_is_decided_of_those_whose_abstract_was_included(backends):
    label(backends, pmids=[each.pmid for each in ALL])
    label(backends, labels=[*decided("include", "1", "2", "3"), *decided("exclude", "11")])
    assert papers(screen(backends, stage="full_text")) == ["3", "2", "1"]
    body = label(
        backends,
        stage="full_text",
        labels=[*decided("exclude", "1", reason="not retrieved"), *decided("include", "2", "11")],
    )
    assert (body["labelled"], len(body["warnings"])) == (2, 1)
    assert papers(screen(backends, stage="full_text")) == ["3"]
    report = screen(backends, show="report")["prisma"]
    assert (report["sought"], report["not_retrieved"], report["assessed"], report["included"]) == (3, 1, 1, 1)


def test_decided_papers_are_paged_in_the_order_of_decision(backends):
    label(backends, labels=decided("include", "3", "1", "2"))
    first = screen(backends, show="include", top_k=2)
    assert (papers(first), first["left_out"]) == (["3", "1"], 1)
    assert papers(screen(backends, show="include", after="1")) == ["2"]
    assert "after" in screen(backends, show="include", after="11")["error"]["message"]


def test_a_retracted_candidate_is_marked(backends):
    withdrawn = article("20", "Statins in heart failure", retraction=RetractionStatus.RETRACTED)
    backends.documents.by_pmid["20"] = SimpleNamespace(article=withdrawn)
    label(backends, pmids=["20", "1"])
    shown = {each["paper"]: each.get("retraction") for each in screen(backends)["papers"]}
    assert shown == {"20": "retracted", "1": None}


def test_the_estimate_says_when_enough_was_found_and_what_it_assumes(backends):
    label(backends, pmids=[each.pmid for each in ALL])
    before = screen(backends)["stopping"]
    assert (before["may_stop"], before["recall_at_least"], before["missed_at_most"]) == (False, None, 6)
    label(backends, labels=[*decided("include", "1", "2", "3"), *decided("exclude", "11", "12", "13")])
    after = screen(backends)["stopping"]
    assert (after["may_stop"], after["recall_at_least"], after["missed_at_most"]) == (True, 1.0, 0)
    assert "no less likely" in after["assumes"]


def test_an_index_that_is_down_is_a_warning_and_words_alone_rank(backends):
    def down(_pmids):
        raise IndexUnavailable("the index is away")

    label(backends, labels=[*decided("include", "1"), *decided("exclude", "11")], pmids=["2", "12"])
    backends.passages.document_vectors = down
    body = screen(backends)
    assert papers(body) == ["2", "12"]
    assert "words alone" in body["warnings"][0]


def test_an_empty_review_says_how_it_gets_papers(backends):
    body = screen(backends)
    assert (body["papers"], "labelPapers" in body["warnings"][0]) == ([], True)


@pytest.mark.parametrize("given", [{}, {"project": "lab/heart", "query_key": "heart"}])
def test_a_review_is_of_one_project_or_one_query_key(backends, given):
    for body in (screen(backends, given), label(backends, given, pmids=["1"])):
        assert body["error"]["code"] == "VALIDATION"


def test_an_unknown_project_is_not_found_and_the_others_are_named(backends):
    error = label(backends, {"project": "none"}, pmids=["1"])["error"]
    assert (error["code"], "lab/heart" in error["message"]) == ("NOT_FOUND", True)


def test_two_tenants_reviews_of_one_key_share_nothing(backends):
    one, other = (Caller(name, frozenset({"read", "ingest"}), tenant=name) for name in ("ann", "bob"))
    label(backends, labels=decided("include", "1"), caller=one)
    assert call(screen_papers, {**KEY, "show": "include"}, backends, caller=other).body["papers"] == []
    [paper] = call(screen_papers, {**KEY, "show": "include"}, backends, caller=one).body["papers"]
    assert paper["paper"] == "1"


def test_who_decided_is_stored(backends):
    label(backends, labels=decided("include", "1"), caller=Caller("ann", frozenset({"ingest"})))
    [stored] = backends.screenings.labels("query:heart")
    assert stored.caller == "ann"


@pytest.fixture(scope="module")
def sample():
    return corpus()


def ask(backends, **arguments):
    return call(snowball_papers, arguments, backends).body


def test_references_and_citing_papers_are_found_with_titles_and_where_they_are_known(sample):
    pmids = [each.pmid for each in sample.articles]
    body = ask(sample, pmids=[pmids[5]], query_key=QUERY_KEY)
    found = {each["pmid"]: each for each in body["papers"]}
    assert set(found) == {pmids[4], pmids[6]}
    assert found[pmids[6]]["ways"] == ["references"]
    assert found[pmids[4]]["ways"] == ["citations"]
    assert found[pmids[6]]["title"] == sample.articles[6].title
    assert found[pmids[6]]["known_in"] == ["corpus", "review"]
    assert (body["found"], body["left_out"], body["status"], body["sources"]) == (2, 0, "complete", ["NIH iCite"])


def test_without_pmids_the_papers_that_the_review_includes_are_the_seeds(sample):
    pmids = [each.pmid for each in sample.articles]
    body = ask(sample, query_key=QUERY_KEY, direction="references")
    assert body["seeds"] == 3
    assert {each["pmid"] for each in body["papers"]} == {pmids[1], pmids[3], pmids[5]}


def test_what_the_review_has_is_left_out_on_request(sample):
    body = ask(sample, query_key=QUERY_KEY, new_only=True)
    assert (body["papers"], body["found"]) == ([], 4)


def test_only_so_many_are_shown_as_are_asked_for(sample):
    body = ask(sample, query_key=QUERY_KEY, top_k=2)
    assert (len(body["papers"]), body["left_out"]) == (2, 2)


def test_papers_without_titles_are_still_found_and_the_answer_is_partial(sample):
    def esummary(_pmids, **_):
        raise NcbiFailed("away")

    away = Over(sample, pubmed=SimpleNamespace(esummary=esummary))
    body = ask(away, pmids=[sample.articles[5].pmid])
    assert (len(body["papers"]), body["status"]) == (2, "partial")
    assert body["papers"][0]["title"] is None


@pytest.mark.parametrize("given", [{}, {"query_key": "unknown"}, {"project": "lab", "query_key": "x", "pmids": ["1"]}])
def test_seeds_are_needed_and_one_review(sample, given):
    assert ask(sample, **given)["error"]["code"] == "VALIDATION"


EXPORT = "TY  - JOUR\nTI  - Statins in adults with heart failure\nAU  - Doe, Jane\nPY  - 2024\nER  - \n"


@pytest.fixture
def reviews(backends, tmp_path):
    """The backends with leases, which an import takes its turn by."""
    database = Database(tmp_path)
    backends.leases = SqliteLeases(database, Clock(1_000_000.0))
    yield backends
    database.close()


def edit(backends, **arguments):
    return call(edit_review, {"review": "statins", **arguments}, backends).body


def test_a_review_is_made_gets_a_file_and_is_changed_where_something_is_given(reviews):
    made = edit(reviews, criteria="heart failure", records=EXPORT, database="Embase", term="statin*")
    assert made == {"review": "statins", "created": True, "screeners": 2, "records": 1, "added": 1, "merged": 0,
                    "unreadable": 0}  # fmt: skip
    again = edit(reviews, records=EXPORT, screeners=3)
    assert (again["created"], again["screeners"], again["added"]) == (False, 3, 0)
    assert reviews.screenings.plan("statins").criteria == "heart failure"
    [search] = screen(reviews, {"review": "statins"}, show="report")["searches"]
    assert (search["database"], search["term"], search["found"]) == ("Embase", "statin*", 1)


def test_a_merge_is_taken_back(reviews):
    edit(reviews, records=EXPORT)
    assert edit(reviews, records=f"{EXPORT}\n")["merged"] == 1
    [merge] = reviews.screenings.merges("statins")
    assert edit(reviews, split=merge.merge_id)["records"] == 2
    assert edit(reviews, split="none")["error"]["code"] == "NOT_FOUND"


def test_a_retracted_paper_is_marked_though_the_review_knows_it_by_its_doi(reviews):
    withdrawn = article("20", "Statins in adults", doi="10.1000/20", retraction=RetractionStatus.RETRACTED)
    reviews.documents.by_pmid["20"] = SimpleNamespace(article=withdrawn)
    edit(reviews, records="TY  - JOUR\nTI  - Statins in adults\nDO  - 10.1000/20\nER  - \n")
    assert label(reviews, {"review": "statins"}, pmids=["20"])["added"] == 0
    [paper] = screen(reviews, {"review": "statins"})["papers"]
    assert (paper["paper"], paper["retraction"]) == ("doi:10.1000/20", "retracted")
    assert paper["url"].endswith("/20/")


def test_a_review_that_was_made_collects_from_a_topic_and_a_project_and_from_both_again(reviews):
    edit(reviews)
    documents = [ProjectDocument(Work("c", title="A paper", doi="10.1/c"), frozenset())]
    reviews.project_documents = SimpleNamespace(all=lambda _project: documents)
    given = {"review": "statins"}
    assert label(reviews, {**given, "query_key": "heart"}, collect=True)["added"] == 6
    assert label(reviews, {**given, "project": "lab/heart"}, collect=True)["added"] == 1
    assert label(reviews, given, collect=True)["known"] == 7
    assert label(reviews, {**given, "project": "lab/heart"})["error"]["code"] == "VALIDATION"
    assert screen(reviews, {**given, "query_key": "heart"})["error"]["code"] == "VALIDATION"


def test_a_review_searches_again_and_a_third_decision_settles_what_two_differ_about(reviews):
    edit(reviews)
    given = {"review": "statins"}
    assert label(reviews, given, term="heart[ti]")["added"] == 6
    assert label(reviews, given, collect=True)["added"] == 0
    label(reviews, given, caller=Caller("ann"), labels=decided("include", "1"))
    label(reviews, given, caller=Caller("bob"), labels=decided("exclude", "1"))
    third = label(reviews, given, caller=Caller("cem"), resolve=True, labels=decided("include", "1", "2"))
    assert third["labelled"] == 1
    assert third["warnings"] == ["1 of the papers need no third decision: screeners do not differ about them"]
    assert screen(reviews, given, show="report")["prisma"]["sought"] == 1
