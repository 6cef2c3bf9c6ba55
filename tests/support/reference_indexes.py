"""Indexes of papers and of projects, searched by brute force: the plain reading of the ports' contracts, to test with
and to compare engines against."""

import math
from collections import Counter
from datetime import date

import numpy as np

from bio_mcp.adapters.indexes import (
    check_same_model,
    check_vectors,
    other_collection_model,
    unknown_collection,
    vectors_of,
)
from bio_mcp.errors import Conflict, IndexUnavailable, ModelMismatch
from bio_mcp.health import OK, Finding
from bio_mcp.ports.models import PaperIndex, Role
from bio_mcp.retrieval.passages import Candidate, Matching, OtherName, StoredChunk, YearCount
from bio_mcp.retrieval.project_chunks import ChunkMatch, facets_of, folded_filters, section_of
from bio_mcp.retrieval.pubmed_syntax import matches
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1
from bio_mcp.retrieval.spelling import edits

PAGE = 256  # chunks embedded at a time


def lucene_length(n):
    """A field length as Lucene keeps it: exact below 40, then four significant bits."""
    if n < 24:
        return n
    bits = (n - 24).bit_length()
    return 24 + (n - 24 if bits < 4 else (n - 24 >> bits - 4) << bits - 4)


def bm25(texts, terms, allowed):
    """The scores of those texts that are allowed, by name; `texts` has the words of all."""
    counts = {name: Counter(words) for name, words in texts.items()}
    mean = sum(count.total() for count in counts.values()) / max(1, len(counts))
    scores = {}
    for term, weight in terms:
        df = sum(term in count for count in counts.values())
        idf = math.log(1 + (len(counts) - df + 0.5) / (df + 0.5))
        for name in allowed:
            if tf := counts[name][term]:
                norm = BM25_K1 * (1 - BM25_B + BM25_B * lucene_length(counts[name].total()) / mean)
                scores[name] = scores.get(name, 0.0) + weight * idf * tf / (tf + norm)
    return scores


def best(scores, depth, order):
    """The best of these; equal ones in this order."""
    return dict(sorted(scores.items(), key=lambda each: (-each[1], order(each[0])))[:depth])


class ReferenceIndexes:
    """The one index of the papers."""

    def __init__(self, passages):
        self.passages = passages

    def searched(self):
        return self.passages, self.passages.model

    def inspect(self):
        return Finding(OK, "one")

    def all(self):
        return [PaperIndex(Role.SEARCHED, *self.passages.model, self.passages)]


