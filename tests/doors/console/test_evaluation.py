"""The page of evaluations, and their reports."""

from bio_mcp.doors.console.pages import POLICY
from bio_mcp.errors import StoreFailed
from bio_mcp.evaluating.figures import Outcome
from bio_mcp.evaluating.run import EvaluationCursor as Evaluation
from tests.doors.console.busy import EVALUATION, add_evaluations, job_of, quiet_corpus
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_corpora import Broken

PATH = "/evaluation"


def test_each_figure_of_the_last_run_has_its_interval_and_how_it_moved(look):
    rows = {row[0]: row for row in look(PATH).rows()}
    assert rows["R@10"][1:4] == ["0.900", "0.850 to 0.950", "+0.100, better"]
    assert rows["R@10"][4]
    assert rows["ECE"][3] == "same"
    assert rows["ECE"][4].endswith("(less is better)")


def test_the_history_is_drawn_for_each_figure(look):
    page = look(PATH)
    descriptions = [text for _, _, text in page.all("desc")]
    assert any(": 0.800;" in text and text.endswith(": 0.900") for text in descriptions)
    assert "R@10, 2 runs" in page.texts("figcaption")


def test_the_report_of_each_run_is_linked_and_may_do_nothing(busy, client_of_busy, look):
    links = [each for each in look(PATH).links if each.startswith("/evaluation/reports/")]
    answers = [client_of_busy.get(each) for each in links]
    assert [each.text for each in answers] == ["<p>recall 0.9</p>", "<p>recall 0.8</p>"]
    assert {each.headers["content-security-policy"] for each in answers} == {POLICY}
    assert "script" not in POLICY
    assert {each.headers["content-type"] for each in answers} == {"text/html; charset=utf-8"}


def test_no_other_file_is_shown_as_a_report(busy, client_of_busy):
    key = busy.blobs.put("documents", b"of another folder", ".html")
    assert client_of_busy.get(f"/evaluation/reports/{key.rpartition('/')[2]}").status_code == 404


def test_how_long_calls_took_is_drawn_and_written(busy, look):
    page = look(PATH)
    [row] = [row for row in page.rows() if row[0] == "rag.search"]
    assert row[1] == "3"
    assert all(each.endswith(" ms") for each in row[2:])
    assert any(text.startswith("up to") or text.startswith("longer") for _, _, text in page.all("desc"))


def test_an_empty_history_and_an_empty_log_say_how_to_fill_them(nothing):
    texts = [" ".join(text.split()) for _, _, text in Page(nothing.get(PATH)).all("p", cls="empty")]
    assert "bio-mcp eval run" in texts[0]
    assert "BIO_MCP_CALLS_DAYS" in texts[1]


def test_a_log_that_fails_leaves_the_figures(busy):
    page = Page(browser(Broken(busy, "calls", StoreFailed("The log is away."))).get(PATH))
    assert page.text("p", cls="note") == "The log is away."
    assert "R@10" in page.source


def test_a_running_evaluation_shows_how_far_it_is_beside_the_figures_of_the_last():
    with quiet_corpus() as made:
        add_evaluations(made)
        running = job_of(made, EVALUATION, "smoke", "running", hours=0.1)
        last = Evaluation.from_json(made.jobs.latest(EVALUATION, "smoke").cursor)
        running.cursor = Evaluation(40, [Outcome(each, 1) for each in "12"], last.history).to_json()
        made.jobs.put(running)
        page = Page(browser(made).get(PATH))
    assert page.text("h2") == "smoke running"
    assert "2 of 40 questions" in page.texts("p")
    assert page.all("progress")[0][1]["aria-label"] == "Questions of smoke"
    assert page.rows()[1][:2] == ["R@10", "0.900"]
    assert len([each for each in page.links if "/reports/" in each]) == 2
