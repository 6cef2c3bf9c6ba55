"""What a call was given by the stores, and its form as bytes.

A paper is a PMID and a version, whose text the store still has; a passage is its id and cosine, whose text follows from
the paper's. A search is recorded by what was asked but for the vector, which only orders what is recorded.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from bio_mcp.errors import StoreFailed
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate, Filters, PassageQuery, StaticQuality, StoredChunk

SCHEME = 1
MULTILINGUAL = "multilingual "  # before the keys of its searches

Sims = dict[str, list[tuple[str, float | None]]]
"""PMID -> chunk ids with their cosines, in the order of the text."""


@dataclass(slots=True)
class Reads:
    """What was read, in the order of reading.

    `papers` has PMID -> version and indexed version, None for one that was not there. `generated` has whether the
    language model wrote something, and that or its failure; None where there was no model. `graph` is the graph's
    revision. `elsewhere` names ports whose answers are not recorded.
    """

    day: str | None = None
    searches: list[tuple[str, list[Candidate]]] = field(default_factory=list)
    passages: list[tuple[str, Sims]] = field(default_factory=list)
    papers: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    resolved: dict[str, str | None] = field(default_factory=dict)
    counts: list[tuple[int, int]] = field(default_factory=list)
    generated: list[tuple[bool, str]] | None = None
    graph: str | None = None
    elsewhere: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.searches or self.papers or self.passages or self.resolved or self.graph or self.elsewhere)

    @property
    def candidates(self) -> set[str]:
        """The papers that any search returned."""
        return {each.pmid for _, found in self.searches for each in found}


def search_key(query: PassageQuery) -> str:
    """Names a search by all that it asks but the vector."""
    within = sorted(query.within) if query.within is not None else None
    return _hash(query.terms, query.vector is None, _plain_filters(query.filters), query.depth, within)


def multilingual_key(text: str, filters: Filters, depth: int) -> str:
    """Names a search of the multilingual index."""
    return MULTILINGUAL + _hash(text, _plain_filters(filters), depth)


def passages_key(pmids: Sequence[str], *, scored: bool) -> str:
    """Names a reading of passages."""
    return _hash(sorted(pmids), scored)


def sims_of(chunks: Mapping[str, Sequence[StoredChunk]]) -> Sims:
    """What of passages is recorded."""
    return {
        pmid: [(each.chunk_id, None if each.sim is None else float(each.sim)) for each in found]
        for pmid, found in chunks.items()
    }


def dumps(reads: Reads) -> bytes:
    """The reads as compressed bytes."""
    row = [
        SCHEME, reads.day, [[key, _columns(found)] for key, found in reads.searches], reads.passages, reads.papers,
        reads.resolved, reads.counts, reads.generated, reads.graph, sorted(reads.elsewhere),
    ]  # fmt: skip
    return zlib.compress(json.dumps(row, separators=(",", ":")).encode(), 3)


def loads(blob: bytes) -> Reads:
    """The reads that `dumps` wrote. Raises `StoreFailed`, not retryable, for other bytes."""
    try:
        scheme, day, searches, passages, papers, resolved, counts, generated, graph, elsewhere = json.loads(
            zlib.decompress(blob)
        )
        if scheme != SCHEME:
            raise ValueError(scheme)
        return Reads(
            day,
            [(key, _candidates(columns)) for key, columns in searches],
            [
                (key, {pmid: [(id_, sim) for id_, sim in found] for pmid, found in sims.items()})
                for key, sims in passages
            ],
            {pmid: None if versions is None else (versions[0], versions[1]) for pmid, versions in papers.items()},
            resolved,
            [(documents, chunks) for documents, chunks in counts],
            None if generated is None else [(ok, text) for ok, text in generated],
            graph,
            set(elsewhere),
        )
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise StoreFailed("What this call read cannot be read any more.", retryable=False) from error


def _hash(*asked: Any) -> str:
    return sha256(json.dumps(asked).encode()).hexdigest()[:16]


def _plain_filters(filters: Filters) -> list[Any]:
    sets = [sorted(each) for each in (filters.journals, filters.publication_types, filters.tags)]
    return [filters.year_from, filters.year_to, sets, filters.project]


def _columns(found: Sequence[Candidate]) -> list[list[Any]]:
    return [
        [each.pmid for each in found],
        [_plain(each.bm25) for each in found],
        [_plain(each.sim) for each in found],
        [each.chunk_id for each in found],
        [each.year for each in found],
        [each.quality.design for each in found],
        [each.quality.journal for each in found],
        [each.quality.human for each in found],
        [each.retraction.value for each in found],
    ]


def _candidates(columns: Sequence[Sequence[Any]]) -> list[Candidate]:
    return [
        Candidate(pmid, bm25, sim, chunk_id, year, StaticQuality(design, journal, human), RetractionStatus(retraction))
        for pmid, bm25, sim, chunk_id, year, design, journal, human, retraction in zip(*columns, strict=True)
    ]


def _plain(number: float | None) -> float | None:
    return None if number is None else float(number)
