"""exportPapers and export://{id}, called as every door calls them."""

import csv
import io
from datetime import date
from functools import cache
from itertools import islice

import pytest
import rispy

from bio_mcp.call import call, read
from bio_mcp.callers import ANONYMOUS, Caller
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import StoreFailed
from bio_mcp.exporting.formats import FORMATS, NAMES
from bio_mcp.exporting.selecting import Record
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import Found
from bio_mcp.ports.stores import ReviewRecord, ScreeningLabel, review_of_project, review_of_query
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.screening.collecting import Origin, collect, collect_project, record_id_of
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.exports import export_details, export_papers, exported_file, exported_part
from tests.doors.command_line import sample
from tests.support.corpus import Corpus, Over
from tests.support.retracting import plain_papers
from tests.support.sample_project import put
from tests.syncing.stored import documents_of

MANY = 210  # papers of two parts
NORTH, SOUTH = Caller("ann", tenant="north"), Caller("bob", tenant="south")


@cache
def records():
    return list(islice(sample(), MANY))


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path, day=date(2026, 1, 1)) as made:
        made.documents.put(documents_of(*records()))
        yield made


def exported(corpus, what=export_papers, seconds=60.0, caller=None, **arguments):
    outcome = call(what, {"format": "ris", **arguments}, corpus, deadline=Deadline(seconds), caller=caller)
    return outcome.body


def text_of(corpus, body, caller=None):
    """The file, part by part."""
    uri, parts = body["job_id"], range(1, body["file"]["parts"] + 1)
    return "".join(
        read(exported_part, {"id": uri, "part": str(each)}, corpus, caller=caller).body["text"] for each in parts
    )


def pmids(many=3):
    return [each.pmid for each in records()[:many]]


def test_papers_are_exported_in_the_order_in_which_they_were_named_each_once(corpus):
    wanted = [*reversed(pmids()), pmids()[0]]
    body = exported(corpus, pmids=wanted)
    assert (body["state"], body["papers"], body["expected"]) == ("complete", 3, 3)
    assert [each["accession_number"] for each in rispy.loads(text_of(corpus, body))] == wanted[:3]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_several_parts_is_what_all_its_papers_make_at_once(corpus, name):
    body = exported(corpus, format=name, pmids=pmids(MANY))
    form = FORMATS[name]
    whole = (
        form.head
        + form.between.join(form.written(Record(each), place) for place, each in enumerate(records(), 1))
        + form.tail
    )
    assert body["file"]["parts"] == 2
    assert text_of(corpus, body) == whole
    stored = corpus.jobs.get(body["job_id"]).cursor["file"]
    assert b"".join(corpus.blobs.stream(stored)).decode() == whole
    assert body["file"]["bytes"] == len(whole.encode())
    assert body["file"]["name"].endswith(form.suffix)


def test_what_is_nowhere_is_named_and_an_outage_of_pubmed_is_an_error_and_not_an_empty_file(corpus, ncbi):
    with Corpus(corpus.settings.home / "other", ncbi.base_url) as online:
        body = exported(Over(corpus, pubmed=online.pubmed), pmids=[pmids()[0], "999999999"])
    assert (body["papers"], body["absent"], body["missing"]) == (1, 1, ["999999999"])
    failed = exported(corpus, pmids=[pmids()[0], "999999999"])
    assert failed["error"]["details"]["retryable"]


def test_hits_of_a_question_are_exported_best_first(corpus):
    apply_records(records()[:30], corpus)
    article = records()[5]
    body = exported(corpus, query=article.title, limit=4, least_relevance=0)
    found = rispy.loads(text_of(corpus, body))
    assert (found[0]["accession_number"], len(found)) == (article.pmid, 4)


def test_a_question_has_the_papers_that_are_relevant_enough_and_says_how_many_it_leaves(corpus):
    apply_records(records()[:30], corpus)
    title = records()[5].title
    whole, some, best = (exported(corpus, query=title, least_relevance=each)["papers"] for each in (0, 0.1, 0.9))
    by_default = exported(corpus, query=title)
    assert whole == 30 > some >= best == 1
    assert (by_default["papers"], by_default["left_out"]) == (some, 30 - some)


@pytest.mark.parametrize("vague", ["foo", "what is the capital of france", "the best football team"])
def test_a_question_that_nothing_fits_has_no_paper_and_never_the_whole_corpus(corpus, vague):
    apply_records(records()[:30], corpus)
    body = exported(corpus, query=vague)
    assert (body["papers"], body["left_out"], text_of(corpus, body)) == (0, 30, "")
    assert "none of the 30 papers found has a relevance of 0.1 or more: the best has 0.0" in body["warnings"][-1]


