"""`bio-mcp projects` and `bio-mcp ingest`: libraries of one's own documents."""

import json
import os

import pytest

from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.querying.looking_up import may_look_up
from tests.ingesting.library import PlainParser
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article
from tests.support.sample_project import TEXTS, add_project


@pytest.fixture
def lab(cli):
    with cli.corpus() as corpus:
        add_project(corpus, "lab")
    return cli


def test_a_project_is_made_listed_and_deleted(cli):
    assert "There is no project" in cli("projects", "list").out
    ran = cli("projects", "create", "lab/heart-failure")
    assert ran.code == 0
    assert "bio-mcp ingest lab/heart-failure SOURCE" in ran.out
    listed = cli("projects", "list").said
    assert "lab/heart-failure yes hashed-words" in listed
    assert cli("projects", "delete", "lab/heart-failure", "--yes").code == 0
    assert cli("projects", "list", "--json").json == {"projects": [], "count": 0}


@pytest.mark.parametrize(
    "command", [["projects", "search", "nobody", "x"], ["projects", "inspect", "nobody"], ["ingest", "nobody", "x.pdf"]]
)
def test_an_unknown_project_is_an_error_that_names_the_command_which_makes_one(cli, command):
    ran = cli(*command)
    assert ran.code == 1
    assert ran.err == (
        "error: Project 'nobody' not found. Available projects: none yet. `bio-mcp projects create` makes one.\n"
    )


def test_projects_of_a_tenant_are_its_own(cli, tmp_path):
    assert cli("projects", "--tenant", "north", "create", "lab").code == 0
    (tmp_path / "notes.txt").write_text("Quokkas rest in the shade of small trees at noon.")
    assert cli("ingest", "--tenant", "north", "lab", str(tmp_path / "notes.txt")).code == 0
    assert cli("projects", "list", "--json").json["count"] == 0
    assert cli("projects", "search", "lab", "quokkas").code == 1
    assert "Quokkas rest in the shade" in cli("projects", "--tenant", "north", "search", "lab", "quokkas").said
    assert cli("projects", "delete", "lab", "--yes").code == 1
    assert cli("projects", "--tenant", "north", "delete", "lab", "--yes").code == 0


def test_the_options_of_a_project_are_stored(cli):
    ran = cli("projects", "create", "lab", "--no-hybrid", "--top-k", "5", "--max-characters", "900", "--json")
    options = {name: ran.json[name] for name in ("hybrid_enabled", "top_k", "max_characters", "created")}
    assert options == {"hybrid_enabled": False, "top_k": 5, "max_characters": 900, "created": True}
    again = cli("projects", "create", "lab")
    assert again.code == 0
    assert "exists already and was not changed, otherwise than asked: it is not searched by words" in again.said
    assert "a search returns 5 hits at most" in again.said


def test_nothing_is_deleted_until_it_is_confirmed(lab):
    ran = lab("projects", "delete", "lab")
    assert ran.code == 1
    assert "lab with 3 passages would be deleted. Give --yes to do it." in ran.said
    assert lab("projects", "inspect", "lab", "--json").json["size"] == 3
    assert "lab with 3 passages is deleted" in lab("projects", "delete", "lab", "--yes").said
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
    shown = lab("projects", "inspect", "lab").said
    for word in ("proj-lab", "hashed-words", "searched by words, too", "3"):
        assert word in shown
    assert TEXTS["Methods"] not in shown
    assert TEXTS["Methods"] in lab("projects", "inspect", "lab", "--sample", "1").said


def test_a_hit_is_printed_with_what_cites_it(lab):
    ran = lab("projects", "search", "lab", "perfusion", "index", "below", "0.70")
    assert ran.code == 0
    shown = ran.said
    assert shown.startswith("1. Perfusion index and critical left heart obstruction granelli2007, Article > Results")
    assert "pages 2-3, 2007, PMID 17727691, DOI 10.1111/j.1651-2227.2007.00439.x" in shown
    assert "score 1" in shown


def test_a_search_takes_the_filters_of_its_tool(lab):
    ran = lab("projects", "search", "lab", "perfusion", "--tags", "newborn", "--section-prefix", "Article > Methods")
    assert "Article > Methods" in ran.said
    assert "Article > Results" not in ran.said
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
        paper = article("27602157", doi="10.3892/ol.2016.4904", retraction=RetractionStatus.RETRACTED)
        corpus.documents.put([Document(paper, "h", version=1)])
    ran = lab("projects", "search", "lab", "lung cancer", "--citekey", "xu2016")
    assert "[RETRACTED] miR-429 in lung cancer" in ran.said
    assert "was retracted" in ran.err


def test_a_quote_is_found_with_what_cites_it(lab):
    ran = lab("projects", "locate", *TEXTS["Methods"].split(), "--project", "lab")
    assert ran.code == 0
    assert "It stands there as quoted." in ran.said
    assert "granelli2007, Article > Methods, pages 1-2, PMID 17727691" in ran.said


