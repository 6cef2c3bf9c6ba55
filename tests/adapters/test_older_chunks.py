"""Chunks of projects as an earlier version stored them."""

import json

from bio_mcp.adapters.indexes import CHUNK_FIELDS, chunk_of, chunk_values
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work


def test_a_chunk_that_was_stored_before_works_had_journals_is_read():
    chunk = ProjectChunk("c", Work("d", title="Sleep", authors=("Doe J",), source="a.pdf"), "Mice sleep.")
    stored = dict(zip(CHUNK_FIELDS, json.loads(json.dumps(chunk_values(chunk))), strict=True))
    assert chunk_of(stored) == chunk
    assert chunk_of({**stored, "work": stored["work"][:-1]}) == chunk
