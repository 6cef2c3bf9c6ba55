"""`bio-mcp projects`: make, list, inspect, search and delete libraries of one's own."""

import pytest

from bio_mcp.literature.records import Document, RetractionStatus
from tests.memory_corpus import article
from tests.sample_project import TEXTS, add_project


@pytest.fixture
def lab(cli):
    with cli.corpus() as corpus:
        add_project(corpus, "lab")
    return cli


def words(ran):
    return " ".join((ran.shown + ran.err).split())


def test_a_project_is_made_listed_and_deleted(cli):
    assert "There is no project" in cli("projects", "list").out
    ran = cli("projects", "create", "lab/heart-failure")
    assert ran.code == 0
    assert "bio-mcp ingest lab/heart-failure SOURCE" in ran.out
    listed = words(cli("projects", "list"))
    assert "lab/heart-failure words and meaning hashed-words" in listed
    assert cli("projects", "delete", "lab/heart-failure", "--yes").code == 0
    assert cli("projects", "list", "--json").json == {"projects": [], "count": 0}


def test_projects_of_a_tenant_are_its_own(cli, tmp_path):
    assert cli("projects", "--tenant", "north", "create", "lab").code == 0
    (tmp_path / "notes.txt").write_text("Quokkas rest in the shade of small trees at noon.")
    assert cli("ingest", "--tenant", "north", "lab", str(tmp_path / "notes.txt")).code == 0
    assert cli("projects", "list", "--json").json["count"] == 0
    assert cli("projects", "search", "lab", "quokkas").code == 1
    assert "Quokkas rest in the shade" in words(cli("projects", "--tenant", "north", "search", "lab", "quokkas"))
    assert cli("projects", "delete", "lab", "--yes").code == 1
    assert cli("projects", "--tenant", "north", "delete", "lab", "--yes").code == 0


def test_the_options_of_a_project_are_stored(cli):
    ran = cli("projects", "create", "lab", "--no-hybrid", "--top-k", "5", "--max-characters", "900", "--json")
    assert ran.json == {
        "project": "lab",
        "collection": "proj-lab",
        "embed_model": "hashed-words",
        "hybrid_enabled": False,
        "top_k": 5,
        "max_characters": 900,
        "created": True,
        "restored": False,
    }
    again = cli("projects", "create", "lab")
    assert again.code == 0
    assert "exists already and was not changed, otherwise than asked: it is not searched by words" in words(again)
    assert "a search returns 5 hits at most" in words(again)


@pytest.mark.parametrize("option", [("--top-k", "0"), ("--top-k", "21"), ("--max-characters", "10"), ("--top-k", "x")])
def test_an_option_out_of_bounds_is_wrong_usage(cli, option):
    assert cli("projects", "create", "lab", *option).code == 2


def test_an_impossible_id_is_explained(cli):
    ran = cli("projects", "create", "My Lab")
    assert ran.code == 1
    assert "cannot be the id of a project" in ran.err


def test_nothing_is_deleted_until_it_is_confirmed(lab):
    ran = lab("projects", "delete", "lab")
    assert ran.code == 1
    assert "lab with 3 passages would be deleted. Give --yes to do it." in words(ran)
    assert lab("projects", "inspect", "lab", "--json").json["size"] == 3
    assert "lab with 3 passages is deleted" in words(lab("projects", "delete", "lab", "--yes"))
    assert lab("projects", "delete", "lab", "--yes").code == 1


@pytest.mark.parametrize(
    "command", [("inspect", "none"), ("search", "none", "x"), ("delete", "none"), ("delete", "none", "--yes")]
)
def test_an_unknown_project_is_named_with_those_there_are(lab, command):
    ran = lab("projects", *command)
    assert ran.code == 1
    assert "Project 'none' not found. Available projects: lab" in ran.err
    failed = lab("projects", *command, "--json")
    assert (failed.code, "available_projects" in failed.json["error"]["details"]) == (1, True)


def test_a_project_is_inspected_with_a_sample_on_request(lab):
    shown = words(lab("projects", "inspect", "lab"))
    for word in ("proj-lab", "hashed-words", "words and meaning", "3"):
        assert word in shown
    assert TEXTS["Methods"] not in shown
    assert TEXTS["Methods"] in words(lab("projects", "inspect", "lab", "--sample", "1"))


def test_a_hit_is_printed_with_what_cites_it(lab):
    ran = lab("projects", "search", "lab", "perfusion", "index", "below", "0.70")
    assert ran.code == 0
    shown = words(ran)
    assert shown.startswith("1. Perfusion index and critical left heart obstruction granelli2007, Article > Results")
    assert "pages 2-3, 2007, 10.1111/j.1651-2227.2007.00439.x" in shown
    assert "score 1" in shown


def test_a_search_takes_the_filters_of_its_tool(lab):
    ran = lab("projects", "search", "lab", "perfusion", "--tags", "newborn", "--section-prefix", "Article > Methods")
    assert "Article > Methods" in words(ran)
    assert "Article > Results" not in words(ran)
    found = lab("projects", "search", "lab", "perfusion", "--year-from", "2010", "--json").json
    assert [each["citekey"] for each in found["items"]] == ["xu2016"]


def test_without_words_a_project_is_searched_by_meaning(cli, lab):
    assert "fusion" in lab("projects", "search", "lab", "perfusion", "--json").json
    assert "fusion" not in lab("projects", "search", "lab", "perfusion", "--dense", "--json").json
    with cli.corpus() as corpus:
        add_project(corpus, "dense", hybrid_enabled=False)
    assert "fusion" not in lab("projects", "search", "dense", "perfusion", "--json").json


def test_a_retracted_paper_is_marked(lab):
    with lab.corpus() as corpus:
        corpus.documents.put(
            [
                Document(
                    article("27602157", doi="10.3892/ol.2016.4904", retraction=RetractionStatus.RETRACTED),
                    "h",
                    version=1,
                )
            ]
        )
    ran = lab("projects", "search", "lab", "lung cancer", "--citekey", "xu2016")
    assert "[RETRACTED] miR-429 in lung cancer" in words(ran)
    assert "was retracted" in ran.err


def test_what_fails_is_worded_for_the_command_line(lab):
    assert (
        "--top-k: Input should be less than or equal to 20"
        in lab("projects", "search", "lab", "x", "--top-k", "21").err
    )
    assert lab("projects", "search", "lab", "x", "--top-k", "21").code == 2
    assert "--year: give one year" in lab("projects", "search", "lab", "x", "--year", "2020", "--year-to", "2021").err


def test_nothing_found_comes_with_its_reason(cli):
    cli("projects", "create", "lab")
    ran = cli("projects", "search", "lab", "anything")
    assert ran.code == 0
    assert "No passage fits." in ran.out
    assert "holds no passages yet" in ran.err
