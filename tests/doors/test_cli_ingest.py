"""`bio-mcp ingest`: documents into a project, to the end."""

import json

import pytest

from tests.corpus import Corpus
from tests.ingesting.library import PlainParser


class Reading(Corpus):
    """A corpus that reads plain text, and is interrupted at a file of that name."""

    plain = PlainParser()

    @property
    def parser(self):
        return self.plain


class Interrupted(PlainParser):
    def parse(self, content, name, languages=()):
        if name == "b.md":
            raise KeyboardInterrupt
        return super().parse(content, name, languages)


@pytest.fixture
def lab(cli, tmp_path):
    """The command line over a project, with a folder of three documents, one of which is damaged."""
    (tmp_path / "papers").mkdir()
    for name, text in (("a.md", b"doi: 10.1000/a\nHearts beat."), ("b.md", b"Livers are large."), ("c.md", b"\xff")):
        (tmp_path / "papers" / name).write_bytes(text)
    cli.corpus = lambda: Reading(cli.home)
    cli.papers = str(tmp_path / "papers")
    cli("projects", "create", "lab/hearts")
    return cli


def words(ran):
    return " ".join((ran.shown + ran.err).split())


def test_a_folder_is_ingested_with_a_summary_and_a_warning_for_each_bad_file(lab):
    ran = lab("ingest", "lab/hearts", lab.papers)
    assert ran.code == 1
    for sentence in ("state complete", "documents 2 of 3, 0 unchanged", "failed 1", "passages 2 written"):
        assert sentence in words(ran)
    assert "'c.md': it is damaged" in ran.err
    assert "Metadata not found for document 'b.md'" in words(ran)
    assert lab.papers not in ran.out + ran.err


def test_the_second_time_nothing_has_changed(lab):
    lab("ingest", "lab/hearts", f"{lab.papers}/a.md")
    ran = lab("ingest", "lab/hearts", f"{lab.papers}/a.md", "--json")
    assert ran.code == 0
    assert (ran.json["documents_unchanged"], ran.json["chunks_written"], ran.json["warnings"]) == (1, 0, [])


def test_what_was_ingested_is_found(lab):
    lab("ingest", "lab/hearts", lab.papers)
    [hit, *_] = lab("projects", "search", "lab/hearts", "hearts", "--json").json["items"]
    assert (hit["render_text"], hit["doi"]) == ("Hearts beat.", "10.1000/a")


def test_several_sources_are_ingested_one_after_the_other(lab):
    ran = lab("ingest", "lab/hearts", f"{lab.papers}/a.md", "/nowhere", f"{lab.papers}/b.md", "--json")
    assert ran.code == 1
    first, second, third = ran.json["sources"]
    assert (first["chunks_written"], third["chunks_written"]) == (1, 1)
    assert "there is no file or folder '/nowhere'" in second["error"]["message"]


def test_options_are_handed_on(lab, tmp_path):
    (tmp_path / "library.json").write_text(json.dumps([{"id": "doe2020", "DOI": "10.1000/a", "title": "On hearts"}]))
    options = ("--ocr-languages", "eng, tha", "--references", str(tmp_path / "library.json"), "--force-rebuild")
    assert lab("ingest", "lab/hearts", f"{lab.papers}/a.md", *options).code == 0
    assert Reading.plain.languages == ["eng", "tha"]
    [hit] = lab("projects", "search", "lab/hearts", "hearts", "--json").json["items"]
    assert hit["citekey"] == "doe2020"


def test_an_unknown_project_is_named_with_those_that_exist(lab):
    ran = lab("ingest", "lab/livers", lab.papers)
    assert ran.code == 1
    assert "Project 'lab/livers' not found. Available projects: lab/hearts" in words(ran)


def test_an_interrupted_ingest_says_how_it_goes_on_and_does(lab):
    Reading.plain = Interrupted()
    try:
        ran = lab("ingest", "lab/hearts", lab.papers)
    finally:
        Reading.plain = PlainParser()
    assert ran.code == 130
    assert "Run the same command again" in words(ran)
    again = lab("ingest", "lab/hearts", lab.papers, "--json").json
    assert (again["documents_unchanged"], again["documents_processed"], again["failed"]) == (1, 2, 1)
