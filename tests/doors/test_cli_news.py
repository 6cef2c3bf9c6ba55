"""`bio-mcp news`: a digest of what became of a query's papers."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bio_mcp.literature.records import Correction, Deletion, RetractionStatus
from bio_mcp.ports.news import Found
from bio_mcp.syncing.settling import settle
from tests.memory_corpus import article

TITLE = "A trial of *one* [drug] <b>."


@pytest.fixture
def topic(cli):
    """The command line over a query with news of each kind."""
    papers = [article("1", title="Old."), article("2", title=TITLE, doi="10.1000/x"), article("3", title="Going.")]
    with cli.corpus() as corpus:
        settle(papers, corpus)
        corpus.checkpoints.advance("topic", "t", None, {"edat": "2025-12-31"})
        now = corpus.now()
        corpus.news.find("topic", [Found(each.pmid, 1, now) for each in papers[1:]])
        corpus.news.find("topic", [Found("1", 1, datetime(2020, 1, 1, tzinfo=UTC))])
        corpus.news.set_whole("topic")
        notice = Correction("RetractionIn", "J Test. 2026;1:1", "99")
        changed = replace(papers[0], title="Older.", retraction=RetractionStatus.RETRACTED, corrections=(notice,))
        settle([changed, Deletion("3")], corpus)
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
    body = topic("news", "topic", "--format", "json").json
    assert [each["kind"] for each in body["news"]].count("new") == 2
    assert "Nothing new." in topic("news", "topic", "--since", body["next"]).shown


def test_as_much_is_looked_through_as_is_asked_for(topic):
    ran = topic("news", "topic", "--limit", "1")
    assert "There is more: give --since" in ran.shown


def test_a_query_that_nobody_follows_is_an_error(topic):
    ran = topic("news", "topik")
    assert (ran.code, "topic" in ran.err) == (1, True)
