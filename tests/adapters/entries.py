"""Index entries with made-up words and vectors."""

import numpy as np

from bio_mcp.retrieval.passages import Chunk, Entry

DIM = 8


def unit(seed, dim=DIM):
    """A unit vector that depends on `seed` alone."""
    vector = np.random.default_rng(seed).standard_normal(dim).astype(np.float32)
    return vector / np.linalg.norm(vector)


def chunk(chunk_id, text="some text"):
    return Chunk(chunk_id, text, f"title. {text}", None, 0, len(text))


def entry(pmid, terms="", *, vectors=None, version=1, dim=DIM, **fields):
    """An entry of one window per vector, w0, w1, ...; by default one that depends on the PMID."""
    vectors = [unit(int(pmid), dim)] if vectors is None else vectors
    chunks = tuple(chunk(f"w{i}", f"text {i} of {pmid}") for i in range(len(vectors)))
    named = {f"w{i}": np.asarray(vector, np.float32) for i, vector in enumerate(vectors)}
    return Entry(str(pmid), version, f"Title {pmid}", terms.split(), chunks, named, **fields)
