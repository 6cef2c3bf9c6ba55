"""`bio-mcp check-refs` and `bio-mcp export`: reports, files, and the exit code for CI."""

import csv
import io
import json
import lzma
import re
from pathlib import Path

import jsonschema
import pytest
import rispy

from bio_mcp.doors.cli.writing import as_markdown, as_sarif, as_text, fails
from bio_mcp.literature.citing import cite
from bio_mcp.querying.references.checking import PROBLEMS, problem_of
from tests.doors.command_line import sample
from tests.support.retracting import plain_papers, retract

DATA = Path(__file__).parents[1] / "data"
INVENTED = "@article{nobody2019, author = {Nobody, N}, title = {A paper | nobody <b>ever</b> wrote}, year = 2019}\n"


@pytest.fixture
def papers(cli, ncbi):
    cli.ncbi = ncbi.base_url
    corpus = cli.corpus()
    found = sorted(corpus.ncbi.efetch(plain_papers(ncbi, 3)), key=lambda each: int(each.pmid))
    corpus.close()
    return found


@pytest.fixture
def check(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(text, *argv):
        file = tmp_path / "my refs.bib"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return cli("check-refs", file.name, *argv)

    return run


def test_a_list_without_a_fault_exits_0(check, papers):
    ran = check(cite(papers[0], "bibtex") + cite(papers[1], "bibtex"))
    assert (ran.code, ran.err) == (0, "")
    assert f"PMID {papers[0].pmid}" in ran.out
    assert "2 references: 2 found" in ran.out


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [((), 1), (("--fail-on", "doubtful,retracted"), 0), (("--fail-on", "none"), 0), (("--fail-on", "not_found"), 1)],
)
def test_the_exit_code_is_the_users_choice(check, papers, fail_on, code):
    ran = check(cite(papers[0], "bibtex") + INVENTED, *fail_on)
    assert ran.code == code
    assert "NOT FOUND  nobody2019: Nobody, N." in ran.out


def test_markdown_has_what_is_wrong_and_lets_nothing_through(check, ncbi, papers):
    retract(ncbi, papers[0].pmid)
    ran = check(cite(papers[0], "bibtex") + cite(papers[1], "bibtex") + INVENTED, "--format", "markdown")
    assert "## References of my refs.bib" in ran.out
    assert "3 references: 1 found, 1 not found, 1 retracted" in ran.out
    assert f"[{papers[0].pmid}](https://pubmed.ncbi.nlm.nih.gov/{papers[0].pmid}/)" in ran.out
    assert r"A paper \| nobody \<b\>ever\</b\> wrote" in ran.out
    assert papers[1].pmid not in ran.out


def test_sarif_names_the_line_and_the_rule(check, papers, tmp_path):
    wrong = cite(papers[0], "bibtex").replace(f"year = {{{papers[0].publication_date.year}}}", "year = {1899}")
    ran = check(f"% mine\n\n{wrong}{INVENTED}", "--format", "sarif", "-o", "refs.sarif")
    assert (ran.code, ran.out) == (1, "")
    log = json.loads((tmp_path / "refs.sarif").read_text())
    [run] = log["runs"]
    doubtful, invented = run["results"]
    assert (log["version"], doubtful["ruleId"], invented["ruleId"]) == ("2.1.0", "doubtful", "not_found")
    place = doubtful["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("my%20refs.bib", 3)
    assert f"year: 1899, is {papers[0].publication_date.year}" in doubtful["message"]["text"]
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} >= {"doubtful", "not_found", "retracted"}


def test_json_has_all_of_it_for_programs(check, papers):
    for argv in (("--format", "json"), ("--json",)):
        [only] = check(cite(papers[0], "bibtex"), *argv).json["references"]
        assert (only["verdict"], only["pmid"], only["differs"]) == ("found", papers[0].pmid, [])


def test_where_ncbi_fails_the_command_fails_and_says_unknown(check, ncbi, papers):
    ncbi.control.fault(times=200, status=400)
    ran = check(INVENTED)
    assert ran.code == 1
    assert "unknown" in ran.out
    assert "NOT FOUND" not in ran.out


