"""`bio-mcp export`: papers as a file."""

import csv
import io
import json

import pytest
import rispy

from tests.doors.command_line import sample


@pytest.fixture
def papers(cli, tmp_path, monkeypatch):
    """The command line over ten papers, in a directory of its own; `pmids` are theirs."""
    monkeypatch.chdir(tmp_path)
    cli.fill(10)
    cli.pmids = [each.pmid for each, _ in zip(sample(), range(10), strict=False)]
    return cli


def test_papers_are_written_to_a_file_whose_ending_says_the_format(papers, tmp_path):
    ran = papers("export", "--pmid", papers.pmids[0], "--pmid", papers.pmids[1], "-o", "some.csv")
    assert (ran.code, "2 papers" in ran.shown, "written to some.csv" in ran.shown) == (0, True, True)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "some.csv").read_bytes().decode(), newline="")))
    assert [each["pmid"] for each in rows] == papers.pmids[:2]


def test_the_hits_of_a_question_are_written_under_a_name_of_the_day(papers, tmp_path):
    ran = papers("export", "perfusion", "index", "--limit", "3", "--json")
    assert (ran.code, ran.json["papers"]) == (0, 3)
    [file] = tmp_path.glob("papers-*.ris")
    assert len(rispy.loads(file.read_text(encoding="utf-8"))) == 3
    assert ran.json["written"] == file.name


def test_standard_output_has_the_file_and_nothing_else(papers):
    ran = papers("export", "--pmid", papers.pmids[0], "--format", "csl-json", "-o", "-")
    assert [each["PMID"] for each in json.loads(ran.out)] == [papers.pmids[0]]


def test_a_file_that_cannot_be_written_is_reported(papers):
    ran = papers("export", "--pmid", papers.pmids[0], "-o", "no/such/place.ris")
    assert (ran.code, "cannot be written" in ran.err) == (1, True)


def test_an_export_of_nothing_or_of_two_things_is_refused(papers):
    assert "exactly one of" in papers("export").err
    assert "exactly one of" in papers("export", "a", "question", "--project", "lab").err
