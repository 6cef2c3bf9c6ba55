"""`bio-mcp search` and `bio-mcp get`: what a reader sees, on any terminal."""

import pytest
from rich.cells import cell_len

from bio_mcp.doors.cli.papers import marked
from bio_mcp.literature.records import AbstractSection, Article, Journal, RetractionStatus
from bio_mcp.syncing.importing import import_records
from tests.doors.command_line import CommandLine

THAI = Article(
    pmid="7",
    title="การรักษาไมเกรนด้วยการฝังเข็ม",
    abstract=(AbstractSection(None, None, "Acupuncture for migraine in Thai hospitals. 針灸治療偏頭痛的效果。"),),
    journal=Journal(title="จดหมายเหตุทางแพทย์"),
)


@pytest.fixture
def full(cli) -> CommandLine:
    cli.fill(40)
    return cli


def test_a_hit_shows_rank_journal_year_pmid_and_the_reason_of_its_place(full):
    hits = full("search", "miR-429 in lung cancer", "--json").json["results"]
    place, hit = next((place, each) for place, each in enumerate(hits, 1) if each["doc_id"] == "pmid:27602157")
    shown = full("search", "miR-429 in lung cancer").out
    assert f"\n{place}. [RETRACTED] {hit['title']}\n   Oncology letters, 2016, PMID 27602157\n" in shown
    chance = f"relevant with a probability of {hit['relevance']:.2f}"
    assert f"\n   score {hit['score']:.3f}: {hit['explanation']}; {chance}\n" in shown


def test_a_hit_that_does_not_fit_says_so(full):
    assert "weak match, score " in full("search", "zxqv blorp nargle").out


def test_a_list_says_what_its_scores_are_worth(full):
    assert full("search", "cancer").out.splitlines()[-1].startswith("Scores only order this answer.")


def test_a_warning_is_distinguished_from_the_list(full):
    ran = full("search", "xyzzyplugh")
    assert ran.err.startswith("warning: None of the query's words occurs in the corpus")
    assert "warning" not in ran.out


def test_a_search_that_finds_nothing_says_why(full):
    ran = full("search", "lung cancer", "--journals", "Nature")
    assert "No paper in the corpus matches." in ran.out
    assert "no paper of the journal 'Nature'" in " ".join(ran.err.split())


def test_words_need_no_quotes(full):
    assert full("search", "lung", "cancer", "--json").json == full("search", "lung cancer", "--json").json


def test_no_option_is_offered_that_nothing_sets(full):
    shown = full("search", "--help").out
    assert "--tags" not in shown
    assert "--project" not in shown


def test_a_retracted_paper_is_flagged(full):
    assert "[RETRACTED] miR-429 promotes" in full("search", "miR-429 in lung cancer", "--top-k", "3").out


def test_the_flag_is_red(full, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1;31m[RETRACTED] " in full("search", "miR-429 in lung cancer").out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(full, terminal, width):
    terminal(width)
    for argv in (("search", "cancer"), ("get", "27602157"), ("doctor",), ("tools",)):
        assert max(map(cell_len, full(*argv).shown.splitlines())) <= width


@pytest.mark.parametrize("argv", [("search", "cancer"), ("get", "27602157"), ("doctor",), ("tools",)], ids=" ".join)
def test_lines_in_a_pipe_are_neither_wrapped_nor_padded(full, monkeypatch, argv):
    monkeypatch.setenv("COLUMNS", "40")
    lines = full(*argv).out.splitlines()
    assert max(map(len, lines)) > 80
    assert [line for line in lines if line != line.rstrip()] == []


def test_wide_and_combining_characters_stay_in_their_columns(cli, terminal):
    corpus = cli.corpus()
    import_records([THAI], corpus)
    corpus.close()
    for width in (60, 120):
        terminal(width)
        shown = cli("search", "migraine").shown
        assert max(map(cell_len, shown.splitlines())) <= width
        assert "ไมเกรน" in shown.replace("\n", "")


def test_markup_in_a_title_is_shown_as_it_stands(cli):
    corpus = cli.corpus()
    import_records([Article(pmid="8", title="[bold]Aspirin[/bold] :smile: in pain")], corpus)
    corpus.close()
    assert "[bold]Aspirin[/bold] :smile: in pain" in cli("search", "aspirin").out
    assert "[bold]Aspirin[/bold] :smile: in pain" in cli("get", "8").out


def test_words_are_marked_as_the_search_takes_them():
    text = marked("TNF-alpha and the cancers of mice", "TNFα cancer and")
    assert {text.plain[span.start : span.end] for span in text.spans} == {"TNF-alpha", "cancers"}


def test_filters_reach_the_tool(full):
    years = {hit["year"] for hit in full("search", "cancer", "--year-to", "2016", "--json").json["results"]}
    assert years
    assert max(years) <= 2016


def test_a_filter_may_be_given_more_than_once(full):
    argv = ["--publication-types", "meta-analysis", "--publication-types", "systematic review"]
    assert full("search", "treatment", *argv, "--json").code == 0


def test_the_quality_bias_can_be_turned_off(full):
    plain = full("search", "cancer", "--no-quality-bias", "--json").json["results"]
    assert max(hit["score"] for hit in plain) <= 1


def test_nothing_found_is_reported_with_what_to_do(cli):
    ran = cli("search", "cancer")
    assert ran.code == 0
    assert "No paper in the corpus matches." in ran.out


@pytest.mark.parametrize("name", ["27602157", "pmid:27602157"])
def test_a_paper_is_shown_in_full_by_either_name(full, name):
    shown = full("get", name).out
    assert shown.startswith("[RETRACTED] miR-429 promotes")
    for word in ("Oncology letters", "2016-09", "Retracted Publication", "10.3892/ol.2016.4904", "0 of 9: retracted"):
        assert word in shown


def test_a_paper_without_title_authors_or_abstract_is_shown_too(cli):
    corpus = cli.corpus()
    import_records([Article(pmid="9", retraction=RetractionStatus.UNKNOWN)], corpus)
    corpus.close()
    assert cli("get", "9").out.startswith("(no title)")


def test_a_paper_that_is_not_there_is_reported(full):
    ran = full("get", "1")
    assert ran.code == 1
    assert ran.err.startswith("error: pmid:1 is not in the corpus.")


def test_several_papers_are_shown_and_those_that_are_not_there_are_named(full):
    ran = full("get", "27602157", "1", "pmid:27602157")
    assert ran.code == 1
    assert ran.out.count("[RETRACTED] miR-429 promotes") == 2
    assert ran.err.startswith("error: pmid:1 is not in the corpus.")
    papers = full("get", "27602157", "1", "--json").json["papers"]
    assert [each.get("doc_id") for each in papers] == ["pmid:27602157", None]
    assert papers[1]["error"]["code"] == "NOT_FOUND"


def test_what_to_do_is_worded_in_commands(full):
    reported = full("get", "1").err
    assert "`bio-mcp search`" in reported
    assert "`bio-mcp sync`" in reported
    assert not {"rag.search", "pubmed.sync_delta", "doc_id"} & set(reported.split())