LONG = f"{'A very long title that goes on for several lines ' * 8}and then it ends"


def styles(line):
    """The codes of colour and weight in a line."""
    return set(re.findall(r"\x1b\[([0-9;]+)m", line)) - {"0"}


@pytest.fixture
def mixed(ncbi, papers):
    """Four references: a retracted one, a right one, one of a wrong year, and one that nobody wrote."""
    retract(ncbi, papers[0].pmid)
    wrong = cite(papers[2], "bibtex").replace(f"year = {{{papers[2].publication_date.year}}}", "year = {1899}")
    invented = INVENTED.replace("A paper | nobody <b>ever</b> wrote", LONG)
    return cite(papers[0], "bibtex") + cite(papers[1], "bibtex") + wrong + invented


def test_on_a_terminal_of_80_columns_a_report_is_a_table_with_coloured_verdicts_and_nothing_cut(
    check, mixed, papers, terminal
):
    terminal(80)
    ran = check(mixed)
    lines = ran.shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["verdict", "reference", "PMID"]
    by_verdict = {word: line for line in ran.out.splitlines()[:-1] for word in VERDICTS if word in line}
    assert [styles(by_verdict[each].split(each)[0]) for each in VERDICTS] == [{"1;31"}, {"32"}, {"33"}, {"1;31"}]
    cells = " ".join(line[12:69].strip() for line in lines)
    assert LONG in cells
    assert f"year: 1899, is {papers[2].publication_date.year}" in cells
    assert ("differs from the record" in cells, "no such paper" in cells) == (False, False)
    assert "4 references: 1 doubtful, 1 found, 1 not found, 1 retracted" in ran.shown


VERDICTS = ("RETRACTED", "ok", "doubtful", "NOT FOUND")


def test_without_a_terminal_or_with_no_color_a_report_has_no_colour_and_in_a_pipe_a_line_for_each(
    check, mixed, terminal, monkeypatch
):
    piped = check(mixed)
    assert "\x1b" not in piped.out
    [line] = [each for each in piped.out.splitlines() if "NOT FOUND" in each]
    assert line == f"NOT FOUND  nobody2019: Nobody, N. {LONG}. 2019"
    terminal(80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert all(styles(line) <= {"1", "2"} for line in check(mixed).out.splitlines())


def test_text_of_windows_is_read(check, papers):
    ran = check("Müller Ä. A paper that nobody ever wrote. J Virol. 2019;1:2.\r\n".encode("cp1252"))
    assert "Müller Ä. A paper that nobody" in ran.out


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04nothing", b"\xff\xfe"])
def test_a_file_without_references_is_refused(check, text):
    ran = check(text)
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert ran.err


def test_a_file_that_is_not_there_is_named_by_nothing_but_its_argument(cli):
    ran = cli("check-refs", "/nowhere/at/all.bib")
    assert ran.code == 1
    assert "FILE cannot be read: no such file or directory" in ran.err


def test_sarif_is_valid_by_its_schema(check, papers):
    schema = json.loads(lzma.decompress((DATA / "sarif" / "sarif-2.1.0.schema.json.xz").read_bytes()))
    judge = jsonschema.Draft7Validator(schema)
    for text in (cite(papers[0], "bibtex"), INVENTED * 2):
        log = check(text, "--format", "sarif").json
        assert [each.message for each in judge.iter_errors(log)] == []
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not judge.is_valid(log)


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
    assert fails(both, frozenset({"corrected"}))
    assert fails(both, frozenset({"doubtful"}))
    assert not fails(both, frozenset({"retracted"}))
    assert not fails(row(), frozenset())


@pytest.mark.parametrize(
    ("more", "named"), [({"key": "doe20", "line": 3}, "doe20"), ({"line": 3}, "line 3"), ({}, "2")]
)
def test_a_reference_is_named_by_its_key_else_its_line_else_its_place(more, named):
    assert f" {named}: Doe J. Title" in as_text(body(row(key="first"), row(**more)), "", frozenset()).splitlines()[1]


def test_text_ends_with_the_counts_and_what_could_not_be_asked():
    lines = as_text(body(row("unknown"), row(), row("unknown"), reasons=["NCBI is away"]), "", frozenset()).splitlines()
    assert lines[-2:] == ["3 references: 1 found, 2 unknown", "NCBI is away"]


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
    assert {only["ruleId"]} < {*PROBLEMS}


@pytest.fixture
def stored(cli, tmp_path, monkeypatch):
    """The command line over ten stored, in a directory of its own; `pmids` are theirs."""
    monkeypatch.chdir(tmp_path)
    cli.fill(10)
    cli.pmids = [each.pmid for each, _ in zip(sample(), range(10), strict=False)]
    return cli


def test_papers_are_written_to_a_file_whose_ending_says_the_format(stored, tmp_path):
    ran = stored("export", "--pmid", stored.pmids[0], "--pmid", stored.pmids[1], "-o", "some.csv")
    assert (ran.code, "2 papers" in ran.shown, "written to some.csv" in ran.shown) == (0, True, True)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "some.csv").read_bytes().decode(), newline="")))
    assert [each["pmid"] for each in rows] == stored.pmids[:2]


