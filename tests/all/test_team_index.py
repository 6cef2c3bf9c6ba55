"""An embedded corpus with its index in a real OpenSearch, as compose.yaml sets it up."""

from contextlib import closing
from uuid import uuid4

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.wiring.embedded import Embedded
from tests.support.sample_corpus import articles


@pytest.fixture
def team(opensearch, tmp_path):
    """The backends of a team's endpoint."""
    name = f"team-{uuid4().hex[:8]}"
    settings = Settings(home=tmp_path, opensearch_url=opensearch.url, opensearch_service="none", index_name=name)
    with closing(Embedded(settings)) as backends:
        yield backends


def ask(team, tool, **arguments):
    outcome = call(TOOLS[tool], arguments, team, local=True)
    assert not outcome.failed, outcome.body
    return outcome.body


def test_papers_are_found_in_the_index_and_read_from_the_file(team):
    apply_records(iter(articles()), team)
    [hit, *_] = ask(team, "rag.search", query="acupuncture against migraine")["results"]
    assert ask(team, "rag.get", doc_id=hit["doc_id"])["doc_id"] == hit["doc_id"]
    assert type(team.indexes).__name__ == "OpenSearchIndexes"


def test_the_indices_of_projects_are_there_too(team):
    team.collections.create("proj-team", "model", 384)
    assert team.collections.model("proj-team") == ("model", 384)
    assert team.collections.inspect().found.startswith("1 projects")
    assert team.collections.drop("proj-team")
