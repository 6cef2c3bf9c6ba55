"""The pages of two tenants: what is of the corpus is everybody's, and all else its owner's alone."""

import pytest

from bio_mcp.callers import Caller
from bio_mcp.tenants import CallBackends
from tests.doors.console.busy import EVALUATION, add_calls, add_documents, add_evaluations, add_syncs, quiet_corpus
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_routes import As
from tests.support.sample_project import NEWBORNS, add_project

OWNER, STRANGER = (Caller(name, frozenset({"read"}), tenant=name) for name in ("north", "south"))
PROJECT = "den"


@pytest.fixture(scope="module")
def shared():
    """A corpus in which one tenant has a project, evaluations and calls, and another nothing."""
    with quiet_corpus() as made:
        own = CallBackends(made, OWNER)
        add_syncs(made)
        add_project(own, PROJECT)
        add_documents(own, PROJECT)
        add_evaluations(own)
        add_calls(made, caller=OWNER)
        yield made


@pytest.fixture(scope="module")
def seen(shared):
    """Fetches a page as somebody sees it."""
    clients = {caller: browser(shared, As(caller)) for caller in (OWNER, STRANGER)}
    return lambda caller, path: Page(clients[caller].get(path))


def test_a_tenant_sees_its_own_project_with_its_documents_and_ingests(seen):
    assert [PROJECT, "3", "words and meaning"] in seen(OWNER, "/projects").rows()
    page = seen(OWNER, f"/projects/{PROJECT}")
    assert NEWBORNS.title in page.texts("h3")
    assert "2 read · 0 unchanged · 1 failed" in page.texts("p")


def test_nobody_else_sees_that_there_is_one(seen):
    page = seen(STRANGER, "/projects")
    assert page.all("table") == []
    assert PROJECT not in page.source
    assert seen(STRANGER, f"/projects/{PROJECT}").status == 404
    assert seen(STRANGER, "/projects/lab").status == 404


def test_evaluations_their_reports_and_calls_are_their_owners_alone(seen, shared):
    page = seen(OWNER, "/evaluation")
    reports = [each for each in page.links if "/reports/" in each]
    assert [seen(OWNER, each).status for each in reports] == [200, 200]
    assert any(row[:2] == ["rag.search", "3"] for row in page.rows())
    other = seen(STRANGER, "/evaluation")
    assert other.all("table") == other.all("svg") == []
    assert [seen(STRANGER, each).status for each in reports] == [404, 404]
    job = CallBackends(shared, OWNER).jobs.newest(EVALUATION, 1)[0]
    assert seen(STRANGER, f"/syncs/{job.job_id}").status == 404


def test_the_corpus_and_its_syncs_are_everybodys(seen):
    for path in ("/corpora", "/syncs"):
        assert seen(STRANGER, path).rows() == seen(OWNER, path).rows()
        assert "newborns" in seen(STRANGER, path).source
