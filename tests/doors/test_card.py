"""The server card and the catalog that leads to it."""

import re

import pytest
from mcp_types import SERVER_INFO_META_KEY

from bio_mcp.doors.mcp.http import CARD, CARD_TYPE, CATALOG, WELL_KNOWN_CARD
from tests.doors.wire import post, request

FIELDS = {"$schema", "name", "version", "title", "description", "remotes"}


@pytest.mark.parametrize("path", [CARD, WELL_KNOWN_CARD])
def test_the_card_says_what_a_client_sees_once_it_has_connected(base, url, path):
    card = request("GET", base + path).json()
    discovered = post(url, "server/discover").json()["result"]
    assert set(card) == FIELDS
    server = discovered["_meta"][SERVER_INFO_META_KEY]
    assert (card["version"], card["title"]) == (server["version"], server["title"])
    [remote] = card["remotes"]
    assert (remote["type"], remote["url"].partition("://")[2]) == ("streamable-http", url.partition("://")[2])
    assert set(discovered["supportedVersions"]) <= set(remote["supportedProtocolVersions"])


def test_its_fields_have_the_form_that_the_proposal_gives_them(base):
    card = request("GET", base + CARD).json()
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", card["name"])
    assert len(card["description"]) <= 100
    assert card["$schema"] == "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def test_the_catalog_leads_to_the_card(base):
    answer = request("GET", base + CATALOG)
    [entry] = answer.json()["entries"]
    assert answer.headers["content-type"] == "application/ai-catalog+json"
    assert entry["type"] == CARD_TYPE
    assert re.fullmatch(r"urn:air:127\.0\.0\.1:mcp:bio-mcp", entry["identifier"])
    assert entry["url"].endswith(base.partition("://")[2] + CARD)


@pytest.mark.parametrize("path", [CARD, WELL_KNOWN_CARD, CATALOG])
def test_a_page_of_any_origin_may_read_it_and_store_it(base, path):
    answer = request("GET", base + path, headers={"origin": "https://elsewhere.example"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    again = request("GET", base + path, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", [CARD, CATALOG])
def test_no_other_host_is_repeated(base, path):
    answer = request("GET", base + path, headers={"host": "evil.example"})
    assert (answer.status_code, "evil" in answer.text) == (421, False)
