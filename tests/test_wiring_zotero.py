"""Which library of Zotero the settings name, and how it is read."""

from contextlib import closing

import pytest

from bio_mcp.adapters.zotero import LocalLibrary, WebLibrary
from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.support.zotero_server.library import Library
from tests.support.zotero_server.server import KEY, WEB, ZOTERO_7, Fault, serving

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
        server.faults = [Fault(times=99, status=403)]
        [finding] = checked(backends)
        assert (finding.state, "ZOTERO_API_KEY" in finding.found) == ("warn", True)
    with made(tmp_path) as backends:
        assert checked(backends) == []
