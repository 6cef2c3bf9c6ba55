"""`bio-mcp parse`: a file as its reader sees it."""

import os

import pytest

NOTE = "# A trial\n\nWe gave 5 mg.\n\n## Methods\n\n### People\n\n| arm | n |\n|---|---|\n| A | 1 |\n"
KEYS = {"title", "doi", "pmid", "pages", "ocr", "confidence", "language", "sections", "warnings"}


@pytest.fixture
def file(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return make


def test_it_prints_pages_sections_and_paths_as_json(cli, file):
    ran = cli("parse", file("note.md", NOTE), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json.keys() == KEYS
    assert (ran.json["pages"], ran.json["ocr"], ran.json["language"]) == (None, False, None)
    assert ran.json["sections"] == [
        {"heading": None, "path": [], "page_span": None, "kind": "body", "text": "We gave 5 mg."},
        {"heading": "Methods", "path": ["Methods"], "page_span": None, "kind": "body", "text": ""},
        {"heading": "People", "path": ["Methods", "People"], "page_span": None, "kind": "body", "text": ""},
        {
            "heading": "People",
            "path": ["Methods", "People"],
            "page_span": None,
            "kind": "table",
            "text": "arm\tn\nA\t1",
        },
    ]


def test_it_prints_the_sections_for_people(cli, file):
    ran = cli("parse", file("note.md", NOTE))
    assert "title       A trial\npages       unknown\nrecognised  no\n" in ran.shown
    assert "(no heading)\nWe gave 5 mg.\n" in ran.shown
    assert "Methods > People  table\n" in ran.shown


def test_a_warning_is_shown_beside_the_answer(cli, file):
    ran = cli("parse", file("a.txt", "Größe".encode("cp1252")))
    assert "Größe" in ran.out
    assert "warning: The text is not UTF-8" in ran.err


def test_it_writes_nothing_into_the_corpus(cli, file):
    cli("parse", file("note.md", NOTE))
    assert not (cli.home / "corpus.sqlite3").exists()


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_file_that_cannot_be_read_is_a_failure_with_its_reason(cli, file, json):
    ran = cli("parse", file("paper.pdf", "<html><body>403 Forbidden</body></html>"), *json)
    assert ran.code == 1
    assert "named as a PDF but is an HTML page" in (ran.out if json else ran.err)
    assert str(cli.home.parent) not in ran.out + ran.err


def test_what_is_no_file_is_not_opened(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "missing.pdf", tmp_path, "/dev/zero"):
        ran = cli("parse", str(path))
        assert (ran.code, ran.out) == (1, "")
        assert "no such file" in ran.err


@pytest.mark.parametrize("given", ["xx", "eng,klingon"])
def test_a_language_that_is_none_is_a_mistake_in_the_call(cli, file, given):
    ran = cli("parse", file("note.md", NOTE), "--ocr-languages", given)
    assert ran.code == 2
    assert "is no code of a language" in ran.err


def test_nothing_in_a_file_reaches_the_terminal(cli, file, terminal):
    terminal(80)
    ran = cli("parse", file("\x1b[2Jx.txt", "A \x1b[31mred\x1b[0m \u202eword \x9b2J"))
    assert "A red word" in ran.shown
    assert "\x1b[2J" not in ran.out + ran.err