def test_each_word_that_differs_is_shown(lab):
    ran = lab(
        "projects", "locate", TEXTS["Methods"].replace("healthy ", "").replace("foot", "hand"), "--project", "lab"
    )
    assert "It does not stand there as quoted." in ran.said
    assert "there healthy" in ran.said
    assert "quoted hand, there foot" in ran.said


def test_what_is_not_there_is_an_answer(lab):
    asked = ("projects", "locate", "zebras of the southern plains seldom drink", "--project", "lab")
    ran = lab(*asked, "--document", "xu2016")
    assert (ran.code, "has no document 'xu2016'" in ran.err) == (1, True)
    ran = lab(*asked, "--json")
    assert (ran.code, ran.json["found"], ran.json["places"]) == (0, "not found", [])
    assert "No text looks like the quote" in lab(*asked).said


NOTE = "# A trial\n\nWe gave 5 mg.\n\n## Methods\n\n### People\n\n| arm | n |\n|---|---|\n| A | 1 |\n"
KEYS = {"authors", "year", "journal"} | {
    "title",
    "doi",
    "pmid",
    "pages",
    "ocr",
    "confidence",
    "language",
    "sections",
    "warnings",
}


@pytest.fixture
def file(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return make


def test_it_prints_pages_sections_and_paths_as_json(cli, file):
    ran = cli("projects", "parse", file("note.md", NOTE), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json.keys() == KEYS
    assert (ran.json["pages"], ran.json["ocr"], ran.json["language"]) == (None, False, None)
    assert [(each["path"], each["kind"], each["text"]) for each in ran.json["sections"]] == [
        ([], "body", "We gave 5 mg."),
        (["Methods"], "body", ""),
        (["Methods", "People"], "body", ""),
        (["Methods", "People"], "table", "arm\tn\nA\t1"),
    ]


def test_it_prints_the_sections_for_people(cli, file):
    ran = cli("projects", "parse", file("note.md", NOTE))
    assert ran.shown.startswith("A trial\n\nrecognised  no\n"), ran.shown
    assert "(no title)\n   We gave 5 mg.\n" in ran.shown
    assert "path Methods > People; kind table\n" in ran.shown


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_file_that_cannot_be_read_is_a_failure_with_its_reason(cli, file, json):
    ran = cli("projects", "parse", file("paper.pdf", "<html><body>403 Forbidden</body></html>"), *json)
    assert ran.code == 1
    assert "named as a PDF but is an HTML page" in (ran.out if json else ran.err)
    assert str(cli.home.parent) not in ran.out + ran.err


def test_what_is_no_file_is_not_opened(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "missing.pdf", tmp_path, "/dev/zero"):
        ran = cli("projects", "parse", str(path))
        assert (ran.code, ran.out) == (1, "")
        assert "no such file" in ran.err


@pytest.mark.parametrize("given", ["xx", "eng,klingon"])
def test_a_language_that_is_none_is_a_mistake_in_the_call(cli, file, given):
    ran = cli("projects", "parse", file("note.md", NOTE), "--ocr-languages", given)
    assert ran.code == 2
    assert "is no code of a language" in ran.err


def test_nothing_in_a_file_reaches_the_terminal(cli, file, terminal):
    terminal(80)
    ran = cli("projects", "parse", file("\x1b[2Jx.txt", "A \x1b[31mred\x1b[0m \u202eword \x9b2J"))
    assert "A red word" in ran.shown
    assert "\x1b[2J" not in ran.out + ran.err


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
def folder(cli, tmp_path):
    """The command line over a project, with a folder of three documents, one of which is damaged."""
    (tmp_path / "papers").mkdir()
    for name, text in (("a.md", b"doi: 10.1000/a\nHearts beat."), ("b.md", b"Livers are large."), ("c.md", b"\xff")):
        (tmp_path / "papers" / name).write_bytes(text)
    cli.corpus = lambda: Reading(cli.home)
    cli.papers = str(tmp_path / "papers")
    cli("projects", "create", "lab/hearts")
    return cli


def test_a_folder_is_ingested_with_a_summary_and_a_warning_for_each_bad_file(folder):
    ran = folder("ingest", "lab/hearts", folder.papers)
    assert ran.code == 1
    for counted in ("processed 2", "documents expected 3", "failed 1", "passages written 2", "state complete"):
        assert counted in ran.said
    assert "'c.md': it is damaged" in ran.err
    assert "Metadata not found for document 'b.md'" in ran.said
    assert folder.papers not in ran.out + ran.err


def test_several_sources_are_ingested_one_after_the_other(folder):
    ran = folder("ingest", "lab/hearts", f"{folder.papers}/a.md", "/nowhere", f"{folder.papers}/b.md", "--json")
    assert ran.code == 1
    first, second, third = ran.json["sources"]
    assert (first["chunks_written"], third["chunks_written"]) == (1, 1)
    assert "there is no file or folder '/nowhere'" in second["error"]["message"]


def test_options_are_handed_on(folder, tmp_path):
    (tmp_path / "library.json").write_text(json.dumps([{"id": "doe2020", "DOI": "10.1000/a", "title": "On hearts"}]))
    options = ("--ocr-languages", "eng, tha", "--references", str(tmp_path / "library.json"), "--force-rebuild")
    assert folder("ingest", "lab/hearts", f"{folder.papers}/a.md", *options).code == 0
    assert Reading.plain.languages == ["eng", "tha"]
    [hit] = folder("projects", "search", "lab/hearts", "hearts", "--json").json["items"]
    assert hit["citekey"] == "doe2020"


def test_an_interrupted_ingest_says_how_it_goes_on_and_does(folder):
    Reading.plain = Interrupted()
    try:
        ran = folder("ingest", "lab/hearts", folder.papers)
    finally:
        Reading.plain = PlainParser()
    assert ran.code == 130
    assert "Run the same command again" in ran.said
    again = folder("ingest", "lab/hearts", folder.papers, "--json").json
    assert (again["documents_unchanged"], again["documents_processed"], again["failed"]) == (1, 2, 1)


def test_the_documents_of_a_project_are_listed_with_what_is_missing_and_corrected(folder):
    folder("ingest", "lab/hearts", folder.papers)
    listed = folder("projects", "documents", "lab/hearts", "--json").json["documents"]
    assert [(each["source"], each["passages"], each["status"], each["missing"]) for each in listed] == [
        ("a.md", 1, "read", ["title", "authors", "year", "journal"]),
        ("b.md", 1, "read", ["title", "authors", "year", "journal"]),
    ]
    assert "title, authors, year, journal" in folder("projects", "documents", "lab/hearts").said
    said = ("--title", "On hearts", "--author", "Doe J", "--author", "Roe R", "--year", "2020", "--journal", "J Hearts")
    ran = folder("projects", "edit", "lab/hearts", "10.1000/A", *said)
    assert "doe_2020_hearts: title, authors, year, journal corrected" in ran.said
    assert "year corrected" in folder("projects", "edit", "lab/hearts", "10.1000/A", "--empty", "year").said
    incomplete = folder("projects", "documents", "lab/hearts", "--incomplete", "--json").json["documents"]
    assert [(each["year"], each["missing"]) for each in incomplete if each["source"] == "a.md"] == [(None, ["year"])]
    assert folder("projects", "edit", "lab/hearts", "10.1000/A", "--year", "2020").code == 0
    folder("ingest", "lab/hearts", folder.papers, "--force-rebuild")
    [left] = folder("projects", "documents", "lab/hearts", "--incomplete", "--json").json["documents"]
    assert left["source"] == "b.md"
    [found] = folder("projects", "search", "lab/hearts", "beat", "--top-k", "1", "--json").json["items"]
    assert (found["citekey"], found["year"], found["title"]) == ("doe_2020_hearts", 2020, "On hearts")
    assert "would be deleted" in folder("projects", "delete", "lab/hearts", "doe_2020_hearts").said
    assert len(folder("projects", "documents", "lab/hearts", "--json").json["documents"]) == 2
    exported = folder("export", "--project", "lab/hearts", "--format", "bibtex", "-o", "-").out
    assert "@article{doe_2020_hearts,\n  author = {Doe, J. and Roe, R.}" in exported
    assert "journal = {J Hearts}" in exported
    ran = folder("projects", "delete", "lab/hearts", "doe_2020_hearts", "--yes")
    assert (ran.code, ran.said.strip()) == (0, "doe_2020_hearts of lab/hearts with 1 passage is deleted.")
    [left] = folder("projects", "documents", "lab/hearts", "--json").json["documents"]
    assert left["source"] == "b.md"
    assert folder("projects", "delete", "lab/hearts", "doe_2020_hearts", "--yes").code == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("nobody", "--year", "2020"), "no document of the name 'nobody'"),
        (("10.1000/a",), "Say what to correct"),
        (("10.1000/a", "--doi", "nonsense"), "'nonsense' is no DOI"),
    ],
)
def test_a_correction_that_cannot_be_meant_is_refused(folder, given, says):
    folder("ingest", "lab/hearts", f"{folder.papers}/a.md")
    ran = folder("projects", "edit", "lab/hearts", *given)
    assert ran.code != 0
    assert says in ran.err.replace("\n", " ")


def test_whether_a_project_may_look_up_is_remembered(folder):
    for option, remembered in (("--no-lookup", False), ("--lookup", True)):
        folder("ingest", "lab/hearts", f"{folder.papers}/b.md", option)
        with folder.corpus() as corpus:
            assert may_look_up("lab/hearts", corpus) is remembered


def test_a_project_without_documents_says_how_to_bring_some_in(folder):
    assert "bio-mcp ingest lab/hearts SOURCE" in folder("projects", "documents", "lab/hearts").said
    assert folder("projects", "documents", "nowhere").code == 1
