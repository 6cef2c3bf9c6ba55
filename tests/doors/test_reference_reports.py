"""Reports of a reference check: what counts as a problem, and text of a file that would be more than text."""

import json

import pytest

from bio_mcp.doors.cli.reference_reports import RULES, as_markdown, as_sarif, as_text, differences, failing, problem_of


def row(verdict="found", retraction=None, **more):
    return {
        "verdict": verdict, "retraction": retraction, "key": "", "line": 0, "reference": "Doe J. Title", "pmid": None,
        "differs": [], "reason": None, **more,
    }  # fmt: skip


def body(*rows, reasons=()):
    return {"references": list(rows), "reasons": list(reasons)}


@pytest.mark.parametrize(
    ("verdict", "retraction", "problem"),
    [
        ("found", None, None),
        ("found", "concern", "concern"),
        ("found", "corrected", "corrected"),
        ("doubtful", "retracted", "retracted"),
        ("doubtful", "corrected", "doubtful"),
        ("not_found", None, "not_found"),
        ("unchecked", None, "unchecked"),
    ],
)
def test_a_retraction_counts_before_the_verdict_and_the_verdict_before_a_correction(verdict, retraction, problem):
    assert problem_of(row(verdict, retraction)) == problem


def test_a_reference_fails_by_its_verdict_or_by_what_became_of_the_paper():
    both = row("doubtful", "corrected")
    assert failing([both], frozenset({"corrected"})) == failing([both], frozenset({"doubtful"})) == [both]
    assert failing([both, row()], frozenset({"retracted"})) == failing([both], frozenset()) == []


def test_an_empty_side_of_a_difference_is_none():
    differs = [{"field": "year", "stated": "2012", "true": ""}, {"field": "doi", "stated": "", "true": "10.1/a"}]
    assert differences(row(differs=differs)) == ["year: 2012, is none", "doi: none, is 10.1/a"]


@pytest.mark.parametrize(
    ("more", "named"), [({"key": "doe20", "line": 3}, "doe20"), ({"line": 3}, "line 3"), ({}, "2")]
)
def test_a_reference_is_named_by_its_key_else_its_line_else_its_place(more, named):
    assert f" {named}: Doe J. Title" in as_text(body(row(key="first"), row(**more)), "", frozenset()).splitlines()[1]


def test_text_ends_with_the_counts_and_what_could_not_be_asked():
    lines = as_text(body(row("unknown"), row(), row("unknown"), reasons=["NCBI is away"]), "", frozenset()).splitlines()
    assert lines[-2:] == ["3 references: 1 found, 2 unknown", "NCBI is away"]


def test_markdown_without_a_problem_has_no_table():
    assert "|" not in as_markdown(body(row()), "a.bib", frozenset())


@pytest.mark.parametrize("hostile", ["a | b\n| c |", "![x](http://a.example)", "<img src=x>", "`code` # h", "\\| c"])
def test_a_reference_cannot_leave_its_cell(hostile):
    made = as_markdown(body(row("not_found", reference=hostile, key=hostile, reason=hostile)), hostile, frozenset())
    [line] = [each for each in made.splitlines() if "NOT FOUND" in each]
    bare = line.replace("\\\\", "")
    for mark in ("|", "<", "[", "`", "!"):
        assert bare.count(mark) - bare.count(f"\\{mark}") == (6 if mark == "|" else 0)


def test_in_sarif_what_fails_is_an_error_and_the_rest_by_its_weight():
    rows = [row(each) for each in ("not_found", "doubtful", "unchecked")]
    levels = [[each["level"] for each in results(rows, chosen)] for chosen in ((), ("doubtful", "unchecked"))]
    assert levels == [["error", "warning", "note"], ["error", "error", "error"]]


def results(rows, chosen=(), file="a.bib"):
    return json.loads(as_sarif(body(*rows), file, frozenset(chosen)))["runs"][0]["results"]


def test_sarif_knows_a_reference_again_that_moved_to_another_line():
    first, moved, other = results([row("doubtful", line=3), row("doubtful", line=9), row("not_found", line=3)])
    assert first["partialFingerprints"] == moved["partialFingerprints"] != other["partialFingerprints"]
    assert [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in (first, moved)] == [3, 9]


def test_sarif_has_a_line_and_an_address_for_any_file():
    [only] = results([row("not_found", line=0)], file="a b/#ü.bib")
    place = only["locations"][0]["physicalLocation"]
    assert (place["region"]["startLine"], place["artifactLocation"]["uri"]) == (1, "a%20b/%23%C3%BC.bib")
    assert {only["ruleId"]} < {*RULES}
