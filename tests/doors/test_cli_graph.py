"""`bio-mcp kg`: a graph imported, shown and walked at the command line."""

import json
import re
from collections import Counter

import pytest

from bio_mcp.graph.nodes import to_record
from bio_mcp.literature.records import Article, RetractionStatus
from tests.support.sample_graph import write_graph
from tests.support.small_graph import EDGES, NODES


@pytest.fixture
def graph(cli, tmp_path):
    """The command line over the small graph."""
    path = tmp_path / "small.jsonl"
    path.write_text("\n".join(json.dumps(to_record(each), ensure_ascii=False) for each in (*NODES, *EDGES)))
    cli.file = str(path)
    assert cli("kg", "import", cli.file).code == 0
    return cli


def test_a_file_is_imported_once(graph):
    ran = graph("kg", "import", graph.file)
    assert ran.code == 0
    assert "9 nodes, 9 edges; the graph did not change." in ran.shown
    assert "The graph holds 9 nodes and 9 edges." in ran.shown
    again = graph("kg", "import", graph.file, "--json").json
    assert (again["file"], again["nodes"], again["edges"], again["changed"]) == ("small.jsonl", 9, 9, False)
    assert again["holds"] == Counter(each.type for each in (*NODES, *EDGES))


def test_the_bundled_sample_is_walked_at_once_by_thai_english_and_latin_names(cli):
    ran = cli("kg", "import", "--sample", "--if-empty")
    assert "723 nodes, 519 edges." in ran.shown
    for name in ("ขมิ้นชัน", "turmeric", "CURCUMA LONGA"):
        assert (
            "Turmeric has constituent turmerone [1] acts on Choleretic [1]" in cli("kg", "paths", *name.split()).shown
        )
    again = cli("kg", "import", "--sample", "--if-empty", "--json").json
    assert (again["nodes"], again["changed"]) == (0, False)


def test_a_wrong_line_is_named_and_nothing_is_imported(cli, tmp_path):
    path = tmp_path / "wrong.jsonl"
    path.write_text('{"node": "herb", "id": "H1", "names": {"en": "Ginger"}}\n{"node": "plant"}\n')
    ran = cli("kg", "import", str(path))
    assert ran.code == 2
    assert "error: Line 2: 'plant' is no node type" in ran.err
    assert "Nothing was imported." in ran.said
    assert cli("kg", "import", str(path), "--json").json["error"]["details"]["problems"][0]["line"] == 2
    assert cli("kg", "show", "H1").code == 1


@pytest.mark.parametrize("argv", [[], ["x.jsonl", "--sample"]])
def test_either_a_file_or_the_sample_is_imported(cli, tmp_path, monkeypatch, argv):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").touch()
    ran = cli("kg", "import", *argv)
    assert ran.code == 2
    assert "Give the file to import, or --sample." in ran.err


def test_a_node_is_shown_with_its_edges_their_sources_and_papers(graph):
    shown = graph("kg", "show", "diferuloylmethane").shown
    for line in (
        "id        C9",
        "names     en Curcumin",
        "synonyms  Diferuloylmethane",
        "edge ^has_constituent; type herb; sources A flora",
        "edge treats; type indication",
        "PMID 17727691, It helps.",
        "A review",
    ):
        assert line in shown


def test_a_retracted_paper_of_an_edge_is_a_warning(graph):
    graph.add(Article(pmid="17727691", retraction=RetractionStatus.RETRACTED))
    assert "warning: PMID 17727691 was retracted: say so where you cite it." in graph("kg", "show", "C9").err
    ran = graph("kg", "paths", "C9")
    assert "Curcumin treats Dyspepsia [retracted]" in ran.shown
    assert "PMID 17727691 was retracted" in ran.err


def test_an_ambiguous_name_lists_its_candidates(graph):
    ran = graph("kg", "show", "ginger")
    assert ran.code == 1
    assert "D2 (drug Ginger extract), H2 (herb Ginger)" in ran.said


def test_paths_are_shown_a_line_each_with_the_numbers_of_their_sources(graph):
    paths, sources = graph("kg", "paths", "Zingiber", "officinale").shown.split("\n\n")
    assert [re.sub(r" \[\d\]", "", each) for each in paths.splitlines()] == [
        "Ginger has constituent 6-Gingerol treats Nausea",
        "Ginger has constituent Curcumin treats Dyspepsia",
        "Ginger treats Nausea",
    ]
    assert set(re.findall(r"\[\d\]", paths)) == set(re.findall(r"(?m)^\[\d\](?= \w)", sources))


def test_paths_take_a_pattern_and_every_filter(graph):
    def path(*arguments: str) -> str:
        return re.sub(r" \[\d\]", "", graph("kg", "paths", *arguments).shown.partition("\n\n")[0])

    assert path("I05", "--pattern", "^treats>herb") == "Dyspepsia ← treats Turmeric"
    asked = ["H2", "--pattern", "herb>constituent>indication"]
    assert path(*asked, "--icd", "K30") == "Ginger has constituent Curcumin treats Dyspepsia"
    assert path(*asked, "--to", "nausea") == "Ginger has constituent 6-Gingerol treats Nausea"
    assert path("H2", "--edges", "treats") == "Ginger treats Nausea"
    assert path("H2", "--max-depth", "1", "--nodes", "indication") == "Ginger treats Nausea"
    assert "No path fits." in graph("kg", "paths", "H2", "--evidence").shown


def test_a_wrong_pattern_names_the_option(graph):
    ran = graph("kg", "paths", "H2", "--pattern", "plant")
    assert ran.code == 2
    assert "--pattern: 'plant' is neither a node type" in ran.err
    assert (
        "at most 1 are asked for" in graph("kg", "paths", "H2", "--pattern", "treats>^treats", "--max-depth", "1").err
    )


@pytest.fixture
def herbs(cli, tmp_path):
    """The command line over the sample's herbs."""
    assert cli("kg", "import", str(write_graph(tmp_path / "graph.jsonl"))).code == 0
    return cli


def test_findings_are_shown_with_their_papers_sources_and_derivation(herbs):
    ran = herbs("kg", "contraindications", "Testwort")
    assert ran.code == 0
    assert "Testwort (herb): documented" in ran.shown
    assert "Pregnancy  low" in ran.shown
    assert "Source: made up for tests." in ran.shown
    assert "low: no more than PMID 31129916 (not in the corpus" in ran.shown


def test_what_is_not_documented_and_what_is_unknown_are_distinguished(herbs):
    ran = herbs("kg", "contraindications", "H3", "H9", "--formulation", "F1")
    assert "Plainleaf (herb): nothing documented" in ran.shown
    assert "H9 (herb): unknown" in ran.shown
    assert "Fictive Five (formulation): documented" in ran.shown
    assert "that is no finding that there is nothing" in ran.err


def test_an_id_of_the_other_kind_is_asked_back(herbs):
    assert "or Fictive Five (formulation F1)?" in herbs("kg", "contraindications", "F1").shown


def test_no_entity_is_a_mistake(herbs):
    ran = herbs("kg", "contraindications")
    assert (ran.code, "give at least one id" in ran.err) == (2, True)
