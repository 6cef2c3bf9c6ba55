"""Which services outside are asked, how, and that nobody else is; which library of Zotero is read."""

import socket
from contextlib import closing
from types import SimpleNamespace

import pytest

from bio_mcp.adapters.zotero import LocalLibrary, WebLibrary
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, NcbiFailed, UpstreamFailed
from bio_mcp.health import FAIL, OK
from bio_mcp.ports.models import Generated
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.services import scholarly_checks, upstreams
from tests.doors.auth.issuer import publishing
from tests.doors.auth.minting import jwk
from tests.support.scholarly_server.server import Fault
from tests.support.scholarly_server.shapes import copy, crossref_work, epmc_record, icite_paper, unpaywall_paper
from tests.support.zotero_server.library import Library
from tests.support.zotero_server.server import KEY, WEB, ZOTERO_7, serving
from tests.support.zotero_server.server import Fault as ZoteroFault


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


class Services:
    """A converter of ids, a language model and a reranker that answer, or are away."""

    def __init__(self, fingerprint, away=False):
        self.fingerprint, self.away = fingerprint, away

    def convert(self, ids, kind, *, deadline):
        if self.away:
            raise NcbiFailed("NCBI does not answer")
        assert (kind, deadline.remaining > 0) == ("pmcid", True)
        return {each: object() for each in ids}

    def generate(self, question, passages, _deadline):
        if self.away:
            raise UpstreamFailed("the model does not answer")
        return Generated(f"{question} {passages[0]} [1]")

    def scores(self, question, passages, deadline):
        assert question
        assert deadline.remaining > 0
        return [0.123456 for _ in passages]


def asked(settings=None, away=False):
    given = settings or Settings(literature_sources=("none",))
    model, reranker = Services("openai/m/1", away), Services("tei/m/host")
    own = SimpleNamespace(settings=given, uncached_lookup=model, language_model=model, reranker=reranker)
    return {each.check: each for each in upstreams(own)}


@pytest.fixture
def away():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def test_only_what_is_configured_is_asked():
    assert {name: each.state for name, each in asked().items()} == {"NCBI's ID converter": OK}


@pytest.mark.parametrize(
    ("setting", "check", "says"),
    [
        ({"llm": "openai"}, "language model", "openai/m/1 answers with 51 characters"),
        ({"reranker": "tei"}, "reranker", "tei/m/host answers with a score of 0.123"),
    ],
)
def test_a_model_answers(setting, check, says):
    found = asked(Settings(literature_sources=("none",), **setting))[check]
    assert (found.state, found.found) == (OK, says)


def test_literature_services_that_are_set_wrongly_are_a_finding_and_the_others_are_asked():
    found = asked(Settings(literature_sources=("sci-hub",)))
    assert found["NCBI's ID converter"].state == OK
    assert (found["literature services"].state, "sci-hub" in found["literature services"].found) == (FAIL, True)


def test_each_that_is_away_is_named_without_its_address(away):
    settings = Settings(literature_sources=("none",), llm="openai", auth_jwks_url=away, otlp_endpoint=away)
    found = asked(settings, away=True)
    assert [each.state for each in found.values()] == [FAIL] * 4
    assert found["language model"].found == "the model does not answer"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in found["OpenTelemetry collector"].found
    assert "127.0.0.1" not in str(found)


def test_what_answers_is_in_order():
    with publishing(jwk()) as published:
        found = asked(Settings(literature_sources=("none",), auth_jwks_url=published.url, otlp_endpoint=published.url))
    assert [each.state for each in found.values()] == [OK] * 3
    assert published.asked == 2


HERE = "http://127.0.0.1:23119/api"


def made(tmp_path, **settings):
    return closing(Embedded(Settings(home=tmp_path / "home", **settings)))


@pytest.mark.parametrize(
    ("settings", "kind", "library"),
    [
        ({"zotero_library_id": "475425", "zotero_api_key": KEY}, WebLibrary, "users/475425"),
        ({"zotero_library_id": "2", "zotero_library_type": "group"}, WebLibrary, "groups/2"),
        ({"zotero_api_url": "https://zotero.example.org", "zotero_library_id": "1"}, WebLibrary, "users/1"),
        ({"zotero_api_url": "http://127.0.0.1:9", "zotero_library_id": "1"}, WebLibrary, "users/1"),
        ({"zotero_api_url": HERE}, LocalLibrary, "users/0"),
        ({"zotero_api_url": f"{HERE}/", "zotero_library_id": "475425"}, LocalLibrary, "users/475425"),
        ({"zotero_api_url": HERE, "zotero_data_dir": "/data"}, LocalLibrary, "users/0"),
        ({"zotero_data_dir": "/data", "zotero_library_id": "1", "zotero_api_key": KEY}, WebLibrary, "users/1"),
    ],
)
def test_the_settings_choose_the_way(tmp_path, settings, kind, library):
    with made(tmp_path, **settings) as backends:
        assert type(backends.zotero) is kind
        assert backends.zotero.library_id == library


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({}, "ZOTERO_LIBRARY_ID and ZOTERO_API_KEY.*ZOTERO_API_URL"),
        ({"zotero_data_dir": "/data"}, "ZOTERO_LIBRARY_ID and ZOTERO_API_KEY.*ZOTERO_API_URL"),
        ({"zotero_api_url": "https://zotero.example.org"}, "ZOTERO_LIBRARY_ID is not set"),
        ({"zotero_library_id": "me"}, "ZOTERO_LIBRARY_ID is not the number"),
        ({"zotero_api_url": HERE, "zotero_library_type": "group"}, "ZOTERO_LIBRARY_ID is not the number"),
    ],
)
def test_what_is_missing_is_named(tmp_path, settings, missing):
    with made(tmp_path, **settings) as backends, pytest.raises(Misconfigured, match=missing):
        backends.zotero  # noqa: B018  it is made when it is asked for


def test_the_key_goes_to_the_server_and_no_key_to_a_zotero_that_runs_here(tmp_path):
    library = Library()
    library.add_collection("Heart failure")
    for flavour, key in ((WEB, KEY), (ZOTERO_7, None)):
        with serving(library, flavour) as server:
            settings = {"zotero_api_url": server.url, "zotero_library_id": "475425", "zotero_api_key": KEY}
            with made(tmp_path, **settings) as backends:
                assert len(backends.zotero.collections()) == 1
            assert [each.key for each in server.requests] == [key]


def checked(backends):
    return [each for each in backends.checks() if each.check == "Zotero"]


def test_doctor_says_whether_the_library_can_be_read_where_there_is_one(tmp_path):
    library = Library()
    library.add_collection("Heart failure")
    with (
        serving(library, ZOTERO_7) as server,
        made(tmp_path, zotero_api_url=server.url, zotero_library_id="475425") as backends,
    ):
        [finding] = checked(backends)
        assert (finding.state, finding.found) == ("ok", "users/475425, 1 collections")
        server.faults = [ZoteroFault(times=99, status=403)]
        [finding] = checked(backends)
        assert (finding.state, "ZOTERO_API_KEY" in finding.found) == ("warn", True)
    with made(tmp_path) as backends:
        assert checked(backends) == []
