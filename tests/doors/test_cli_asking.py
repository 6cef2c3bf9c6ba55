"""`bio-mcp search`, `get`, `answer` and `news`: what a reader sees, on any terminal."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from bio_mcp.doors.cli.render import marked
from bio_mcp.literature.records import AbstractSection, Article, Correction, Deletion, Journal, RetractionStatus
from bio_mcp.ports.state import Found
from bio_mcp.syncing.applying import apply_records
from tests.answering.ginger import AGAIN, GINGER, OTHERS, QUESTION
from tests.doors.command_line import CommandLine
from tests.support.memory_corpus import article

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


def test_a_hit_shows_rank_journal_year_pmid_and_one_scale_and_the_reason_of_its_place_if_asked(full):
    [hit] = full("search", "miR-429 in lung cancer", "--json").json["results"]
    shown = full("search", "miR-429 in lung cancer").out
    assert shown.startswith(f"1. [RETRACTED] {hit['title']}\n   PMID 27602157, {hit['authors']}, Oncol Lett, 2016\n")
    assert f"   relevance {hit['relevance']:.3f}".rstrip("0") + "\n" in shown
    assert not {"score", "quality", "explanation"} & set(shown.split())
    assert "; 39 weak matches left out: --include-weak.\n" in shown
    explained = full("search", "miR-429 in lung cancer", "--explain")
    assert "explanation meaning " in explained.out
    assert len(full("search", "cancer", "--include-weak", "--json").json["results"]) == 10


def test_a_hit_that_does_not_fit_says_so(full):
    assert "match weak" in full("search", "zxqv blorp nargle").out


def test_a_warning_is_distinguished_from_the_list(full):
    ran = full("search", "xyzzyplugh")
    assert ran.err.startswith("warning: None of the query's words occurs in the corpus")
    assert "warning" not in ran.out


def test_a_search_that_finds_nothing_says_why(full):
    ran = full("search", "lung cancer", "--year-from", "2100")
    assert "`bio-mcp pubmed search` asks PubMed itself" in ran.out
    assert "No paper in the corpus passes the filters." in ran.said
    for year in ("21", "20210"):
        ran = full("search", "lung cancer", "--year-from", year)
        assert (ran.code, ran.err) == (
            2,
            f"error: --year-from: {year} is no year of publication; give one such as 2021.\n",
        )
    ran = full("search", "lung cancer", "--journals", "Nature")
    assert (ran.code, ran.err) == (2, "error: --journals: The corpus has no paper of the journal 'Nature'.\n")


def test_a_query_is_shown_as_it_was_read_and_one_that_cannot_be_read_with_its_place(full):
    assert full("search", "27602157").out.startswith("Read as PMID 27602157. 1 paper matches.\n")
    ran = full("search", "cancer*", "NOT", "review[pt]", "--top-k", "2")
    assert ran.out.startswith('Read as PubMed\'s syntax, from left to right: cancer* NOT "Review"[pt].')
    assert "papers match.\n" in ran.out
    assert full("search", "cancr in lungs").out.startswith("Read as a question, cancr as cancer.\n")
    ran = full("search", "(cancer", "AND", "lung")
    assert (ran.code, ran.out) == (2, "")
    assert "a bracket is not closed; expected ) (character 1, in '(cancer AND lung')" in ran.err


def test_the_next_page_goes_on_with_the_numbers(full):
    first = full("search", "cancer", "--top-k", "3", "--include-weak").out
    assert "\n3. " in first
    more = first.rpartition("more: --cursor ")[2].strip().rstrip(".")
    second = full("search", "cancer", "--top-k", "3", "--include-weak", "--cursor", more).out
    assert second.startswith("4. ")
    assert "\n1. " not in second


SHOWING = [("search", "cancer"), ("get", "27602157"), ("doctor",), ("admin", "tools")]


@pytest.mark.parametrize("argv", SHOWING, ids=" ".join)
def test_a_line_is_as_wide_as_the_terminal_and_in_a_pipe_neither_wrapped_nor_padded(full, terminal, monkeypatch, argv):
    monkeypatch.setenv("COLUMNS", "40")
    lines = full(*argv).out.splitlines()
    assert max(map(len, lines)) > 80
    assert [line for line in lines if line != line.rstrip()] == []
    for width in (40, 80):
        terminal(width)
        assert max(map(cell_len, full(*argv).shown.splitlines())) <= width


def test_wide_and_combining_characters_stay_in_their_columns(cli, terminal):
    cli.add(THAI)
    for width in (60, 120):
        terminal(width)
        shown = cli("search", "migraine").shown
        assert max(map(cell_len, shown.splitlines())) <= width
        assert "ไมเกรน" in shown.replace("\n", "")


def test_markup_in_a_title_is_shown_as_it_stands(cli):
    cli.add(Article(pmid="8", title="[bold]Aspirin[/bold] :smile: in pain"))
    assert "[bold]Aspirin[/bold] :smile: in pain" in cli("search", "aspirin").out
    assert "[bold]Aspirin[/bold] :smile: in pain" in cli("get", "8").out


def test_words_are_marked_as_the_search_takes_them():
    text = marked("TNF-alpha and the cancers of mice", "TNFα cancer and")
    assert {text.plain[span.start : span.end] for span in text.spans} == {"TNF-alpha", "cancers"}


def test_filters_reach_the_tool(full):
    years = {hit["year"] for hit in full("search", "cancer", "--year-to", "2016", "--json").json["results"]}
    assert years
    assert max(years) <= 2016


def test_a_paper_is_shown_in_full_by_either_name(full):
    shown = full("get", "27602157").out
    assert full("get", "pmid:27602157").out == full("get", "PMC4998573").out == shown
    assert full("get", "https://doi.org/10.3892/ol.2016.4904").out == shown
    assert shown.startswith("[RETRACTED] miR-429 promotes")
    for word in (
        "Oncology letters",
        "2016-09",
        "Retracted Publication",
        "10.3892/ol.2016.4904",
        "0 of 9: retracted",
    ):
        assert word in shown


def test_what_the_abstract_states_of_its_study_is_a_line_of_a_hit_and_of_a_paper(cli):
    text = "A total of 334 patients were randomized. Mortality fell (HR 0.72, 95% CI 0.58-0.90); RR 0.5 (0.4 to 0.6)."
    cli.add(Article(pmid="9", title="Niacin", abstract=(AbstractSection(None, None, text),)))
    line = "n = 334; HR 0.72, 95 % CI 0.58 to 0.90"
    assert f"   {line}\n" in cli("search", "niacin", "mortality").out
    assert re.search(rf"(?m)^study +{re.escape(line)}$", cli("get", "9").out)


def test_a_paper_without_title_authors_or_abstract_is_shown_too(cli):
    cli.add(Article(pmid="9", retraction=RetractionStatus.UNKNOWN))
    assert cli("get", "9").out.startswith("(no title)")


def test_several_papers_are_shown_and_those_that_are_not_there_are_named(full):
    ran = full("get", "27602157", "1", "pmid:27602157")
    assert ran.code == 1
    assert ran.out.count("[RETRACTED] miR-429 promotes") == 2
    assert ran.err.startswith("error: pmid:1 is not in the corpus.")
    papers = full("get", "27602157", "1", "--json").json["papers"]
    assert [each.get("doc_id") for each in papers] == ["pmid:27602157", None]
    assert papers[1]["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("named", ["1", "10.5555/nothing", "PMC1"])
def test_what_to_do_is_worded_in_commands(full, named):
    reported = full("get", named).err
    assert "`bio-mcp search`" in reported
    assert "`bio-mcp sync`" in reported
    assert not {"rag.search", "pubmed.sync_delta", "doc_id"} & set(reported.split())


@pytest.fixture
def gingered(cli):
    cli.add(*GINGER, AGAIN, *OTHERS)
    return cli


def test_an_answer_is_shown_a_claim_a_line_then_each_paper_once_and_how_sure_it_is(gingered):
    body = gingered("answer", *QUESTION.split(), "--json").json
    ran = gingered("answer", *QUESTION.split())
    assert ran.out.startswith(f"{body['citations'][0]['quote']} [1]\n{body['citations'][1]['quote']} [2]")
    for each in body["citations"]:
        numbers = [n for n, other in enumerate(body["citations"], 1) if other["id"] == each["id"]]
        assert f"[{', '.join(map(str, numbers))}] {each['title']} PMID {each['id'][5:]}, " in ran.said
        assert ran.said.count(each["title"]) == ran.said.count(each["quote"]) == 1
    assert f"Confidence {min(0.99, body['scores']['answer_conf']):.2f}." in ran.said
    assert f"`bio-mcp answer --show {body['answer_id']}`" in ran.said
    assert not {"span", "extractive", "role"} & set(ran.said.split())


def test_what_is_withheld_says_why_and_shows_what_was_found(gingered):
    shown = gingered("answer", QUESTION, "--top-k", "1").said
    assert shown.startswith("No answer: only ")
    assert "could be cited, and an answer rests on at least 3." in shown
    assert "[1] " in shown
    assert "onfidence" not in shown


def test_an_earlier_answer_is_shown_as_it_was_given(gingered):
    body = gingered("answer", QUESTION, "--json").json
    shown = gingered("answer", "--show", body["answer_id"]).said
    assert shown.startswith(f"{QUESTION} {' '.join(body['answer'].split())}")
    assert f"{body['citations'][0]['title']} PMID" in shown
    assert gingered("answer", "--show", body["answer_id"], "--json").json["retracted_since"] == []


def test_a_retraction_is_seen_in_the_answer_and_by_the_doctor(gingered):
    answer_id = gingered("answer", QUESTION, "--json").json["answer_id"]
    gingered.add(replace(GINGER[0], retraction=RetractionStatus.RETRACTED))
    assert "PMID 11, which it cites, was retracted since." in gingered("answer", "--show", answer_id).said
    state, message = gingered("doctor", "--json").checks["answers"]
    assert (state, f"{answer_id} (PMID 11)" in message) == ("warn", True)
    assert "bio-mcp answer --show ID" in message


@pytest.mark.parametrize("given", [(), ("--show", "a", "why?")])
def test_a_question_or_an_id_is_needed_and_not_both(gingered, given):
    ran = gingered("answer", *given)
    assert (ran.code, "give a QUESTION, or --show" in ran.said) == (2, True)


TITLE = "A trial of *one* [drug] <b>."


@pytest.fixture
def topic(cli):
    """The command line over a query with news of each kind."""
    papers = [article("1", title="Old."), article("2", title=TITLE, doi="10.1000/x"), article("3", title="Going.")]
    with cli.corpus() as corpus:
        apply_records(papers, corpus)
        corpus.checkpoints.advance("topic", "t", None, {"edat": "2025-12-31"})
        now = corpus.now()
        corpus.news.find("topic", [Found(each.pmid, 1, now) for each in papers[1:]])
        corpus.news.find("topic", [Found("1", 1, datetime(2020, 1, 1, tzinfo=UTC))])
        corpus.news.set_whole("topic")
        notice = Correction("RetractionIn", "J Test. 2026;1:1", "99")
        changed = replace(papers[0], title="Older.", retraction=RetractionStatus.RETRACTED, corrections=(notice,))
        apply_records([changed, Deletion("3")], corpus)
    return cli


def test_a_digest_is_markdown_with_retractions_first(topic):
    ran = topic("news", "topic")
    lines = ran.shown.splitlines()
    assert (ran.code, lines[0]) == (0, "# News of topic")
    assert [each for each in lines if each.startswith("##")] == [
        "## Retracted (1)", "## New (2)", "## Changed (1)", "## Withdrawn from PubMed (1)",
    ]  # fmt: skip
    assert "  - Retraction in: J Test. 2026;1:1" in lines
    assert "  - title: ~~Old.~~ → Older." in lines


def test_a_title_is_text_and_not_markdown(topic):
    [line] = [each for each in topic("news", "topic").shown.splitlines() if "A trial" in each]
    assert r"**A trial of \*one\* \[drug\] \<b\>.**" in line
    assert "[PubMed](https://pubmed.ncbi.nlm.nih.gov/2/) [DOI](https://doi.org/10.1000/x)" in line


def test_json_has_what_to_go_on_with_and_then_nothing_is_new(topic):
    body = topic("news", "topic", "--json").json
    assert [each["kind"] for each in body["news"]].count("new") == 2
    assert "Nothing new;" in topic("news", "topic", "--since", body["next"]).shown


def test_a_query_that_nobody_follows_is_an_error(topic):
    ran = topic("news", "topik")
    assert (ran.code, "topic" in ran.err) == (1, True)
