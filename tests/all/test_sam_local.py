"""Functions of the built template in containers of Lambda's image, by `sam local invoke`, over an emulator's stores."""

import json

import pytest

from tests.emulated.build import ROOT
from tests.sam_local.local import sam_local

pytestmark = pytest.mark.timeout(600)
PMID = "17727691"  # a record of the local NCBI


@pytest.fixture(scope="module")
def local():
    """One stack for all; what is missing to run it fails the tests."""
    with sam_local() as running:
        yield running


@pytest.fixture(scope="module")
def synced(local):
    """What sync_delta answers to its own event, about a record that there is."""
    event = local.event(ROOT / "events/sync_delta/pubmed_sync_delta.json")
    event["arguments"]["term"] = f"{PMID}[uid]"
    return local.invoke("sync_delta", event)


def test_sync_delta_reads_the_local_ncbi_and_embeds_what_it_finds(synced):
    assert (synced["state"], synced["inserted"], synced["warnings"]) == ("complete", 1, [])


def test_search_finds_what_sync_delta_brought(local, synced):
    event = local.event(ROOT / "events/search/rag_search.json")
    [found] = local.invoke("search", event)["results"]
    assert found["doc_id"] == f"pmid:{PMID}"
    assert found["snippet"]


def test_mcp_http_shakes_hands_with_who_has_a_token(local):
    answer = local.invoke("mcp_http", local.event(ROOT / "events/mcp_http/initialize.json"))
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["result"]["serverInfo"]["name"] == "bio-mcp"


def test_mcp_http_calls_a_function_of_the_emulator(local, synced):
    answer = local.invoke("mcp_http", local.event(ROOT / "events/mcp_http/tools_call.json"))
    result = json.loads(answer["body"])["result"]
    assert not result.get("isError")
    assert result["structuredContent"]["results"][0]["doc_id"] == f"pmid:{PMID}"


def test_mcp_http_refuses_who_has_none(local):
    event = json.loads((ROOT / "events/mcp_http/tools_list.json").read_text())
    assert local.invoke("mcp_http", event)["statusCode"] == 401
