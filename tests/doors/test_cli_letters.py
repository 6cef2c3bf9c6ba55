"""`bio-mcp admin letters`: what was given up on a laptop is seen, made again by the worker, or deleted."""

import json

import pytest

from bio_mcp.doors.queue_worker import work_once
from bio_mcp.syncing import delta
from bio_mcp.tool import tools_in
from bio_mcp.tools import sync_delta

TOOLS = tools_in(sync_delta)
TERM = '"2021/06/02"[crdt] : "2021/06/02"[crdt]'
SYNC = {"tool": "pubmed.sync_delta", "arguments": {"query_key": "k", "term": TERM}}


@pytest.fixture
def given_up(cli, ncbi):
    """A sync that NCBI refused, with its job."""
    ncbi.control.set_today("2026/01/01")
    cli.ncbi = ncbi.base_url
    with cli.corpus() as corpus:
        corpus.continuations.send({"tool": "no.such", "arguments": {}})
        assert work_once(corpus.continuations, TOOLS, corpus)
        corpus.continuations.send(SYNC)
        receipt, _ = corpus.continuations.receive(60)
        corpus.continuations.fail(receipt, "NCBI rejects the key", retryable=False)
    return cli


def letters(cli):
    return cli("admin", "letters", "list", "--json").json["letters"]


def test_without_letters_it_says_so(cli):
    ran = cli("admin", "letters", "list")
    assert (ran.code, ran.said) == (0, "There are no dead letters.")
    assert cli("admin", "letters", "show", "1").said.startswith("error: There is no dead letter 1.")
    assert cli("admin", "letters", "redrive", "--all", "--yes").code == 0


def test_each_letter_says_what_it_calls_when_it_failed_and_why(given_up):
    unknown, sync = letters(given_up)
    assert (sync["call"], sync["reason"], sync["tries"]) == ("pubmed.sync_delta k", "NCBI rejects the key", 1)
    assert "there is no tool no.such" in unknown["reason"]
    assert sync["failed_at"] >= unknown["failed_at"]
    said = given_up("admin", "letters", "list").said
    assert "pubmed.sync_delta k" in said
    assert "NCBI rejects the key" in said
    shown = given_up("admin", "letters", "show", sync["id"], "--json").json
    assert json.loads(shown["message"]) == SYNC
    assert given_up("admin", "letters", "show", "999").code == 1


def test_nothing_is_done_without_yes_and_only_to_the_letters_that_are_named(given_up):
    _, sync = letters(given_up)
    for word in ("redrive", "delete"):
        assert given_up("admin", "letters", word).code == 2
        assert given_up("admin", "letters", word, sync["id"], "--all").code == 2
        ran = given_up("admin", "letters", word, sync["id"])
        assert ran.code == 1
        assert "1 letter would be" in ran.said
        assert sync["id"] in ran.said
    assert len(letters(given_up)) == 2
    assert given_up("admin", "letters", "delete", sync["id"], "--yes").said == "1 letter deleted."
    assert [each["call"] for each in letters(given_up)] == ["no.such"]


def test_a_letter_that_is_sent_again_is_called_by_the_worker(given_up):
    _, sync = letters(given_up)
    ran = given_up("admin", "letters", "redrive", sync["id"], "--yes", "--json")
    assert (ran.code, ran.json["redriven"]) == (0, [sync["id"]])
    assert given_up("admin", "letters", "redrive", sync["id"], "--yes").code == 1  # it is no letter any more
    with given_up.corpus() as corpus:
        assert work_once(corpus.continuations, TOOLS, corpus)
        assert corpus.jobs.latest(delta.KIND, "k").state == "succeeded"
        assert corpus.documents.count() == 5
        assert not work_once(corpus.continuations, TOOLS, corpus)
    assert [each["call"] for each in letters(given_up)] == ["no.such"]
