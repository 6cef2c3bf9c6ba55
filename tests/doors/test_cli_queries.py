"""`bio-mcp queries`: list what is followed, stop it, forget it."""

import pytest

from bio_mcp.deadline import Deadline
from bio_mcp.syncing.delta import sync_delta


@pytest.fixture
def online(cli, ncbi):
    cli.ncbi = ncbi.base_url
    return cli


def begin(cli, query_key="big"):
    """A sync that has begun and waits to go on."""
    with cli.corpus() as corpus:
        return sync_delta(query_key, "cancer", 5, corpus, Deadline(0), lambda *_: None).job_id


def test_nothing_is_followed_at_first(cli):
    ran = cli("queries", "list")
    assert ran.code == 0
    assert "No query is followed" in ran.out


def test_what_is_followed_is_listed(online):
    online("sync", "covid", "COVID-19 OR zzyzzyva")
    ran = online("queries", "list")
    assert ran.code == 0
    for word in ("covid", "COVID-19 OR zzyzzyva", "complete", "papers in the corpus"):
        assert word in " ".join(ran.out.split())
    assert "zzyzzyva" in ran.err
    assert online("queries", "list", "none", "--json").json["queries"] == []


def test_a_sync_that_waits_is_stopped(online):
    job_id = begin(online)
    assert f"{job_id} is cancelled" in online("queries", "stop", "big").out
    assert online("queries", "list", "big", "--json").json["queries"][0]["last_sync"]["state"] == "cancelled"
    assert "No sync of big to stop" in online("queries", "stop", "big").out


def test_a_query_is_forgotten_only_when_told_twice(online):
    online("sync", "covid", "COVID-19")
    papers = online("queries", "list", "--json").json["papers"]
    ran = online("queries", "remove", "covid")
    assert ran.code == 1
    assert "would be removed" in ran.out
    ran = online("queries", "remove", "covid", "--yes")
    assert ran.code == 0
    assert "is removed; its papers stay" in ran.out
    assert online("queries", "list", "--json").json == {"queries": [], "left_out": 0, "papers": papers}
    assert "is not followed" in online("queries", "remove", "covid").out


def test_a_query_that_is_being_synced_is_not_forgotten(online):
    begin(online)
    with online.corpus() as corpus:
        corpus.leases.acquire("sync:big", "somebody", 60)
        ran = online("queries", "remove", "big", "--yes")
    assert ran.code == 1
    assert "stop it first" in ran.err
