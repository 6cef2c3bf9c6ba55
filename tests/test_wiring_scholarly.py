"""Which services about papers are asked, how, and that nobody else is."""

from contextlib import closing

import pytest

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, UpstreamFailed
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.services import scholarly_checks
from tests.support.scholarly_server.server import Fault
from tests.support.scholarly_server.shapes import copy, crossref_work, epmc_record, icite_paper, unpaywall_paper


@pytest.fixture
def server(scholarly):
    return scholarly


@pytest.fixture
def backends(server, tmp_path):
    made = []

    def make(**settings):
        made.append(Embedded(Settings(home=tmp_path, **server.settings, **settings)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_each_answer_is_cached_and_each_service_is_sent_what_names_the_caller(backends, server):
    server.papers["7"], server.works["10.1000/a"] = icite_paper(7), crossref_work("10.1000/a")
    made = backends(sources_email="a@example.org", ncbi_tool="our-tool")
    for _ in range(2):
        assert made.metrics.of(["7"], deadline=NEVER)["7"].title == "Paper 7"
        assert made.notices.of(["10.1000/a"], deadline=NEVER)["10.1000/a"].title == "The work 10.1000/a"
    icite, crossref = server.requests
    assert {icite.user_agent, crossref.user_agent} == {"our-tool"}
    assert "mailto" not in icite.parameters
    assert crossref.parameters["mailto"] == "a@example.org"


def test_without_a_cache_they_are_asked_each_time(backends, server):
    made = backends(cache="off")
    for _ in range(2):
        assert made.metrics.of(["7"], deadline=NEVER) == {}
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("sources", "port"), [(("crossref",), "metrics"), (("icite",), "notices"), (("none",), "metrics")]
)
def test_a_service_that_is_left_out_is_not_asked(backends, server, sources, port):
    with pytest.raises(Misconfigured, match="is not asked here; BIO_MCP_SOURCES names"):
        getattr(backends(literature_sources=sources), port)
    assert server.requests == []


def test_a_service_of_no_known_name_is_a_wrong_setting(backends):
    with pytest.raises(Misconfigured, match="BIO_MCP_SOURCES names 'sci-hub'; it takes none, or some of icite"):
        backends(literature_sources=("icite", "sci-hub")).metrics  # noqa: B018  it is made when it is asked for


def test_the_doctor_asks_each_that_may_be_asked_past_the_cache(backends, server):
    server.papers["27599104"] = icite_paper(27599104)
    backends().metrics.of(["27599104"], deadline=NEVER)
    server.faults += [Fault("crossref", status=400)]
    asked = scholarly_checks(backends())
    assert asked["NIH iCite"]().found == "answers; it knows 1 of 1 paper"
    with pytest.raises(UpstreamFailed, match="HTTP 400"):
        asked["Crossref"]()
    assert len(server.requests) == 3
    assert list(asked) == ["NIH iCite", "Crossref", "Europe PMC"]
    assert list(scholarly_checks(backends(sources_email="a@b")))[3:] == ["Unpaywall"]
    assert list(scholarly_checks(backends(literature_sources=("crossref",)))) == ["Crossref"]
    assert scholarly_checks(backends(literature_sources=("none",))) == {}


def test_europe_pmc_and_unpaywall_are_asked_where_they_are_and_their_answers_cached(backends, server):
    server.records, server.copies["10.1000/a"] = (
        [epmc_record("MED", "7")],
        unpaywall_paper("10.1000/a", copy("https://a")),
    )
    made = backends(sources_email="a@example.org")
    for _ in range(2):
        assert made.europe_pmc.articles(["7"], deadline=NEVER)["7"].id == "7"
        assert made.open_access.copies("10.1000/a", deadline=NEVER).copies[0].url == "https://a"
    europe_pmc, unpaywall = server.requests
    assert "email" not in europe_pmc.parameters
    assert unpaywall.parameters == {"email": "a@example.org"}


def test_unpaywall_is_not_asked_without_an_email(backends, server):
    with pytest.raises(Misconfigured, match="set BIO_MCP_SOURCES_EMAIL"):
        backends().open_access  # noqa: B018  it is made when it is asked for
    assert server.requests == []


def test_two_processes_share_the_pace(server, tmp_path):
    settings = Settings(home=tmp_path, cache="off", **server.settings)
    with closing(Embedded(settings)) as one, closing(Embedded(settings)) as other:
        one.metrics.of(["7"], deadline=NEVER)
        with pytest.raises(DeadlineExceeded, match="NIH iCite"):
            other.metrics.of(["7"], deadline=Deadline(0.1))
