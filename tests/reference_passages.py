"""Passages searched by brute force: the plain reading of the port's contract, to test with and compare against."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from bio_mcp.errors import ModelMismatch
from bio_mcp.health import OK, Finding
from bio_mcp.ports.indexes import PaperIndex, Role
from bio_mcp.retrieval.passages import Candidate, Entry, Filters, PassageQuery, StoredChunk, YearCount
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1


class ReferenceIndexes:
    """The one index of the papers."""

    def __init__(self, passages):
        self.passages = passages

    def searched(self):
        return self.passages, self.passages.model

    def inspect(self):
        return Finding(OK, "one")

    def all(self):
        stored = sorted(self.passages.entries.values(), key=lambda each: int(each.pmid))
        versions = [(each.pmid, each.version) for each in stored]
        return [PaperIndex(Role.SEARCHED, *self.passages.model, self.passages, lambda: iter(versions))]


def lucene_length(n):
    """A field length as Lucene keeps it: exact below 40, then four significant bits."""
    if n < 24:
        return n
    bits = (n - 24).bit_length()
    return 24 + (n - 24 if bits < 4 else (n - 24 >> bits - 4) << bits - 4)


class ReferencePassages:
    """Entries in a dictionary; every query looks at all of them."""

    def __init__(self) -> None:
        self.model: tuple[str, int] | None = None
        self.entries: dict[str, Entry] = {}

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        self.model = self.model or (fingerprint, dim)
        if self.model != (fingerprint, dim):
            raise ModelMismatch("the index was built by another model")

    def check_model(self, fingerprint: str, dim: int) -> None:
        if self.entries and self.model != (fingerprint, dim):
            raise ModelMismatch("the index was built by another model")

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        known = {pmid: self.entries[pmid] for pmid in pmids if pmid in self.entries}
        return {pmid: {each.chunk_id: each.embedded_sha256 for each in one.chunks} for pmid, one in known.items()}

    def renew(self, fingerprint: str, dim: int) -> None:
        if self.model != (fingerprint, dim):
            self.model, self.entries = (fingerprint, dim), {}

    def name(self) -> str:
        return "corpus"

    def chunk_vectors(self, pmids: Sequence[str]):
        return {pmid: {each.embedded_sha256: one.vectors[each.chunk_id] for each in one.chunks}
                for pmid in pmids if (one := self.entries.get(pmid))}  # fmt: skip

    def refresh_after(self) -> int:
        return 1

    def refresh(self, fingerprint: str, dim: int) -> None:
        self.check_model(fingerprint, dim)

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:  # noqa: ARG002  seen at once
        for entry in entries:
            old = self.entries.get(entry.pmid)
            if old is None or old.version <= entry.version:
                stored = (
                    {}
                    if old is None
                    else {
                        each.chunk_id: old.vectors[each.chunk_id]
                        for each in entry.chunks
                        if each.chunk_id in old.vectors
                    }
                )
                entry.vectors = stored | entry.vectors
                self.entries[entry.pmid] = entry

    def delete(self, pmids: Sequence[str]) -> None:
        for pmid in pmids:
            self.entries.pop(pmid, None)

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        allowed = [each for each in self.entries.values() if _passes(each, query.filters)]
        if query.within is not None:
            allowed = [each for each in allowed if each.pmid in query.within]
        lexical = _best(self._bm25(query.terms, allowed), query.depth)
        windows = {} if query.vector is None else {each.pmid: _best_window(each, query.vector) for each in allowed}
        semantic = _best({pmid: sim for pmid, (sim, _) in windows.items()}, query.depth)
        return [
            Candidate(pmid, lexical.get(pmid), semantic.get(pmid), windows[pmid][1] if pmid in semantic else None,
                      self.entries[pmid].year, self.entries[pmid].quality, self.entries[pmid].retraction)
            for pmid in {**lexical, **semantic}
        ]  # fmt: skip

    def _bm25(self, terms, allowed) -> dict[str, float]:
        counts = {each.pmid: Counter(each.terms) for each in self.entries.values()}
        mean = sum(map(len, (each.terms for each in self.entries.values()))) / max(1, len(counts))
        scores: dict[str, float] = {}
        for term, weight in terms:
            df = sum(term in count for count in counts.values())
            idf = math.log(1 + (len(counts) - df + 0.5) / (df + 0.5))
            for entry in allowed:
                if tf := counts[entry.pmid][term]:
                    norm = BM25_K1 * (1 - BM25_B + BM25_B * lucene_length(len(entry.terms)) / mean)
                    scores[entry.pmid] = scores.get(entry.pmid, 0.0) + weight * idf * tf / (tf + norm)
        return scores

    def document_vectors(self, pmids: Sequence[str]):
        means = {pmid: np.mean(list(self.entries[pmid].vectors.values()), axis=0) for pmid in pmids
                 if pmid in self.entries}  # fmt: skip
        return {pmid: (mean / np.linalg.norm(mean)).astype(np.float32) for pmid, mean in means.items()}

    def chunks(self, pmids: Sequence[str], vector=None) -> dict[str, list[StoredChunk]]:
        return {pmid: [_stored(pmid, each, self.entries[pmid], vector) for each in self.entries[pmid].chunks]
                for pmid in pmids if pmid in self.entries}  # fmt: skip

    def count(self) -> tuple[int, int]:
        return len(self.entries), sum(len(each.chunks) for each in self.entries.values())

    def by_year(self) -> list[YearCount]:
        counts = Counter((each.year, each.quality.design) for each in self.entries.values())
        ordered = sorted(counts.items(), key=lambda each: [(known is not None, known) for known in each[0]])
        return [YearCount(year, design, documents) for (year, design), documents in ordered]


def _passes(entry: Entry, filters: Filters) -> bool:
    year = entry.year or 0
    return (
        (filters.year_from is None or year >= filters.year_from)
        and (filters.year_to is None or 0 < year <= filters.year_to)
        and (not filters.journals or bool({entry.journal_nlm_id, (entry.journal or "").lower()} & filters.journals))
        and (not filters.publication_types or bool(filters.publication_types & set(entry.publication_types)))
        and filters.tags <= set(entry.tags)
        and (filters.project is None or filters.project in entry.projects)
    )


def _best(scores: dict[str, float], depth: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda each: (-each[1], -int(each[0])))[:depth])


def _best_window(entry: Entry, vector) -> tuple[float, str]:
    return max(((float(entry.vectors[each.chunk_id] @ vector), each.chunk_id) for each in entry.chunks),
               key=lambda each: each[0])  # fmt: skip


def _stored(pmid, chunk, entry, vector) -> StoredChunk:
    sim = None if vector is None else float(entry.vectors[chunk.chunk_id] @ vector)
    return StoredChunk(pmid, chunk.chunk_id, chunk.text, chunk.section, chunk.char_start, chunk.char_end, sim)
