"""`bio-mcp review`: from its searches to its flow diagram, as two people type it."""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

EXPORTS = Path(__file__).parents[1] / "data/exports"
NAME = "dinosaurs"


@pytest.fixture
def review(cli):
    """A command of the review that two files are in."""
    assert cli("review", "create", NAME, "--criteria", "dinosaur skin feathers").code == 0
    for name in ("embase.csv", "embase.ris"):
        assert cli("review", "import", NAME, str(EXPORTS / name)).code == 0
    return lambda command, *rest: cli("review", command, NAME, *rest)


def ids(review, *options):
    return [each["id"] for each in review("list", *options, "--json").json["records"]]


def rows_of(path):
    return {each["pmid"]: each for each in csv.DictReader(io.StringIO(path.read_bytes().decode()))}


def label(review, who, decisions, *options):
    for paper, decision in decisions.items():
        ran = review("label", paper, decision, "--by", who, *options)
        assert ran.code == 0, ran.err
    return ran


def test_two_people_screen_ten_records_to_the_diagram_and_the_export(review, cli, tmp_path):
    papers = ids(review)
    assert len(papers) == 10
    label(review, "ann", {each: "include" if at < 4 else "exclude" for at, each in enumerate(papers)})
    done = label(review, "bob", {each: "include" if at < 5 else "exclude" for at, each in enumerate(papers)})
    assert done.out == f"{papers[-1]}: exclude, by bob. 0 left.\n"
    said = review("status").said
    # 9 of 10 agree; by chance 0.4 * 0.5 + 0.6 * 0.5 = 0.5 do, so kappa is 0.4 / 0.5
    assert re.search(r"ann and bob agree in 9 of 10 \(90\.0 %\), Cohen's kappa 0\.80 \(95 % CI 0\.4\d to 1\.00\)", said)
    assert f"{papers[4]}" in review("conflicts").out
    assert review("resolve", papers[4], "exclude", "--by", "cem", "--reason", "a bird").code == 0
    assert review("conflicts").out == "There is no conflict.\n"
    label(review, "ann", {papers[0]: "include"}, "--stage", "full_text")
    label(review, "ann", {papers[1]: "exclude"}, "--stage", "full_text", "--reason", "not retrieved")

    picture = tmp_path / "flow.svg"
    ran = review("prisma", "-o", str(picture))
    assert ran.out == f"20 identified, 10 duplicates, 10 screened, 1 included: written to {picture}.\n"
    text = " ".join(each for each in ElementTree.parse(picture).getroot().itertext() if each)
    assert "Reports not retrieved (n = 1)" in text

    written = tmp_path / "all.csv"
    assert review("export", "-o", str(written)).code == 0
    rows = rows_of(written)
    assert set(rows) == set(papers)
    assert rows[papers[4]]["abstract_decisions"] == "ann: exclude; bob: include; resolved by cem: exclude (a bird)"
    assert rows[papers[0]]["full_text_decisions"] == "ann: include"
    assert sum(each["included"] == "1" for each in rows.values()) == 3
    assert {each["found_by"] for each in rows.values()} == {"Embase"}
    assert rows[papers[0]]["journal"]
    ris = tmp_path / "all.ris"
    assert review("export", "-o", str(ris)).code == 0
    assert "N1  - Title and abstract: ann: exclude; bob: include; resolved by cem: exclude (a bird)" in ris.read_text()


def test_what_the_other_decided_is_not_shown_and_not_exported_before_both_have(review, tmp_path):
    first, second, *_ = ids(review)
    label(review, "ann", {first: "include", second: "exclude"})
    label(review, "bob", {second: "exclude"})
    for command in (("list", "--by", "bob"), ("next", "--by", "bob", "-n", "20"), ("conflicts",)):
        shown = review(*command, "--json").json
        assert "'ann'" not in str([each for each in shown.get("records", [shown]) if each.get("id") != second])
    written = tmp_path / "all.csv"
    review("export", "-o", str(written))
    rows = rows_of(written)
    assert (rows[first]["abstract_decisions"], rows[first]["decision"]) == ("", "")
    assert rows[second]["abstract_decisions"] == "ann: exclude; bob: exclude"


def test_what_is_next_is_what_was_not_decided_and_an_undo_brings_it_back(review):
    shown = review("next", "--by", "ann", "--json").json
    assert shown["left"] == 10
    paper = shown["papers"][0]["id"]
    assert "skin" in shown["papers"][0]["title"]  # as the criteria rank it first
    assert "9 left" in review("label", paper, "include", "--by", "ann").out
    assert review("next", "--by", "ann", "--json").json["papers"][0]["id"] != paper
    assert review("next", "--by", "bob", "--json").json["left"] == 10
    assert "10 left" in review("label", paper, "undo", "--by", "ann").out


def test_duplicates_are_listed_with_why_and_a_merge_is_taken_back(review):
    merged = review("duplicates", "--json").json["merged"]
    assert (len(merged), {each["why"] for each in merged}) == (10, {"the same PMID"})
    assert review("duplicates", "--split", merged[0]["id"]).code == 0
    after = review("duplicates", "--json").json
    assert (len(after["merged"]), after["apart"][0]["why"]) == (9, "the same PMID; kept apart by hand")
    assert len(ids(review)) == 11


def test_searches_are_collected_and_collected_again(review, cli):
    cli.fill(30)
    done = review("collect", "--question", "patients OR study", "--json").json
    assert done["new"] == done["searches"][0]["found"] > 0
    again = review("collect", "--json").json
    assert (again["new"], again["searches"][0]["known"]) == (0, done["new"])
    assert "bio-mcp corpus" in review("status").out
    assert len(ids(review, "--since", "2020-01-01")) == 10 + done["new"]
    assert ids(review, "--since", "2999-01-01") == []


def test_reviews_are_listed_and_those_of_a_tenant_are_its_own(review, cli):
    [listed] = cli("review", "list", "--json").json["reviews"]
    assert (listed["review"], listed["records"], listed["screeners"]) == (NAME, 10, 2)
    assert cli("review", "--tenant", "north", "list", "--json").json["reviews"] == []
    ran = cli("review", "--tenant", "north", "status", NAME)
    assert ran.code == 1
    assert "there is no review" in ran.err


def test_mistakes_are_said_with_what_helps(review, cli, tmp_path):
    assert "did you mean dinosaurs?" in cli("review", "status", "dinosaur").err
    assert "give a PMID" in review("label", "nothing", "include").err
    assert review("label", "1", "yes").code == 2
    (tmp_path / "a.txt").write_text("no table")
    assert "a table (CSV)" in review("import", str(tmp_path / "a.txt")).err
    assert "FILE cannot be read" in review("import", str(tmp_path / "nowhere.ris")).err
    paper = ids(review)[0]
    assert "screeners do not differ" in review("resolve", paper, "include").err
    assert "its abstract is not included" in review("label", paper, "include", "--stage", "full_text").err
    assert "could be searched again" in review("collect").err
