"""`bio-mcp kg contraindications`, at the command line."""

import json

import pytest

from bio_mcp.graph.records import to_record
from tests.sample_graph import EDGES, NODES


@pytest.fixture
def graph(cli, tmp_path):
    """The command line over the sample's graph."""
    path = tmp_path / "graph.jsonl"
    path.write_text("\n".join(json.dumps(to_record(each), ensure_ascii=False) for each in (*NODES, *EDGES)))
    assert cli("kg", "import", str(path)).code == 0
    return cli


def test_findings_are_shown_with_their_papers_sources_and_derivation(graph):
    ran = graph("kg", "contraindications", "Testwort")
    assert ran.code == 0
    assert "Testwort (herb): documented" in ran.shown
    assert "Pregnancy  low" in ran.shown
    assert "Source: made up for tests." in ran.shown
    assert "low: no more than PMID 31129916 (not in the corpus" in ran.shown


def test_what_is_not_documented_and_what_is_unknown_are_distinguished(graph):
    ran = graph("kg", "contraindications", "H3", "H9", "--formulation", "F1")
    assert "Plainleaf (herb): nothing documented" in ran.shown
    assert "H9 (herb): unknown" in ran.shown
    assert "Fictive Five (formulation): documented" in ran.shown
    assert "that is no finding that there is nothing" in ran.err


def test_an_id_of_the_other_kind_is_asked_back(graph):
    assert "or Fictive Five (formulation F1)?" in graph("kg", "contraindications", "F1").shown


def test_the_answer_of_the_tool_is_printed_as_json(graph):
    body = graph("kg", "contraindications", "H1", "--json").json
    assert [each["with_id"] for each in body["results"]] == ["X1", "H2", "D1"]


def test_no_entity_is_a_mistake(graph):
    ran = graph("kg", "contraindications")
    assert (ran.code, "give at least one id" in ran.err) == (2, True)