class ReferencePassages:
    """Entries in a dictionary; every query looks at all of them."""

    write_at_once = refresh_after = 1

    def __init__(self):
        self.model, self.entries, self.refused = None, {}, {}

    def ensure_schema(self, fingerprint, dim):
        self.model = self.model or (fingerprint, dim)
        if self.model != (fingerprint, dim):
            raise ModelMismatch("the index was built by another model")

    def check_model(self, fingerprint, dim):
        if self.entries and self.model != (fingerprint, dim):
            raise ModelMismatch("the index was built by another model")

    def chunk_texts(self, pmids):
        known = {pmid: self.entries[pmid] for pmid in pmids if pmid in self.entries}
        return {pmid: {each.chunk_id: each.embedded_sha256 for each in one.chunks} for pmid, one in known.items()}

    def renew(self, fingerprint, dim):
        if self.model != (fingerprint, dim):
            self.model, self.entries = (fingerprint, dim), {}

    def name(self):
        return "corpus"

    def versions(self):
        return ((pmid, self.entries[pmid].version) for pmid in sorted(self.entries, key=int))

    def chunk_vectors(self, pmids):
        return {pmid: {each.embedded_sha256: one.vectors[each.chunk_id] for each in one.chunks}
                for pmid in pmids if (one := self.entries.get(pmid))}  # fmt: skip

    def refresh(self, fingerprint, dim):
        self.check_model(fingerprint, dim)

    def upsert_chunks(self, entries, *, refresh=True) -> None:  # noqa: ARG002  seen at once
        for entry in entries:
            old = self.entries.get(entry.pmid)
            if (old is None or old.version <= entry.version) and entry.version > self.refused.get(entry.pmid, 0):
                kept = {} if old is None else old.vectors
                stored = {each.chunk_id: kept[each.chunk_id] for each in entry.chunks if each.chunk_id in kept}
                entry.vectors = stored | entry.vectors
                self.entries[entry.pmid] = entry

    def delete(self, pmids, upto={}):  # noqa: B006  it is read only
        for pmid in pmids:
            if pmid not in self.entries or pmid not in upto or self.entries[pmid].version <= upto[pmid]:
                self.entries.pop(pmid, None)
                self.refused[pmid] = max(upto.get(pmid, 0), self.refused.get(pmid, 0))

    def hybrid_search(self, query):
        allowed = [each for each in self.entries.values() if _passes(each, query.filters)]
        if query.within is not None:
            allowed = [each for each in allowed if each.pmid in query.within]
        texts = {each.pmid: each.terms for each in self.entries.values()}
        scores = bm25(texts, query.terms, [each.pmid for each in allowed])
        lexical = best(scores, query.depth, lambda pmid: -int(pmid))
        windows = {} if query.vector is None else {each.pmid: _best_window(each, query.vector) for each in allowed}
        sims = {pmid: sim for pmid, (sim, _) in windows.items()}
        semantic = best(sims, query.depth, lambda pmid: -int(pmid))
        return [
            Candidate(pmid, lexical.get(pmid), semantic.get(pmid), windows[pmid][1] if pmid in semantic else None,
                      self.entries[pmid].year, self.entries[pmid].quality, self.entries[pmid].retraction)
            for pmid in {**lexical, **semantic}
        ]  # fmt: skip

    def document_vectors(self, pmids):
        means = {pmid: np.mean(list(self.entries[pmid].vectors.values()), axis=0) for pmid in pmids
                 if pmid in self.entries}  # fmt: skip
        return {pmid: (mean / np.linalg.norm(mean)).astype(np.float32) for pmid, mean in means.items()}

    def chunks(self, pmids, vector=None):
        return {pmid: [_stored(pmid, each, self.entries[pmid], vector) for each in self.entries[pmid].chunks]
                for pmid in pmids if pmid in self.entries}  # fmt: skip

    def count(self):
        return len(self.entries), sum(len(each.chunks) for each in self.entries.values())

    def matching(self, filters, most):
        found = [each for each in self.entries.values() if _passes(each, filters)]
        found.sort(key=lambda each: (max(each.fields.days, default=date.min), int(each.pmid)), reverse=True)
        return Matching(len(found), tuple(each.pmid for each in found[:most]))

    def words_like(self, word):
        texts = (" ".join(each.fields.texts.get(name, "") for name in ("title", "abstract"))
                 for each in self.entries.values())  # fmt: skip
        papers = Counter(found for text in texts for found in set(text.split()))
        if papers[word]:
            return [(word, 1)]
        return [(each, count) for each, count in papers.most_common()
                if each[:1] == word[:1] and edits(word, each, 2) <= 2][:100]  # fmt: skip

    def other_names(self, names):
        defined = (
            pair
            for each in self.entries.values()
            for pair in {order for short, long in each.abbreviations for order in ((short, long), (long, short))}
        )
        counts = Counter(pair for pair in defined if pair[0] in names)  # fmt: skip
        return [OtherName(*pair, papers) for pair, papers in counts.items()]

    def by_year(self):
        counts = Counter((each.year, each.quality.design) for each in self.entries.values())
        ordered = sorted(counts.items(), key=lambda each: [(known is not None, known) for known in each[0]])
        return [YearCount(year, design, documents) for (year, design), documents in ordered]


