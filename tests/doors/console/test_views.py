"""The pages of corpora, syncs, projects and evaluations, also as two tenants see them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bio_mcp.callers import Caller
from bio_mcp.doors.console.pages import POLICY
from bio_mcp.doors.console.rendering import shown
from bio_mcp.errors import IndexUnavailable, StoreFailed
from bio_mcp.evaluating.figures import Outcome
from bio_mcp.evaluating.run import EvaluationCursor as Evaluation
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.ingesting.run import IngestCursor as Ingest
from bio_mcp.literature.clock import instant
from bio_mcp.tenants import CallBackends
from tests.doors.console.busy import (
    EVALUATION,
    WARNINGS,
    add_calls,
    add_documents,
    add_evaluations,
    add_syncs,
    job_of,
    quiet_corpus,
)
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_routes import As
from tests.support.sample_project import NEWBORNS, PROJECT, RETRACTED, add_project

CORPORA = "/admin/corpora"


class Broken:
    """Backends whose port `name` fails."""

    def __init__(self, backends, name, failure):
        self._backends, self._name, self._failure = backends, name, failure

    def __getattr__(self, name):
        if name == self._name:
            raise self._failure
        return getattr(self._backends, name)


def test_the_page_says_how_much_the_corpus_holds(busy, look):
    figures = dict(zip(*[iter(look(CORPORA).texts("dt", "dd"))] * 2, strict=True))
    assert figures["Papers"] == f"{busy.documents.count():,}"
    assert figures["Passages"] == f"{busy.passages.count()[1]:,}"
    assert figures["Queries followed"] == "3"


def test_each_query_has_the_day_to_which_it_is_complete_and_its_last_sync(busy, look, syncs):
    page = look(CORPORA)
    rows = {row[0]: row for row in page.rows() if len(row) == 4}
    assert rows["asthma"][1:3] == ["asthma[tiab]", str(busy.checkpoints.get("asthma").windows["edat"])]
    assert rows["newborns"][3] == f"running {shown(instant(syncs['newborns'].updated))}"
    assert rows["broken"][3].startswith("incomplete")
    assert f"/admin/syncs/{syncs['asthma'].job_id}" in page.links


def test_what_each_day_brought_is_drawn_and_written(busy, look):
    page = look(CORPORA)
    today = datetime.now(UTC).date().isoformat()
    assert [today, f"{busy.documents.count():,}", "0"] in page.rows()
    assert any(f"{today}: " in text for _, _, text in page.all("desc"))


def test_papers_by_year_and_design_are_drawn_and_written(busy, look):
    page = look(CORPORA)
    shown = {(row[0], row[1]): row[2] for row in page.rows() if len(row) == 3}
    designs = ("no design named", "case report, review or opinion", "trial, observational study or consensus",
               "randomized trial", "systematic review, meta-analysis or guideline")  # fmt: skip
    for each in busy.passages.by_year():
        design = designs[0 if each.design is None else each.design + 1]
        assert shown[str(each.year or "unknown"), design] == f"{each.documents:,}"
    assert [text for _, _, text in page.all("li") if text in designs] == list(designs)


def test_what_a_store_that_fails_would_say_is_left_out_and_its_failure_reported(busy):
    page = Page(browser(Broken(busy, "passages", IndexUnavailable("The index is away."))).get(CORPORA))
    assert page.status == 200
    assert page.text("p", cls="note") == "The index is away."
    assert "asthma" in page.source
    assert "Papers by year" not in page.source
    assert "Papers by day" in page.source


def test_a_corpus_whose_papers_cannot_be_read_is_not_called_empty(busy):
    page = Page(browser(Broken(busy, "documents", StoreFailed("The store is away."))).get(CORPORA))
    assert page.text("p", cls="note") == "The store is away."
    assert page.all("p", cls="empty") == []


def card(page, name):
    """The text of the card whose heading begins so."""
    return next(" ".join(text.split()) for _, _, text in page.all("li") if " ".join(text.split()).startswith(name))


def test_the_newest_sync_comes_first_each_with_its_counts(look):
    page = look("/admin/syncs")
    assert [text.split()[0] for _, _, text in page.all("h2")] == ["newborns", "asthma", "broken"]
    assert "1,234 added · 60 revised · 7 unchanged" in card(page, "asthma complete")


def test_a_running_sync_has_a_bar_and_the_page_renews_itself_or_without_scripts_when_asked(look):
    page = look("/admin/syncs")
    [(_, bar, _)] = page.all("progress")
    assert (bar["value"], bar["max"], bar["aria-label"]) == ("100", "400", "Records of newborns")
    assert "100 of 400 records" in card(page, "newborns running")
    [(_, renewed, _)] = [each for each in page.all("div") if each[1].get("id") == "syncs"]
    assert (renewed["hx-trigger"], renewed["hx-select"], renewed["hx-get"]) == ("every 3s", "#content", "")
    assert page.text("noscript") == "See how far it is now"


def test_pages_on_which_nothing_moves_do_not_renew_themselves(look, syncs):
    page = look(f"/admin/syncs/{syncs['asthma'].job_id}")
    assert "hx-get" not in page.source
    assert page.all("noscript") == []


def test_what_went_wrong_is_reported_on_the_page_of_the_sync(look, syncs):
    page = look("/admin/syncs")
    assert "2 failed" in card(page, "broken incomplete")
    assert "NCBI did not answer" in card(page, "broken incomplete")
    path = f"/admin/syncs/{syncs['broken'].job_id}"
    assert path in page.links
    one = look(path)
    notes = [" ".join(text.split()) for _, _, text in one.all("p", cls="note")]
    assert notes == ["Its last run ended early: NCBI did not answer", *WARNINGS]
    assert "7, 12" in one.texts("p")
    assert "99" in one.texts("p")


def test_a_sync_that_is_silent_for_as_long_as_its_lease_was_interrupted(busy, look, syncs):
    stopped = busy.jobs.get(syncs["newborns"].job_id)
    stopped.updated = stopped.updated.replace(year=stopped.updated.year - 1)
    with quiet_corpus() as other:
        other.jobs.put(stopped)
        page = Page(browser(other).get("/admin/syncs"))
        assert card(page, "newborns interrupted")
        assert page.all("progress") == []


def test_each_project_has_its_size_and_a_page(look):
    page = look("/library")
    assert [PROJECT, "3", "words and meaning"] in page.rows()
    assert f"/library/{PROJECT}" in page.links


def test_a_project_lists_its_documents_by_title_with_what_pubmed_says_of_them(look):
    page = look(f"/library/{PROJECT}")
    titles = [" ".join(text.split()) for _, _, text in page.all("h3")]
    assert titles == [f"Retracted {RETRACTED.title}", NEWBORNS.title]
    assert f"/papers/{NEWBORNS.pmid}" in page.links
    assert "de-Wahl Granelli A, Ostman-Smith I · 2007 · granelli2007 · 10.1111/j.1651-2227.2007.00439.x" in page.texts(
        "p"
    )
    assert any(text.startswith("2 passages, 7 pages") for text in page.texts("p"))
    assert any(text.startswith("1 passage, read by character recognition") for text in page.texts("p"))
    assert "Missing authors, journal Edit" in page.texts("p")


def test_a_project_tells_how_its_documents_came_in_and_nothing_of_another(look):
    page = look(f"/library/{PROJECT}")
    assert any("Documents from elsewhere: 2 read, 0 unchanged, 1 failed" in text for text in page.texts("li"))
    assert "'scan.pdf': it has no text <i>at all</i>" in page.texts("small")
    assert "<i>" not in page.source
    assert "5 read" not in page.source


def test_a_running_ingest_shows_how_far_it_is():
    with quiet_corpus() as backends:
        cursor = Ingest(expected=30, written=8, unchanged=2)
        job = job_of(backends, "ingest", f"{PROJECT} 0123", "running", 0.1, cursor=cursor.to_json())
        backends.jobs.put(job)
        page = Page(browser(backends).get(f"/library/{PROJECT}"))
    assert page.all("progress")[0][1]["value"] == "10"
    line = f"Being read Documents from elsewhere 10 of 30 {shown(instant(job.updated))}"
    assert line in page.texts("li")
    assert len(page.all("div", **{"hx-trigger": "every 2s"})) == 1


def test_a_project_is_reached_by_its_name_whatever_that_holds():
    with quiet_corpus() as backends:
        create_project("lab/heart-failure", Options(), backends)
        backends.projects.put(replace(backends.projects.get(PROJECT), project_id="a b/c?d#e"))
        client = browser(backends)
        links = [each for each in Page(client.get("/library")).links if each.startswith("/library/")]
        pages = [Page(client.get(each)) for each in links]
    assert [each.text("h1") for each in pages] == ["a b/c?d#e", PROJECT, "lab/heart-failure"]
    assert {each.status for each in pages} == {200}
    assert "No document is here yet" in pages[-1].source


EVALUATIONS = "/admin/evaluation"


def test_each_figure_of_the_last_run_has_its_interval_and_how_it_moved(look):
    rows = {row[0]: row for row in look(EVALUATIONS).rows()}
    assert rows["R@10"][1:4] == ["0.900", "0.850 to 0.950", "+0.100, better"]
    assert rows["R@10"][4]
    assert rows["ECE"][3] == "same"
    assert rows["ECE"][4].endswith("(less is better)")


def test_the_history_is_drawn_for_each_figure(look):
    page = look(EVALUATIONS)
    descriptions = [text for _, _, text in page.all("desc")]
    assert any(": 0.800;" in text and text.endswith(": 0.900") for text in descriptions)
    assert "R@10, 2 runs" in page.texts("figcaption")


def test_the_report_of_each_run_is_linked_and_may_do_nothing(busy, client_of_busy, look):
    links = [each for each in look(EVALUATIONS).links if each.startswith("/admin/evaluation/reports/")]
    answers = [client_of_busy.get(each) for each in links]
    assert [each.text for each in answers] == ["<p>recall 0.9</p>", "<p>recall 0.8</p>"]
    assert {each.headers["content-security-policy"] for each in answers} == {POLICY}
    assert "script" not in POLICY
    assert {each.headers["content-type"] for each in answers} == {"text/html; charset=utf-8"}


def test_no_other_file_is_shown_as_a_report(busy, client_of_busy):
    key = busy.blobs.put("documents", b"of another folder", ".html")
    assert client_of_busy.get(f"/admin/evaluation/reports/{key.rpartition('/')[2]}").status_code == 404


def test_how_long_calls_took_is_drawn_and_written(busy, look):
    page = look(EVALUATIONS)
    [row] = [row for row in page.rows() if row[0] == "rag.search"]
    assert row[1] == "3"
    assert all(each.endswith(" ms") for each in row[2:])
    assert any(" ms: " in text or text.startswith("longer: ") for _, _, text in page.all("desc"))


def test_an_empty_history_and_an_empty_log_say_how_to_fill_them(nothing):
    texts = [" ".join(text.split()) for _, _, text in Page(nothing.get(EVALUATIONS)).all("p", cls="empty")]
    assert "questions whose answers are known" in texts[0]
    assert "keep no log" in texts[1]


def test_a_log_that_fails_leaves_the_figures(busy):
    page = Page(browser(Broken(busy, "calls", StoreFailed("The log is away."))).get(EVALUATIONS))
    assert page.text("p", cls="note") == "The log is away."
    assert "R@10" in page.source


def test_a_running_evaluation_shows_how_far_it_is_beside_the_figures_of_the_last():
    with quiet_corpus() as made:
        add_evaluations(made)
        running = job_of(made, EVALUATION, "smoke", "running", hours=0.1)
        last = Evaluation.from_json(made.jobs.latest(EVALUATION, "smoke").cursor)
        running.cursor = Evaluation(40, [Outcome(each, 1) for each in "12"], last.history).to_json()
        made.jobs.put(running)
        page = Page(browser(made).get(EVALUATIONS))
    assert page.text("h2") == "smoke running"
    assert "2 of 40 questions" in page.texts("p")
    assert page.all("progress")[0][1]["aria-label"] == "Questions of smoke"
    assert page.rows()[1][:2] == ["R@10", "0.900"]
    assert len([each for each in page.links if "/reports/" in each]) == 2


OWNER, STRANGER = (Caller(name, frozenset({"read"}), tenant=name) for name in ("north", "south"))
DEN = "den"


@pytest.fixture(scope="module")
def shared():
    """A corpus in which one tenant has a project, evaluations and calls, and another nothing."""
    with quiet_corpus() as made:
        own = CallBackends(made, OWNER)
        add_syncs(made)
        add_project(own, DEN)
        add_documents(own, DEN)
        add_evaluations(own)
        add_calls(made, caller=OWNER)
        yield made


@pytest.fixture(scope="module")
def seen(shared):
    """Fetches a page as somebody sees it."""
    clients = {caller: browser(shared, As(caller)) for caller in (OWNER, STRANGER)}
    return lambda caller, path: Page(clients[caller].get(path))


def test_a_tenant_sees_its_own_project_with_its_documents_and_ingests(seen):
    assert [DEN, "3", "words and meaning"] in seen(OWNER, "/library").rows()
    page = seen(OWNER, f"/library/{DEN}")
    assert NEWBORNS.title in page.texts("h3")
    assert any("2 read, 0 unchanged, 1 failed" in text for text in page.texts("li"))


def test_nobody_else_sees_that_there_is_one(seen):
    page = seen(STRANGER, "/library")
    assert page.all("table") == []
    assert DEN not in page.texts("td", "th", "a")
    assert seen(STRANGER, f"/library/{DEN}").status == 404
    assert seen(STRANGER, "/library/lab").status == 404


def test_evaluations_their_reports_and_calls_are_their_owners_alone(seen, shared):
    page = seen(OWNER, "/admin/evaluation")
    reports = [each for each in page.links if "/reports/" in each]
    assert [seen(OWNER, each).status for each in reports] == [200, 200]
    assert any(row[:2] == ["rag.search", "3"] for row in page.rows())
    other = seen(STRANGER, "/admin/evaluation")
    assert other.all("table") == other.all("svg") == []
    assert [seen(STRANGER, each).status for each in reports] == [404, 404]
    job = CallBackends(shared, OWNER).jobs.newest(EVALUATION, 1)[0]
    assert seen(STRANGER, f"/admin/syncs/{job.job_id}").status == 404


def test_the_corpus_and_its_syncs_are_everybodys(seen):
    for path in ("/admin/corpora", "/admin/syncs"):
        assert seen(STRANGER, path).rows() == seen(OWNER, path).rows()
        assert "newborns" in seen(STRANGER, path).source
