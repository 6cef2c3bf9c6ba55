"""store_chunks, called as every door calls it."""

import json
import math

import httpx
import numpy as np
import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.running import in_process
from bio_mcp.settings import Settings
from tests.doors.serving import running
from tests.doors.wire import ACCEPT
from tests.support.corpus import DIM, Corpus, HashedWords, Over
from tests.support.sample_project import add_project, passages

STORE = TOOLS["store_chunks"]
HELD = len(passages())


@pytest.fixture
def lab(tmp_path):
    with Corpus(tmp_path) as corpus:
        add_project(corpus, "lab")
        yield corpus


def item(name="a", text="Newborns were screened.", **metadata):
    embedding = (HashedWords().embed([text])[0] * 3).tolist()
    return {"id": name, "text": text, "embedding": embedding, "metadata": metadata}


def store(backends, *items, project="lab", **more):
    return call(STORE, {"project": project, "items": list(items)}, backends, **more).body


def stored(backends, name):
    return next(each for each in backends.collections.sample("proj-lab", 100) if each.chunk_id == name)


def test_chunks_are_stored_and_found(lab):
    body = store(lab, item(doc_id="d", citekey="doe2020"))
    assert (body["chunks_written"], body["project"], body["embed_model"]) == (1, "lab", "hashed-words")
    found = call(TOOLS["query"], {"project": "lab", "text": "Newborns were screened."}, lab).body["items"][0]
    assert (found["chunk_id"], found["doc_id"], found["citekey"]) == ("a", "d", "doe2020")
    assert found["score"] == pytest.approx(1, abs=1e-5)  # the vector was scaled to length one


def test_storing_again_changes_nothing_and_an_id_is_replaced(lab):
    store(lab, item())
    store(lab, item())
    assert lab.collections.count("proj-lab") == HELD + 1
    store(lab, item(text="Another text."))
    assert lab.collections.count("proj-lab") == HELD + 1
    assert stored(lab, "a").text == "Another text."


def test_small_batches_are_stored_with_a_warning_and_large_ones_without(lab):
    [warning] = store(lab, item())["warnings"]
    assert "100 to 500" in warning
    assert store(lab, *(item(str(n)) for n in range(500)))["warnings"] == []
    assert lab.collections.count("proj-lab") == HELD + 501


@pytest.mark.parametrize(
    ("embedding", "code", "says"),
    [
        ([1.0] * (DIM - 1), "EMBEDDING_MISMATCH", f"items.1.embedding has {DIM - 1} numbers"),
        ([1.0] * 8_192, "EMBEDDING_MISMATCH", "has 8192 numbers"),
        ([1.0] * 8_193, "INVALID_ARG", "8192 are the most"),
        ([], "EMBEDDING_MISMATCH", "has 0 numbers"),
        ([0.0] * DIM, "INVALID_ARG", "items.1.embedding: every number is 0"),
        ([math.nan] * DIM, "INVALID_ARG", "items.1.embedding: not every number is finite"),
        ([1.0, math.inf, *[0.0] * (DIM - 2)], "INVALID_ARG", "not every number is finite"),
        (["1.0"] * DIM, "INVALID_ARG", "items.1.embedding.0"),
        ([True] * DIM, "INVALID_ARG", "items.1.embedding.0"),
        (None, "INVALID_ARG", "items.1.embedding"),
    ],
)
def test_one_embedding_that_is_none_refuses_the_whole_call(lab, embedding, code, says):
    error = store(lab, item(), item("b") | {"embedding": embedding})["error"]
    assert error["code"] == code
    assert says in error["message"]
    assert lab.collections.count("proj-lab") == HELD


def test_another_embedding_model_is_refused(lab):
    assert store(lab, item(embed_model="hashed-words"))["chunks_written"] == 1
    error = store(lab, item(embed_model="fastembed/all-MiniLM-L6-v2"))["error"]
    assert error["code"] == "EMBEDDING_MISMATCH"
    assert "fastembed/all-MiniLM-L6-v2" in error["message"]
    assert "hashed-words" in error["message"]


