"""The events of the lookup, over the local NCBI that `make sam-local` has."""

import json

import pytest

from bio_mcp.catalog import TOOLS
from scripts.docs import ROOT
from tests.sam_local.local import FILES
from tests.support.eutils_server.client import running
from tests.tools.live import LiveDesk


@pytest.fixture(scope="module")
def at():
    with running(FILES) as ncbi:
        made = LiveDesk(ncbi)
        yield made
        made.close()


@pytest.mark.parametrize("path", sorted((ROOT / "events/lookup").glob("*.json")), ids=lambda path: path.stem)
def test_an_event_of_the_lookup_finds_what_it_asks_for(at, path):
    event = json.loads(path.read_text())
    answer = at.ask(TOOLS[event["tool"]], **event["arguments"])
    assert [name for name in TOOLS[event["tool"]].output_schema["required"] if not answer[name]] == []