def test_a_query_in_the_syntax_of_pubmed_has_every_paper_with_its_words(corpus):
    apply_records(records(), corpus)
    having = {each.pmid for each in records() if "covid-19" in abstract_text(each).casefold()}
    body = exported(corpus, query="covid-19[tiab] AND 2021[dp]")
    found = {each["accession_number"] for each in rispy.loads(text_of(corpus, body))}
    assert len(having & found) > 5
    assert "left_out" not in body or body["left_out"] == 0
    assert exported(corpus, query="covid-19[tiab] AND 2021[dp]", limit=2)["warnings"] == [
        f"{len(found)} papers match; the first 2 are taken"
    ]


def test_a_project_is_exported_with_papers_of_the_corpus_and_documents_that_are_nowhere_else(corpus):
    create_project("lab", Options(), corpus)
    known = next(each for each in records() if each.doi)
    works = [
        Work(f"doi:{known.doi}", title="Its title in the project", doi=known.doi),
        Work("sha256:ab", title="A thesis", authors=("van der Berg JP", "The Study Group"), year=2020, tags=("own",)),
        Work("pmid:999999999", title="Not in the corpus", pmid="999999999"),
    ]
    for work in works:
        corpus.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    found = {each["title"]: each for each in rispy.loads(text_of(corpus, exported(corpus, project="lab")))}
    assert len(found) == 3
    assert {each.get("accession_number") for each in found.values()} == {known.pmid, "999999999", None}
    assert found["A thesis"]["authors"] == ["van der Berg, J. P.", "The Study Group"]
    assert (found["A thesis"]["year"], found["A thesis"]["keywords"]) == ("2020", ["own"])


def test_a_document_that_pubmed_does_not_have_is_exported_with_its_abstract_and_what_that_states(corpus):
    project = create_project("lab", Options(), corpus).project
    work = Work("sha256:ab", title="A thesis")
    corpus.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    texts = {"Summary": "A total of 334 patients were randomized.", "Methods": "We asked them."}
    put(corpus, project.collection, [ProjectChunk(each, work, text, section=each) for each, text in texts.items()])
    [row] = csv.DictReader(io.StringIO(text_of(corpus, exported(corpus, project="lab", format="csv")), newline=""))
    assert (row["abstract"], row["participants"]) == (texts["Summary"], "334")


def test_an_export_without_papers_is_a_file_that_its_readers_take(corpus):
    create_project("empty", Options(), corpus)
    assert text_of(corpus, exported(corpus, project="empty", format="csl-json")).split() == ["[", "]"]


@pytest.mark.parametrize("given", [{}, {"pmids": ["1"], "query": "x"}, {"project": "p", "query": "x"}])
def test_exactly_one_selection_is_taken(corpus, given):
    assert "exactly one of" in exported(corpus, **given)["error"]["message"]


def test_a_project_that_does_not_exist_is_not_an_empty_file(corpus):
    assert exported(corpus, project="lba")["error"]["code"] == "NOT_FOUND"


def test_an_export_that_has_too_little_time_continues_and_its_result_is_the_same_file(corpus):
    begun = exported(corpus, seconds=0.0, pmids=pmids(MANY))
    assert begun["state"] == "continues"
    _, event = corpus.continuations.receive(60)
    assert event["arguments"]["job_id"] == begun["job_id"]
    done = call(export_papers, event["arguments"], corpus, unattended=True).body
    asked = exported(corpus, pmids=pmids(MANY))
    assert (done["state"], asked["state"], asked["job_id"]) == ("complete", "complete", begun["job_id"])
    assert asked["file"] == done["file"]
    assert len(rispy.loads(text_of(corpus, asked))) == MANY


class FailsAtPart:
    """Blobs that fail once, at a part."""

    def __init__(self, blobs, part):
        self._blobs, self._left = blobs, part

    def put(self, folder, content, suffix=""):
        self._left -= 1
        if self._left == 0:
            raise StoreFailed("the disk is full")
        return self._blobs.put(folder, content, suffix)

    def __getattr__(self, name):
        return getattr(self._blobs, name)


@pytest.mark.parametrize("part", [1, 2, 3])
def test_an_export_that_fails_anywhere_goes_on_there_and_makes_the_same_file(corpus, part):
    failed = exported(Over(corpus, blobs=FailsAtPart(corpus.blobs, part)), pmids=pmids(MANY))
    assert failed["error"]["code"] == "STORE"
    body = exported(corpus, pmids=pmids(MANY))
    assert body["job_id"] == failed["error"]["details"]["job_id"]
    assert [each["accession_number"] for each in rispy.loads(text_of(corpus, body))] == pmids(MANY)