def test_an_id_that_stands_twice_is_refused(lab):
    error = store(lab, item(), item(text="Another."))["error"]
    assert (error["code"], lab.collections.count("proj-lab")) == ("INVALID_ARG", HELD)
    assert "items.1.id: 'a' stands twice" in error["message"]


@pytest.mark.parametrize("named", ["project", "project_id"])
def test_a_project_that_the_metadata_names_is_ignored_with_a_warning(lab, named):
    add_project(lab, "other")
    body = store(lab, item(**{named: "other"}), item("b", **{named: "lab"}))
    assert "metadata of 1 chunks names another project, which was ignored" in body["warnings"][1]
    assert lab.collections.count("proj-lab") == HELD + 2
    assert lab.collections.count("proj-other") == HELD


def nested(depth):
    return {} if depth == 0 else {"a": nested(depth - 1)}


@pytest.mark.parametrize(
    "metadata",
    [
        {"x": "long" * 10_000},
        {"x": "\ud800"},
        {"\ud800": 1},
        {"x": math.nan},
        {"x": nested(50)},
        {"x": [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]},
    ],
    ids=["long", "surrogate", "surrogate as a key", "nan", "deep", "deep lists"],
)
def test_metadata_that_no_store_takes_is_refused(lab, metadata):
    error = store(lab, item(**metadata))["error"]
    assert error["code"] == "INVALID_ARG"
    assert "items.0.metadata" in error["message"]


@pytest.mark.parametrize("field", ["id", "text"])
@pytest.mark.parametrize("value", ["", "\ud800", None, 7.5, "x" * 10_001])
def test_an_id_and_a_text_are_bounded_strings(lab, field, value):
    error = store(lab, item() | {field: value})["error"]
    assert error["code"] == "INVALID_ARG"
    assert f"items.0.{field}" in error["message"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a'); DROP TABLE x; --", "*", "ü" * 128, "a\nb"])
def test_an_id_may_be_any_text(lab, name):
    store(lab, item(name))
    assert stored(lab, name).text == "Newborns were screened."


def test_nothing_is_stored_after_the_time(lab):
    error = store(lab, item(), deadline=Deadline(0))["error"]
    assert error["code"] == "TIMEOUT"
    assert lab.collections.count("proj-lab") == HELD


def test_an_index_that_was_lost_is_not_made_behind_the_users_back(lab):
    lab.collections.drop("proj-lab")
    error = store(lab, item())["error"]
    assert (error["code"], error["details"]["retryable"]) == ("INDEX_UNAVAILABLE", False)
    assert "ingest_from_source with create: true makes it anew" in error["message"]


def test_it_needs_no_model_and_says_that_it_writes(lab):
    class NoModel:
        def __getattr__(self, name):
            raise AssertionError(f"{name} of the model was asked for")

    assert store(Over(lab, embeddings=NoModel()), item())["chunks_written"] == 1
    assert (STORE.read_only, STORE.destructive) == (False, True)


LAMBDA_TAKES = 6_291_556  # bytes of an event
BATCH = 500


def largest_batch():
    """As a client sends it: every number of a vector in full, and passages as long as a hit is shown."""
    vectors = np.random.default_rng(7).standard_normal((BATCH, DIM)).astype(np.float32)
    items = [
        {"id": f"c{n}", "text": "word " * 360, "embedding": vector.tolist(), "metadata": {"citekey": f"k{n}"}}
        for n, vector in enumerate(vectors)
    ]
    params = {"name": "store_chunks", "arguments": {"project": "lab", "items": items}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def test_five_hundred_chunks_are_stored_in_one_request(lab):
    body = largest_batch()
    assert len(json.dumps({"body": body})) < LAMBDA_TAKES
    app = mcp_http.application(Settings(), in_process(lab), public=False)
    with running(app) as base:
        headers = {"accept": ACCEPT, "mcp-protocol-version": "2025-11-25", "content-type": "application/json"}
        answer = httpx.post(f"{base}/mcp", content=body, headers=headers, timeout=60)
    assert answer.json()["result"]["structuredContent"]["chunks_written"] == BATCH
    assert lab.collections.count("proj-lab") == BATCH + len(passages())
