"""Collections searched by brute force: the plain reading of the port's contract, to test with and compare against."""

import math
from collections import Counter

from bio_mcp.adapters.collections import (
    check_chunk_vectors,
    check_same_model,
    no_vector,
    other_collection_model,
    unknown_collection,
)
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.retrieval.chunk_facets import facets_of, folded_filters, section_of
from bio_mcp.retrieval.project_chunks import ChunkMatch
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1
from tests.reference_passages import lucene_length

PAGE = 256  # chunks embedded at a time


class _Collection:
    def __init__(self, model):
        self.model = model
        self.chunks, self.vectors = {}, {}

    def of(self, doc_id):
        return [each for each in self.chunks.values() if each.work.doc_id == doc_id]

    def remove(self, chunk_ids):
        for chunk_id in chunk_ids:
            self.chunks.pop(chunk_id)
            self.vectors.pop(chunk_id)


class ReferenceCollections:
    """Chunks in dictionaries, one for each collection; every query looks at all of its own."""

    def __init__(self):
        self._collections = {}

    def create(self, collection, fingerprint, dim):
        stored = self._collections.get(collection)
        if stored is None or not stored.chunks:
            self._collections[collection] = _Collection((fingerprint, dim))
        elif stored.model != (fingerprint, dim):
            raise other_collection_model(collection, stored.model[0], fingerprint)

    def drop(self, collection):
        return self._collections.pop(collection, None) is not None

    def model(self, collection):
        return self._collections[collection].model if collection in self._collections else None

    def rebuild(self, collection, fingerprint, dim, embed):
        stored = self._written(collection)
        made = {}
        while missing := [each.embedded_text for each in stored.chunks.values() if each.embedded_text not in made]:
            page = dict.fromkeys(missing[:PAGE])
            made |= zip(page, embed(list(page)), strict=True)
            check_chunk_vectors(made, dim)
        stored.vectors = {each.chunk_id: made[each.embedded_text] for each in stored.chunks.values()}
        stored.model = (fingerprint, dim)

    def replace(self, collection, doc_id, chunks, vectors, model=""):
        stored = self._written(collection, model if vectors else "")
        check_chunk_vectors(vectors, stored.model[1])
        known = {each.embedded_sha256: stored.vectors[each.chunk_id] for each in stored.of(doc_id)}
        given = {each.chunk_id: vectors.get(each.chunk_id, known.get(each.embedded_sha256)) for each in chunks}
        for each in chunks:
            if given[each.chunk_id] is None:
                raise no_vector(each)
        stored.remove([each.chunk_id for each in stored.of(doc_id)])
        stored.chunks.update({each.chunk_id: each for each in chunks})
        stored.vectors.update(given)

    def upsert(self, collection, chunks, vectors, model=""):
        stored = self._written(collection, model if vectors else "")
        check_chunk_vectors(vectors, stored.model[1])
        for each in chunks:
            if each.chunk_id not in vectors:
                raise no_vector(each)
        stored.chunks.update({each.chunk_id: each for each in chunks})
        stored.vectors.update({each.chunk_id: vectors[each.chunk_id] for each in chunks})

    def hashes(self, collection, doc_id):
        return {each.chunk_id: each.embedded_sha256 for each in self._read(collection).of(doc_id)}

    def document(self, collection, doc_id):
        return sorted(self._read(collection).of(doc_id), key=lambda each: (each.position, each.chunk_id))

    def search(self, collection, query):
        stored = self._read(collection)
        chunks, vectors = dict(stored.chunks), dict(stored.vectors)  # a test writes in another thread
        allowed = {key for key, each in chunks.items() if key in vectors and passes(each, query.filters)}
        lexical = _best(_bm25(chunks, query.terms, allowed), query.depth)
        semantic = {}
        if query.vector is not None and chunks:
            check_same_model(collection, stored.model[0], query.model, IndexUnavailable)
            check_chunk_vectors({"of the query": query.vector}, stored.model[1])
            cosines = {each: float(vectors[each] @ query.vector) for each in allowed}
            semantic = _best(cosines, query.depth)
        return [ChunkMatch(chunks[each], lexical.get(each), semantic.get(each)) for each in {**lexical, **semantic}]

    def sample(self, collection, count):
        chunks = self._read(collection).chunks
        return [chunks[each] for each in sorted(chunks)[:count]]

    def count(self, collection):
        return len(self._read(collection).chunks)

    def _read(self, collection):
        return self._collections.get(collection) or _Collection(("", 0))

    def _written(self, collection, model=""):
        if collection not in self._collections:
            raise unknown_collection(collection)
        check_same_model(collection, self._collections[collection].model[0], model, Conflict)
        return self._collections[collection]


def passes(chunk, filters):
    filters = folded_filters(filters)
    return facets_of(chunk.work).pass_through(filters) and section_of(chunk).startswith(filters.section_prefix or "")


def _bm25(chunks, terms, allowed):
    counts = {chunk_id: Counter(chunk.terms) for chunk_id, chunk in chunks.items()}
    mean = sum(count.total() for count in counts.values()) / max(1, len(counts))
    scores = {}
    for term, weight in terms:
        df = sum(term in count for count in counts.values())
        idf = math.log(1 + (len(counts) - df + 0.5) / (df + 0.5))
        for chunk_id in allowed:
            if tf := counts[chunk_id][term]:
                norm = BM25_K1 * (1 - BM25_B + BM25_B * lucene_length(counts[chunk_id].total()) / mean)
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * idf * tf / (tf + norm)
    return scores


def _best(scores, depth):
    return dict(sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:depth])
