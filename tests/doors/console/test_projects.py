"""The pages of projects."""

from dataclasses import replace

from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.ingesting.run import IngestCursor as Ingest
from tests.doors.console.busy import job_of, quiet_corpus
from tests.doors.console.pages import Page, browser
from tests.support.sample_project import NEWBORNS, PROJECT, RETRACTED


def test_each_project_has_its_size_and_a_page(look):
    page = look("/projects")
    assert [PROJECT, "3", "words and meaning"] in page.rows()
    assert f"/projects/{PROJECT}" in page.links


def test_a_project_lists_its_documents_by_title_with_what_pubmed_says_of_them(look):
    page = look(f"/projects/{PROJECT}")
    titles = [" ".join(text.split()) for _, _, text in page.all("h3")]
    assert titles == [f"{RETRACTED.title} Retracted", NEWBORNS.title]
    assert f"/papers/{NEWBORNS.pmid}" in page.links
    assert "de-Wahl Granelli A, Ostman-Smith I · 2007 · granelli2007 · 10.1111/j.1651-2227.2007.00439.x" in page.texts(
        "p"
    )
    assert "2 passages, 7 pages" in page.texts("p")
    assert "1 passage, read by character recognition" in page.texts("p")


def test_a_project_tells_how_its_documents_came_in_and_nothing_of_another(look):
    page = look(f"/projects/{PROJECT}")
    assert "2 read · 0 unchanged · 1 failed" in page.texts("p")
    assert "'scan.pdf': it has no text <i>at all</i>" in page.texts("p")
    assert "<i>" not in page.source
    assert "5 read" not in page.source


def test_a_running_ingest_shows_how_far_it_is():
    with quiet_corpus() as backends:
        cursor = Ingest(expected=30, written=8, unchanged=2)
        backends.jobs.put(job_of(backends, "ingest", f"{PROJECT} 0123", "running", 0.1, cursor=cursor.to_json()))
        page = Page(browser(backends).get(f"/projects/{PROJECT}"))
    assert page.all("progress")[0][1]["value"] == "10"
    assert "running 1 minute ago 10 of 30 documents" in page.texts("p")
    assert len(page.all("section", **{"hx-trigger": "every 3s"})) == 1


def test_a_project_is_reached_by_its_name_whatever_that_holds():
    with quiet_corpus() as backends:
        create_project("lab/heart-failure", Options(), backends)
        backends.projects.put(replace(backends.projects.get(PROJECT), project_id="a b/c?d#e"))
        client = browser(backends)
        links = [each for each in Page(client.get("/projects")).links if each.startswith("/projects/")]
        pages = [Page(client.get(each)) for each in links]
    assert [each.text("h1") for each in pages] == ["a b/c?d#e", PROJECT, "lab/heart-failure"]
    assert {each.status for each in pages} == {200}
    assert "No document was read into this project" in pages[-1].source