def _passes(entry, filters):
    year = entry.year or 0
    return (
        (filters.year_from is None or year >= filters.year_from)
        and (filters.year_to is None or 0 < year <= filters.year_to)
        and (not filters.journals or bool({entry.journal_nlm_id, (entry.journal or "").lower()} & filters.journals))
        and (not filters.publication_types or bool(filters.publication_types & set(entry.publication_types)))
        and filters.tags <= set(entry.tags)
        and (filters.project is None or filters.project in entry.projects)
        and (
            filters.participants_min is None
            or (-1 if entry.participants is None else entry.participants) >= filters.participants_min
        )
        and (filters.tree is None or matches(filters.tree, entry.fields))
    )


def _best_window(entry, vector):
    return max(((float(entry.vectors[each.chunk_id] @ vector), each.chunk_id) for each in entry.chunks),
               key=lambda each: each[0])  # fmt: skip


def _stored(pmid, chunk, entry, vector):
    sim = None if vector is None else float(entry.vectors[chunk.chunk_id] @ vector)
    return StoredChunk(pmid, chunk.chunk_id, chunk.text, chunk.section, chunk.char_start, chunk.char_end, sim)


class _Collection:
    def __init__(self, model):
        self.model = model
        self.chunks, self.vectors = {}, {}

    def of(self, doc_id):
        return [each for each in self.chunks.values() if each.work.doc_id == doc_id]

    def add(self, chunks, vectors):
        self.chunks.update({each.chunk_id: each for each in chunks})
        self.vectors.update(zip((each.chunk_id for each in chunks), vectors, strict=True))

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
            check_vectors(made, dim)
        stored.vectors = {each.chunk_id: made[each.embedded_text] for each in stored.chunks.values()}
        stored.model = (fingerprint, dim)

    def replace(self, collection, doc_id, chunks, vectors, model=""):
        stored = self._written(collection, model if vectors else "")
        check_vectors(vectors, stored.model[1])
        known = {each.embedded_sha256: stored.vectors[each.chunk_id] for each in stored.of(doc_id)}
        chosen = vectors_of(chunks, vectors, known)
        stored.remove([each.chunk_id for each in stored.of(doc_id)])
        stored.add(chunks, chosen)

    def upsert(self, collection, chunks, vectors, model=""):
        stored = self._written(collection, model if vectors else "")
        check_vectors(vectors, stored.model[1])
        stored.add(chunks, vectors_of(chunks, vectors, {}))

    def hashes(self, collection, doc_id):
        return {each.chunk_id: each.embedded_sha256 for each in self._read(collection).of(doc_id)}

    def document(self, collection, doc_id):
        return sorted(self._read(collection).of(doc_id), key=lambda each: (each.position, each.chunk_id))

    def search(self, collection, query):
        stored = self._read(collection)
        chunks, vectors = dict(stored.chunks), dict(stored.vectors)  # a test writes in another thread
        allowed = {key for key, each in chunks.items() if key in vectors and passes(each, query.filters)}
        lexical = best(bm25({key: each.terms for key, each in chunks.items()}, query.terms, allowed), query.depth, str)
        semantic = {}
        if query.vector is not None and chunks:
            check_same_model(collection, stored.model[0], query.model, IndexUnavailable)
            check_vectors({"of the query": query.vector}, stored.model[1])
            cosines = {each: float(vectors[each] @ query.vector) for each in allowed}
            semantic = best(cosines, query.depth, str)
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
    work = facets_of(chunk.work)
    return (
        (not filters.doc_ids or work.doc_id in filters.doc_ids)
        and (not filters.citekeys or work.citekey in filters.citekeys)
        and (not filters.authors or bool(filters.authors & work.authors))
        and filters.tags <= work.tags
        and (filters.year_from is None or (work.year is not None and work.year >= filters.year_from))
        and (filters.year_to is None or (work.year is not None and work.year <= filters.year_to))
        and section_of(chunk).startswith(filters.section_prefix or "")
    )
