"""The pages of syncs."""

from tests.doors.console.busy import WARNINGS, quiet_corpus
from tests.doors.console.pages import Page, browser


def card(page, name):
    """The text of the card whose heading begins so."""
    return next(" ".join(text.split()) for _, _, text in page.all("li") if " ".join(text.split()).startswith(name))


def test_the_newest_sync_comes_first_each_with_its_counts(look):
    page = look("/syncs")
    assert [text.split()[0] for _, _, text in page.all("h2")] == ["newborns", "asthma", "broken"]
    assert "1,234 added · 60 revised · 7 unchanged" in card(page, "asthma complete")


def test_a_running_sync_has_a_bar_and_the_page_renews_itself_or_without_scripts_when_asked(look):
    page = look("/syncs")
    [(_, bar, _)] = page.all("progress")
    assert (bar["value"], bar["max"], bar["aria-label"]) == ("100", "400", "Records of newborns")
    assert "100 of 400 records" in card(page, "newborns running")
    [(_, renewed, _)] = [each for each in page.all("div") if each[1].get("id") == "syncs"]
    assert (renewed["hx-trigger"], renewed["hx-select"], renewed["hx-get"]) == ("every 3s", "#content", "")
    assert page.text("noscript") == "See how far it is now"


def test_pages_on_which_nothing_moves_do_not_renew_themselves(look, syncs):
    page = look(f"/syncs/{syncs['asthma'].job_id}")
    assert "hx-get" not in page.source
    assert page.all("noscript") == []


def test_what_went_wrong_is_reported_on_the_page_of_the_sync(look, syncs):
    page = look("/syncs")
    assert "2 failed" in card(page, "broken incomplete")
    assert "NCBI did not answer" in card(page, "broken incomplete")
    path = f"/syncs/{syncs['broken'].job_id}"
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
        page = Page(browser(other).get("/syncs"))
        assert card(page, "newborns interrupted")
        assert page.all("progress") == []