def test_a_file_is_read_by_its_uri_and_one_of_several_parts_says_how(corpus):
    body = exported(corpus, pmids=pmids())
    whole = read(exported_file, {"id": body["job_id"]}, corpus).body
    assert body["file"]["uri"] == f"export://{body['job_id']}"
    assert whole == {"text": text_of(corpus, body), "mime_type": "application/x-research-info-systems"}
    many = exported(corpus, pmids=pmids(MANY))
    refused = read(exported_file, {"id": many["job_id"]}, corpus).body["error"]
    assert f"export://{many['job_id']}/1" in refused["message"]


@pytest.mark.parametrize("part", ["0", "2", "-1", "1e1", "x", "9" * 5_000])
def test_a_part_that_is_not_there_is_not_found(corpus, part):
    body = exported(corpus, pmids=pmids())
    assert read(exported_part, {"id": body["job_id"], "part": part}, corpus).body["error"]["code"] == "NOT_FOUND"


def test_no_job_of_another_kind_and_no_unfinished_export_is_read(corpus):
    begun = exported(corpus, seconds=0.0, pmids=pmids())
    assert "not complete" in read(exported_file, {"id": begun["job_id"]}, corpus).body["error"]["message"]
    job = corpus.jobs.get(begun["job_id"])
    job.job_id, job.kind = "sync_1", "sync"
    corpus.jobs.put(job)
    assert read(exported_file, {"id": "sync_1"}, corpus).body["error"]["code"] == "NOT_FOUND"


def test_a_tenant_reads_its_own_files_alone(corpus):
    body = exported(corpus, pmids=pmids(), caller=NORTH)
    assert text_of(corpus, body, NORTH).startswith("TY  - ")
    for stranger in (SOUTH, None):
        assert read(exported_file, {"id": body["job_id"]}, corpus, caller=stranger).body["error"]["code"] == "NOT_FOUND"


def test_what_a_review_decided_is_exported_with_what_it_was_about(corpus):
    now, review = corpus.now(), review_of_query("k")
    included, excluded, undecided, maybe = pmids(4)
    corpus.news.find("k", [Found(each, 1) for each in pmids(4)])
    corpus.news.set_whole("k")
    decided = [(included, "abstract", "include"), (excluded, "abstract", "include"), (maybe, "abstract", "maybe")]
    decided += [(excluded, "full_text", "exclude")]
    records = [ReviewRecord(each, "A paper") for each in pmids(4)]
    corpus.screenings.put(review, [*records, *(ScreeningLabel(*each, now) for each in decided)])
    rows = csv.DictReader(io.StringIO(text_of(corpus, exported(corpus, format="csv", query_key="k"))))
    wanted = {included: "1", excluded: "0", undecided: "", maybe: ""}
    assert {each["pmid"]: each["included"] for each in rows} == wanted
    plain = csv.DictReader(io.StringIO(text_of(corpus, exported(corpus, format="csv", pmids=pmids(4)))))
    assert {each["included"] for each in plain} == {""}


def test_what_a_review_decided_of_a_document_that_pubmed_does_not_have_is_exported_too(corpus):
    create_project("lab", Options(), corpus)
    work = Work("sha256:ab", title="A thesis", doi="10.1000/thesis")
    corpus.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    label = ScreeningLabel("doi:10.1000/thesis", "abstract", "include", corpus.now())
    corpus.screenings.put(review_of_project("lab"), [ReviewRecord(label.record_id, "A thesis"), label])
    assert "N1  - ASReview_relevant" in text_of(corpus, exported(corpus, project="lab"))


