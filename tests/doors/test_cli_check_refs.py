"""`bio-mcp check-refs` on the command line: its reports, and the exit code for CI."""

import json
import lzma
from pathlib import Path

import jsonschema
import pytest

from bio_mcp.literature.citing import cite
from tests.retracting import doubt, plain_papers, retract

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


def test_an_unknown_verdict_is_a_misuse(check):
    ran = check(INVENTED, "--fail-on", "wrong")
    assert ran.code == 2
    assert "--fail-on: wrong is none of retracted" in ran.err


def test_a_concern_fails_only_where_it_is_asked_for(check, ncbi, papers):
    doubt(ncbi, papers[0].pmid, "ExpressionOfConcernIn")
    assert check(cite(papers[0], "bibtex")).code == 0
    ran = check(cite(papers[0], "bibtex"), "--fail-on", "concern")
    assert ran.code == 1
    assert "CONCERN" in ran.out


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
