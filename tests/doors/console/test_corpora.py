"""The page of what the corpus holds."""

from datetime import UTC, datetime

from bio_mcp.errors import IndexUnavailable, StoreFailed
from tests.doors.console.pages import Page, browser

PATH = "/corpora"


class Broken:
    """Backends whose port `name` fails."""

    def __init__(self, backends, name, failure):
        self._backends, self._name, self._failure = backends, name, failure

    def __getattr__(self, name):
        if name == self._name:
            raise self._failure
        return getattr(self._backends, name)


def test_the_page_says_how_much_the_corpus_holds(busy, look):
    figures = dict(zip(*[iter(look(PATH).texts("dt", "dd"))] * 2, strict=True))
    assert figures["Papers"] == f"{busy.documents.count():,}"
    assert figures["Passages"] == f"{busy.passages.count()[1]:,}"
    assert figures["Queries followed"] == "3"


def test_each_query_has_its_watermark_its_age_and_its_last_sync(busy, look, syncs):
    page = look(PATH)
    rows = {row[0]: row for row in page.rows() if len(row) == 5}
    assert rows["asthma"][1:4] == ["asthma[tiab]", str(busy.checkpoints.get("asthma").windows["edat"]), "1 day"]
    assert rows["newborns"][3:] == ["0 days", "running 1 minute ago"]
    assert rows["broken"][4].startswith("incomplete")
    assert f"/syncs/{syncs['asthma'].job_id}" in page.links


def test_what_each_day_brought_is_drawn_and_written(busy, look):
    page = look(PATH)
    today = datetime.now(UTC).date().isoformat()
    assert [today, f"{busy.documents.count():,}", "0"] in page.rows()
    assert any(f"{today}: " in text for _, _, text in page.all("desc"))


def test_papers_by_year_and_design_are_drawn_and_written(busy, look):
    page = look(PATH)
    shown = {(row[0], row[1]): row[2] for row in page.rows() if len(row) == 3}
    designs = ("no design named", "case report, review or opinion", "trial or observational study", "randomized trial",
               "systematic review or meta-analysis")  # fmt: skip
    for each in busy.passages.by_year():
        design = designs[0 if each.design is None else each.design + 1]
        assert shown[str(each.year or "unknown"), design] == f"{each.documents:,}"
    assert [text for _, _, text in page.all("li") if text in designs] == list(designs)


def test_what_a_store_that_fails_would_say_is_left_out_and_its_failure_reported(busy):
    page = Page(browser(Broken(busy, "passages", IndexUnavailable("The index is away."))).get(PATH))
    assert page.status == 200
    assert page.text("p", cls="note") == "The index is away."
    assert "asthma" in page.source
    assert "Papers by year" not in page.source
    assert "Papers by day" in page.source


def test_a_corpus_whose_papers_cannot_be_read_is_not_called_empty(busy):
    page = Page(browser(Broken(busy, "documents", StoreFailed("The store is away."))).get(PATH))
    assert page.text("p", cls="note") == "The store is away."
    assert page.all("p", cls="empty") == []
