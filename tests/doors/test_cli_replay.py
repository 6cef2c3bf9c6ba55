"""`bio-mcp replay`."""


def newest(cli):
    return cli("replay", "--json").json["calls"][0]["correlation_id"]


def test_a_search_is_recorded_and_equal_until_the_corpus_moves(cli):
    cli.fill(20)
    assert cli("replay").out.strip().endswith("No call is recorded yet.")
    cli("search", "cells")
    call = newest(cli)
    equal = cli("replay", call)
    assert (equal.code, equal.out.splitlines()[-1]) == (0, "Equal.")
    corpus = cli.corpus()
    gone = corpus.documents.pmids()
    pmids = [next(gone) for _ in range(15)]
    corpus.passages.delete(pmids)
    corpus.documents.delete(pmids)
    corpus.close()
    moved = cli("replay", call, "--json")
    assert (moved.code, moved.json["moved"], moved.json["as_then"]) == (1, ["corpus"], None)
    assert set(moved.json["papers"]["gone"]) <= set(pmids)
    assert "Found then only: PMID" in cli("replay", call).out
    assert newest(cli) == call


def test_a_call_that_is_not_in_the_log_is_a_failure(cli):
    failed = cli("replay", "nothing")
    assert failed.code == 1
    assert "30 days" in failed.err
