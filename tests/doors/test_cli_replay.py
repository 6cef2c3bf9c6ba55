"""`bio-mcp replay`."""

from bio_mcp.call import call
from bio_mcp.callers import SCOPES, Caller
from bio_mcp.catalog import TOOLS


def newest(cli):
    return cli("replay", "--json").json["calls"][0]["correlation_id"]


def test_a_search_is_recorded_and_equal_until_the_corpus_moves(cli):
    cli.fill(20)
    assert cli("replay").out.strip().endswith("No call is recorded yet.")
    cli("search", "cells")
    recorded = newest(cli)
    equal = cli("replay", recorded)
    assert (equal.code, equal.out.splitlines()[-1]) == (0, "Equal.")
    corpus = cli.corpus()
    gone = corpus.documents.pmids()
    pmids = [next(gone) for _ in range(15)]
    corpus.passages.delete(pmids)
    corpus.documents.delete(pmids)
    corpus.close()
    moved = cli("replay", recorded, "--json")
    assert (moved.code, moved.json["moved"], moved.json["as_then"]) == (1, ["corpus"], None)
    assert set(moved.json["papers"]["gone"]) <= set(pmids)
    assert "Found then only: PMID" in cli("replay", recorded).out
    assert newest(cli) == recorded


def test_a_call_that_is_not_in_the_log_is_a_failure(cli):
    failed = cli("replay", "nothing")
    assert failed.code == 1
    assert "30 days" in failed.err


def test_a_tenants_calls_are_replayed_over_what_the_tenant_sees_and_in_no_other_name(cli):
    cli.fill(20)
    ann = Caller("ann", frozenset(SCOPES), "lab-a")
    with cli.corpus() as corpus:
        answer = call(TOOLS["rag.search"], {"query": "cells"}, corpus, caller=ann)
    recorded = answer.audit["correlation_id"]
    listed = cli("replay", "--tenant", "lab-a", "--json").json["calls"]
    assert [(each["correlation_id"], each["tool"]) for each in listed] == [(recorded, "rag.search")]
    assert cli("replay", "--json").json["calls"] == []
    assert cli("replay", recorded, "--tenant", "lab-a").out.endswith("Equal.\n")
    for others in ([], ["--tenant", "lab-b"]):
        assert "30 days" in cli("replay", recorded, *others).err
