"""A schedule, a continuation and a redelivery are one message; none of them loses a paper or does one twice."""

import json
from collections import Counter

import pytest

from bio_mcp.syncing import queries
from tests.all.emulated.conftest import TERM, Papers, found_by
from tests.emulated.aws_cli import commands, run
from tests.emulated.build import ROOT
from tests.emulated.cloud import CORPUS
from tests.emulated.schedules import once, scheduled
from tests.emulated.stack import until
from tests.support.retracting import is_plain, retract

RUNBOOK = (ROOT / "docs/runbook.md").read_text()
TRIES = 5  # the queue's maxReceiveCount
POISON = ["not JSON", json.dumps({"tool": "pubmed.sync_delta", "arguments": {"query_key": "no term"}})]
pytestmark = pytest.mark.timeout(600)


def sync_half(up, papers):
    """Begin a sync by the queue and come back while it is in the middle: it marks all papers when all are indexed."""
    up.stack.send(papers.event)
    until(papers.indexed, 200, "paper")


def dead_calls(stack):
    return [each for each in stack.dead() if '"aws.s3"' not in each]


@pytest.fixture(scope="module", autouse=True)
def poison(up, no_letters):
    """Messages that no try will make well, after their tries, which take half a minute. Nothing is killed before: a
    function that dies before it has looked at its message leaves that hidden for the queue's own half hour.

    Gives the codes of the failures that were logged meanwhile."""
    before = failures(up)
    for message in POISON:
        up.stack.send(message)
    until(lambda: len(dead_calls(up.stack)) == len(POISON), 300, "dead letter of each")
    return failures(up) - before


def failures(up):
    """How often a sync failed, by code; other modules' syncs too."""
    return Counter(line["code"] for line in up.stack.errors("sync_delta"))


@pytest.fixture(scope="module", autouse=True)
def interrupted(up, poison):
    """Papers whose sync was killed in the middle, before the tests: it is a minute until the message comes again,
    because the function had asked the queue to wait for it. The dead function's lease has run out by then."""
    papers = Papers(up)
    sync_half(up, papers)
    up.emulator.kill_workers("sync_delta")
    assert papers.done() < papers.wanted, "the sync was over before it was killed"
    assert papers.watermark() is None
    up.stack.end_leases()
    return papers


def test_what_the_templates_schedule_sends_is_synced_and_what_is_new_is_announced(up, announced, interrupted):
    stack = up.stack
    wanted = found_by(up.ncbi, TERM) - interrupted.wanted  # some of which are copies of papers on the term
    wanted -= {item["pmid"]["S"] for item in stack.items("DocumentsTable")}  # what other modules synced
    once(stack.client("scheduler"), scheduled(stack, CORPUS))
    asked = {"tool": "corpus.checkpoint.get", "arguments": {"query_key": CORPUS}}
    until(lambda: stack.invoke("checkpoint", asked)["last_edat"], 200, "watermark")
    stored = {item["pmid"]["S"]: item for item in stack.items("DocumentsTable")}
    assert wanted
    assert wanted <= set(stored)
    assert all(stored[pmid]["indexed_version"] == stored[pmid]["version"] for pmid in wanted)
    until(lambda: wanted <= announced("corpus.new"), 60, "announcement of each paper")


def test_a_paper_that_is_retracted_is_flagged_announced_and_no_longer_kept_as_it_was(up, announced, papers):
    def standing():
        asked = {"tool": "fetchArticleDetails", "arguments": {"pmids": [pmid], "detailLevel": "citation_data"}}
        [article] = up.stack.invoke("pubmed", asked)["articles"]
        return article["retraction"]

    up.stack.send(papers.event)
    papers.until_synced()
    pmid = next(each for each in sorted(papers.wanted) if is_plain(up.ncbi.control.record(int(each))))
    assert standing() == "clear"
    retract(up.ncbi, pmid)
    assert standing() == "clear", "nothing was kept"
    once(up.stack.client("scheduler"), scheduled(up.stack, queries.RETRACTIONS_KEY))
    until(lambda: pmid in announced("corpus.retracted"), 200, "announcement of the retraction")
    assert standing() == "retracted"
    assert (
        up.stack.invoke("get_doc", {"tool": "rag.get", "arguments": {"doc_id": f"pmid:{pmid}"}})["retraction"]
        == "retracted"
    )


def test_a_sync_that_runs_out_of_time_goes_on_through_the_queue_and_moves_the_watermark_only_when_done(up, papers):
    up.ncbi.control.fault(endpoint="esearch", term=papers.event["arguments"]["term"], times=2, stall=8)
    with up.stack.queue_closed("sync_delta"):
        answer = up.stack.invoke("sync_delta", {**papers.event, "timeout_s": 12})
        assert answer["state"] == "continues"
        assert papers.watermark() is None
    papers.until_synced()
    until(lambda: "complete" in papers.states(), 60, "log of the last run, which comes after its watermark")
    states = papers.states()
    assert states[-1] == "complete"
    assert set(states[:-1]) == {"continues"}
    assert papers.are_whole()


def test_a_message_delivered_again_changes_nothing(up, papers):
    up.stack.send(papers.event)
    papers.until_synced()
    before = papers.stored(), papers.indexed(), papers.checkpoint()
    for runs in (2, 3):
        up.stack.send(papers.event)
        until(lambda: papers.states().count("complete") == runs, 200, "answer to a redelivery")  # noqa: B023
    assert (papers.stored(), papers.indexed(), papers.checkpoint()) == before
    assert papers.are_whole()


def test_an_opensearch_node_that_dies_in_the_middle_costs_tries_and_no_paper(up, papers):
    sync_half(up, papers)
    up.search.kill()
    assert papers.done() < papers.wanted, "the sync was over before the node was killed"
    until(lambda: any("passage index" in line["reason"] for line in up.stack.errors("sync_delta")), 200, "error")
    assert papers.watermark() is None
    up.search.start()
    papers.until_synced()
    assert papers.are_whole()
    assert set(dead_calls(up.stack)) <= set(POISON)


def test_a_function_killed_in_the_middle_is_followed_by_a_redelivery_that_loses_nothing(up, interrupted):
    interrupted.until_synced()
    assert interrupted.are_whole()
    assert set(dead_calls(up.stack)) <= set(POISON)


def test_poisoned_messages_end_among_the_dead_letters_and_each_failure_is_logged(up, poison):
    assert sorted(dead_calls(up.stack)) == sorted(POISON)
    assert poison["InvalidInput"] == poison["VALIDATION"] == TRIES


def test_every_sync_is_stopped_by_the_commands_of_the_runbook_until_the_queue_is_opened_again(up, papers):
    """The last one, since other tests' messages that wait are lost by it too."""
    listing, closing, purging, opening = commands(RUNBOOK, "Stop a sync that runs away")
    to, uuid = up.stack.client, run(up.stack.client, listing)
    run(to, closing.replace("UUID", uuid))
    up.stack.send(papers.event)
    run(to, purging.replace("OUTPUT:WorkQueueUrl", up.stack.outputs["WorkQueueUrl"]))
    assert run(to, opening.replace("UUID", uuid))["State"] in ("Enabling", "Enabled")
    assert (up.stack.waiting(), papers.states()) == (0, [])
    up.stack.send(papers.event)
    papers.until_synced()