def test_a_review_is_exported_with_all_its_records_whichever_search_found_them(corpus, ncbi):
    """A followed query that found two, a second search that found three more, one of them in no corpus, and a record
    that PubMed does not have."""
    followed, searched, elsewhere = pmids(2), pmids(5), plain_papers(ncbi, 1)
    corpus.news.find("k", [Found(each, 1) for each in followed])
    corpus.news.set_whole("k")
    gone = ReviewRecord("999999999", "Withdrawn since", "Of an abstract.", 2019, "10.1000/gone")
    records_ = [ReviewRecord(each, "As it was") for each in (*searched, *elsewhere)]
    labels = [
        ScreeningLabel(searched[4], "abstract", "include", corpus.now()),
        ScreeningLabel(elsewhere[0], "abstract", "exclude", corpus.now(), "wrong population"),
        ScreeningLabel(gone.record_id, "abstract", "maybe", corpus.now()),
    ]
    corpus.screenings.put(review_of_query("k"), [*records_, gone, *labels])
    with Corpus(corpus.settings.home / "other", ncbi.base_url) as online:
        body = exported(Over(corpus, pubmed=online.pubmed), format="csv", query_key="k")
    rows = {each["pmid"]: each for each in csv.DictReader(io.StringIO(text_of(corpus, body)))}
    assert rows.keys() == {*searched, *elsewhere, gone.record_id}
    assert (body["papers"], body["reviewed"], body["warnings"]) == (7, 5, [])
    decided = {pmid: (row["included"], row["decision"], row["reason"]) for pmid, row in rows.items() if row["decision"]}
    assert decided == {
        searched[4]: ("1", "include", ""),
        elsewhere[0]: ("0", "exclude", "wrong population"),
        gone.record_id: ("", "maybe", ""),
    }
    assert rows[elsewhere[0]]["authors"]  # as PubMed has it, not as the review does
    assert [rows[gone.record_id][each] for each in ("title", "abstract", "year", "doi")] == [
        "Withdrawn since", "Of an abstract.", "2019", "10.1000/gone",
    ]  # fmt: skip


def test_a_review_is_exported_where_nothing_follows_its_key_and_where_pubmed_is_away(corpus):
    record, label = (
        ReviewRecord("999999999", "Elsewhere"),
        ScreeningLabel("999999999", "abstract", "include", corpus.now()),
    )
    corpus.screenings.put(review_of_query("mine"), [record, ReviewRecord(pmids()[0], "Here"), label])
    body = exported(corpus, query_key="mine")
    first, second = rispy.loads(text_of(corpus, body))
    assert (first["accession_number"], second["title"], second["notes"]) == (
        pmids()[0],
        "Elsewhere",
        ["ASReview_relevant", "Title and abstract: user: include"],
    )
    assert body["warnings"] == [
        "PubMed could not be asked, so records of the review that the corpus lacks have title, abstract, year and DOI "
        "alone"
    ]
    assert exported(corpus, query_key="nobody")["error"]["code"] == "NOT_FOUND"


def test_a_project_is_exported_with_the_papers_of_its_review_each_once(corpus):
    create_project("lab", Options(), corpus)
    known = next(each for each in records() if each.doi)
    works = [Work("sha256:ab", title="A thesis"), Work("sha256:cd", title="A preprint", doi="10.1000/p")]
    works.append(Work("sha256:ef", title="Of the corpus", doi=known.doi))
    for work in works:
        corpus.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    found = next(each for each in pmids() if each != known.pmid)
    review = review_of_project("lab")
    collect_project(review, "lab", corpus, NEVER)
    collect(review, [found, known.pmid], Origin("PubMed", "a term", 2), corpus, NEVER)
    decided = {record_id_of(works[0]): "exclude", "doi:10.1000/p": "maybe", found: "include"}
    corpus.screenings.put(
        review, [ScreeningLabel(name, "abstract", each, corpus.now()) for name, each in decided.items()]
    )
    rows = list(csv.DictReader(io.StringIO(text_of(corpus, body := exported(corpus, project="lab", format="csv")))))
    assert {each["pmid"] or each["title"]: each["decision"] for each in rows} == {
        "A thesis": "exclude", "A preprint": "maybe", known.pmid: "", found: "include",
    }  # fmt: skip
    assert (len(rows), body["reviewed"]) == (4, 1)


def test_who_comes_without_a_token_exports_a_thousand_papers_with_a_warning(corpus):
    corpus.news.find("k", [Found(str(number), 1) for number in range(1, 1_101)])
    corpus.news.set_whole("k")
    body = exported(corpus, query_key="k", caller=ANONYMOUS)
    assert (body["expected"], body["warnings"]) == (1_000, ["of 1,100 papers the file has the first 1,000"])
    assert exported(corpus, query_key="k")["expected"] == 1_100


def test_where_the_file_is_on_this_machine_is_told_to_its_user_alone(corpus):
    assert "url" not in exported(corpus, pmids=pmids())["file"]
    local = call(export_papers, {"format": "csv", "pmids": pmids()}, corpus, local=True).body
    assert local["file"]["url"].startswith("file://")


def test_where_files_have_an_address_it_comes_with_the_file_and_later_anew(corpus):
    blobs = Over(corpus.blobs, link=lambda key, name, _seconds: f"https://files.example.org/{key}?name={name}")
    stored = Over(corpus, blobs=blobs)
    file = exported(stored, pmids=pmids())["file"]
    details = read(export_details, {"id": file["uri"].removeprefix("export://")}, stored).body
    assert (details["url"], details["uri"]) == (file["url"], file["uri"])
    assert file["url"].startswith("https://files.example.org/exports/")
