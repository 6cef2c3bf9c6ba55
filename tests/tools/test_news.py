"""whatsNew and markRead, called as every door calls them."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from bio_mcp.call import call
from bio_mcp.callers import ANONYMOUS, Caller
from bio_mcp.literature.records import Correction, Deletion, RetractionStatus
from bio_mcp.ports.state import Found
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.queries import RETRACTIONS_KEY
from bio_mcp.tools.news import FIRST, mark_read, whats_new
from bio_mcp.tools.sync_delta import sync_delta
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article

DAY = date(2026, 1, 1)
LONG_AGO, LATELY = datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 12, 20, tzinfo=UTC)
NOTICE = Correction("RetractionIn", "J Test. 2026;1:1", "99")
TRIAL = article("1", title="A trial.", text="It works in ten of twelve patients.")
REVISED = replace(TRIAL, abstract=article("1", text="It works in two of twelve patients.").abstract)
RETRACTED = replace(REVISED, retraction=RetractionStatus.RETRACTED, corrections=(NOTICE,))


@pytest.fixture
def corpus(tmp_path):
    """The papers 1 and 2 of the query "topic", of which 2 came lately."""
    with Corpus(tmp_path, day=DAY) as made:
        apply_records([TRIAL, article("2", title="A review.")], made)
        made.checkpoints.advance("topic", "t", None, {"edat": "2025-12-31"})
        made.news.find("topic", [Found("1", 1, LONG_AGO), Found("2", 1, LATELY)], first=True)
        made.news.set_whole("topic")
        yield made


def asked(corpus, **arguments):
    return call(whats_new, {"query_key": "topic", **arguments}, corpus).body


def told(body):
    return [(each["kind"], each["pmid"]) for each in body["news"]]


def test_news_are_those_since_a_day_and_by_default_of_the_last_month(corpus):
    assert told(asked(corpus)) == [("new", "2")]
    assert told(asked(corpus, since="2020-01-01")) == [("new", "1"), ("new", "2")]
    assert told(asked(corpus, since="2025-12-20T00:00:01Z")) == []


def test_after_a_first_sync_all_that_it_brought_is_listed_and_after_a_second_what_came_since(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, DAY) as made:
        brought = call(sync_delta, {"query_key": "topic", "term": "COVID-19"}, made).body
        body = asked(made, limit=2)
        assert (told(body), body["more"]) == ([("new", each["pmid"]) for each in body["news"]], True)
        assert body["warnings"] == [FIRST.format("topic", brought["inserted"])]
        rest = asked(made, since=body["next"])
        assert len(body["news"]) + len(rest["news"]) == brought["inserted"]
        assert rest["warnings"] == []
        assert asked(made, since=rest["next"])["news"] == []
        call(sync_delta, {"query_key": "topic", "term": "COVID-19"}, made)
        assert (asked(made)["news"], asked(made)["warnings"]) == ([], [])


def test_without_a_query_those_that_are_followed_are_listed(corpus):
    corpus.checkpoints.advance(RETRACTIONS_KEY, "t")
    corpus.checkpoints.set("watermark", "2025-01-01T00:00:00Z", {})
    about = "looks for retractions of any paper of the corpus and of projects"
    retractions = {"query_key": RETRACTIONS_KEY, "term": "t", "settled_to": None, "last_sync": None, "about": about}
    topic = {"query_key": "topic", "term": "t", "settled_to": "2025-12-31", "last_sync": None}
    assert call(whats_new, {}, corpus).body["queries"] == [retractions, topic]


def test_where_nothing_is_followed_it_says_how_to_begin(tmp_path):
    with Corpus(tmp_path, day=DAY) as made:
        body = call(whats_new, {}, made).body
        assert (body["queries"], body["warnings"]) == ([], ["No query is followed yet: pubmed_sync_delta begins one."])


def test_what_the_installation_looks_for_is_said_to_be_no_topic(corpus):
    corpus.checkpoints.advance(RETRACTIONS_KEY, "t", None, {"edat": "2025-12-31"})
    [warning] = call(whats_new, {"query_key": RETRACTIONS_KEY}, corpus).body["warnings"]
    assert warning.startswith(f"{RETRACTIONS_KEY!r} looks for retractions of any paper")


def test_a_new_paper_is_described(corpus):
    [paper] = asked(corpus)["news"]
    assert (paper["title"], paper["journal"], paper["year"]) == ("A review.", "A journal", 2024)
    assert (paper["at"], paper["version"], paper["retraction"]) == ("2025-12-20T00:00:00Z", 1, "clear")


def test_a_changed_paper_says_what_differs_and_in_which_version(corpus):
    apply_records([REVISED], corpus)
    [*_, paper] = asked(corpus)["news"]
    assert (paper["kind"], paper["version"]) == ("changed", 2)
    assert paper["changed"] == [{"field": "abstract", "removed": "ten", "added": "two"}]


def test_a_retraction_is_reported_with_its_notice_beside_the_change(corpus):
    apply_records([RETRACTED], corpus)
    [*_, changed, retracted] = asked(corpus)["news"]
    assert (changed["kind"], retracted["kind"]) == ("changed", "retracted")
    assert retracted["retraction"] == "retracted"
    assert retracted["notices"] == ["Retraction in: J Test. 2026;1:1"]


def test_a_paper_that_pubmed_withdrew_is_reported_without_what_it_was(corpus):
    apply_records([Deletion("1")], corpus)
    [*_, gone] = asked(corpus)["news"]
    assert (gone["kind"], gone["pmid"], gone.get("title")) == ("deleted", "1", None)


def test_what_only_indexers_see_is_no_news(corpus):
    apply_records([replace(TRIAL, status="MEDLINE", date_revised=date(2026, 1, 1))], corpus)
    body = asked(corpus)
    assert told(body) == [("new", "2")]
    assert told(asked(corpus, since=body["next"])) == []


def test_a_change_whose_version_is_no_longer_stored_says_that_by_null(corpus):
    for number in range(8):
        apply_records([replace(TRIAL, title=f"A trial of {number}.")], corpus)
    changes = [each["changed"] for each in asked(corpus)["news"] if each["kind"] == "changed"]
    assert len(changes) == 8
    assert (changes[0], changes[-1][0]["field"]) == (None, "title")


def test_what_comes_next_is_asked_for_by_the_position_that_an_answer_gave(corpus):
    apply_records([RETRACTED], corpus)
    seen, body = [], asked(corpus, since="2020-01-01", limit=1)
    while body["news"]:
        seen += told(body)
        body = asked(corpus, since=body["next"], limit=1)
    assert seen == [("new", "1"), ("new", "2"), ("changed", "1"), ("retracted", "1")]
    assert body["more"] is False
    assert asked(corpus, since=body["next"])["next"] == body["next"]


def test_an_answer_has_the_length_that_is_asked_for_and_says_where_to_go_on(corpus):
    apply_records([replace(TRIAL, title="word " * 400)], corpus)
    apply_records([replace(TRIAL, title="other " * 400)], corpus)
    short = asked(corpus, since="2020-01-01", max_characters=1_000)
    assert (len(short["news"]) < 4, short["more"]) == (True, True)
    whole = asked(corpus, since="2020-01-01")
    rest = asked(corpus, since=short["next"])
    assert [*short["news"], *rest["news"]] == whole["news"]
    assert max(len(each["added"]) for one in whole["news"] for each in one.get("changed") or ()) < 600


@pytest.mark.parametrize(
    "since", ["yesterday", "2026-13-01", "2026-01-01 10 20 new", "n1 2026-01-01", "x" * 101, "9999-12-31"]
)
def test_a_time_that_is_none_is_refused(corpus, since):
    assert asked(corpus, since=since)["error"]["code"] == "VALIDATION"


def test_a_query_that_nobody_follows_is_not_found_and_the_followed_ones_are_named(corpus):
    error = asked(corpus, query_key="topik")["error"]
    assert (error["code"], "topic" in error["message"]) == ("NOT_FOUND", True)


def test_an_answer_about_a_query_whose_papers_are_not_all_known_says_so(corpus):
    corpus.checkpoints.advance("old", "t", None, {"edat": "2025-12-31"})
    [warning] = asked(corpus, query_key="old")["warnings"]
    assert "earlier version" in warning
    corpus.checkpoints.advance("begun", "t")
    assert "first sync" in asked(corpus, query_key="begun")["warnings"][0]


@pytest.mark.parametrize("since", ["2020-01-01", None])
def test_what_an_answer_gave_is_marked_as_read_by_its_next(corpus, since):
    apply_records([RETRACTED], corpus)
    body = asked(corpus, **({"since": since} if since else {}))
    given = {"query_key": "topic", "position": body["next"]}
    read_to = [call(mark_read, given, corpus, caller=Caller("ann")).body["position"] for _ in range(2)]
    assert read_to == [corpus.news.since("topic", "", 1, newest_first=True)[0].position] * 2
    assert corpus.news.read_to("topic", "ben") == ""


def test_of_whoever_comes_without_a_token_nothing_is_noted(corpus):
    given = {"query_key": "topic", "position": asked(corpus, since="2020-01-01")["next"]}
    assert "Nobody is signed in" in call(mark_read, given, corpus, caller=ANONYMOUS).body["error"]["message"]