def test_the_hits_of_a_question_are_written_under_a_name_of_the_day(stored, tmp_path):
    ran = stored("export", "perfusion", "index", "--limit", "3", "--least-relevance", "0", "--json")
    assert (ran.code, ran.json["papers"]) == (0, 3)
    [file] = tmp_path.glob("papers-*.ris")
    assert len(rispy.loads(file.read_text(encoding="utf-8"))) == 3
    assert ran.json["written"] == file.name


def test_standard_output_has_the_file_and_nothing_else(stored):
    ran = stored("export", "--pmid", stored.pmids[0], "--format", "csl-json", "-o", "-")
    assert [each["PMID"] for each in json.loads(ran.out)] == [stored.pmids[0]]


def test_a_question_says_how_many_papers_are_left_out_and_where_none_fits_writes_nothing(stored, tmp_path):
    title = next(sample()).title
    ran = stored("export", *title.split(), "-o", "hits.ris")
    assert "1 paper," in ran.shown
    assert "9 papers less relevant than 0.1 are left out; --least-relevance moves that." in ran.said
    ran = stored("export", "what", "is", "the", "capital", "of", "france", "-o", "none.ris")
    assert (ran.code, (tmp_path / "none.ris").exists()) == (1, False)
    assert "Nothing was written. 10 papers less relevant than 0.1 are left out" in ran.said


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("-o", "x.docx"), "no format ends in .docx"),
        (("-o", "x.docx", "--format", "ris"), "no format ends in .docx"),
        (("-o", "x.ris", "--format", "csv"), ".ris is the ending of ris, not of csv"),
    ],
)
def test_a_format_that_contradicts_the_ending_of_the_file_is_refused_with_those_there_are(stored, tmp_path, argv, why):
    ran = stored("export", "--pmid", stored.pmids[0], *argv)
    assert (ran.code, list(tmp_path.glob("x.*"))) == (1, [])
    assert f"error: {why}: give FILE the ending of its format, one of ris (.ris), nbib (.nbib)" in ran.said


@pytest.mark.parametrize(
    ("argv", "first"),
    [(("x.CSV",), "pmid,doi"), (("x.txt", "--format", "nbib"), "PMID"), (("x.txt",), "1. "), (("x",), "TY")],
)
def test_an_ending_in_capitals_or_none_and_text_with_a_format_are_taken(stored, tmp_path, argv, first):
    assert stored("export", "--pmid", stored.pmids[0], "-o", *argv).code == 0
    assert (tmp_path / argv[0]).read_text(encoding="utf-8").startswith(first)


def test_a_file_that_cannot_be_written_is_reported(stored):
    ran = stored("export", "--pmid", stored.pmids[0], "-o", "no/such/place.ris")
    assert (ran.code, "cannot be written" in ran.err) == (1, True)


def test_an_export_of_nothing_or_of_two_things_is_refused(stored):
    assert "exactly one of" in stored("export").err
    assert "exactly one of" in stored("export", "a", "question", "--project", "lab").err
