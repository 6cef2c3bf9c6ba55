"""The largest batch of chunks that the contract allows passes over HTTP, and is less than what Lambda takes."""

import json

import httpx
import numpy as np
import pytest

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.settings import Settings
from tests.doors.serving import running
from tests.doors.wire import ACCEPT
from tests.support.corpus import DIM, Corpus
from tests.support.sample_project import add_project, passages

LAMBDA_TAKES = 6_291_556  # bytes of an event
BATCH = 500


@pytest.fixture
def lab(tmp_path):
    with Corpus(tmp_path) as corpus:
        add_project(corpus, "lab")
        yield corpus


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
    app = mcp_http.application(Settings(), mcp_server.in_process(lab), public=False)
    with running(app) as base:
        headers = {"accept": ACCEPT, "mcp-protocol-version": "2025-11-25", "content-type": "application/json"}
        answer = httpx.post(f"{base}/mcp", content=body, headers=headers, timeout=60)
    assert answer.json()["result"]["structuredContent"]["chunks_written"] == BATCH
    assert lab.collections.count("proj-lab") == BATCH + len(passages())
