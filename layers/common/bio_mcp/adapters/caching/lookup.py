"""NCBI's lookup services behind a cache."""

import json
from collections.abc import Sequence
from dataclasses import astuple

from bio_mcp.adapters.caching.answers import SINGLE, AnswerCache, CacheQuery
from bio_mcp.adapters.caching.codecs import FULL_TEXT, IDS, MATCH, MESH
from bio_mcp.adapters.caching.fail_open import FailOpenCache
from bio_mcp.deadline import Deadline
from bio_mcp.literature import identifiers
from bio_mcp.literature.jats import FullText
from bio_mcp.ports.cache import Cache
from bio_mcp.ports.ncbi import ArticleIds, Citation, CitationMatch, IdKind, MeshPage, NcbiLookup


class CachedLookup:
    """The port `NcbiLookup` over another one and a cache.

    As in `CachedPubmed`, "not found" is never stored, nor is a text that its publisher withholds. Answers are stored
    for `lifetime_s` seconds, full texts for `text_s`. `source` is the base URL of `lookup`. Threads may share it.
    """

    def __init__(self, lookup: NcbiLookup, cache: Cache, *, lifetime_s: float, text_s: float, source: str) -> None:
        self._lookup = lookup
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s
        self._text_s = text_s

    def mesh(self, term: str, most: int, *, deadline: Deadline) -> MeshPage:
        return self._answers.single(
            CacheQuery(MESH, [SINGLE], self._lifetime_s, (term, most)),
            lambda: self._lookup.mesh(term, most, deadline=deadline),
            lambda page: bool(page.records),
            deadline,
        )

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline) -> list[CitationMatch]:
        by_id = {json.dumps(astuple(citation)): citation for citation in citations}
        gathered = self._answers.gather(
            CacheQuery(MATCH, list(by_id), self._lifetime_s),
            lambda missing: self._lookup.ecitmatch([by_id[id_] for id_ in missing], deadline=deadline),
            lambda matches: [(json.dumps(astuple(match.citation)), match) for match in matches if match.pmid],
            deadline,
        )
        matches = {match.citation: match for match in [*gathered.cached.values(), *(gathered.fresh or ())]}
        return [matches[citation] for citation in citations]

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline) -> dict[str, ArticleIds]:
        gathered = self._answers.gather(
            CacheQuery(IDS, list(dict.fromkeys(ids)), self._lifetime_s, (kind,)),
            lambda missing: self._lookup.convert(missing, kind, deadline=deadline),
            lambda known: known.items(),
            deadline,
        )
        return gathered.cached | (gathered.fresh or {})

    def full_text(self, pmcid: str, *, deadline: Deadline) -> FullText:
        number = identifiers.pmcid(pmcid)
        return self._answers.single(
            CacheQuery(FULL_TEXT, [SINGLE], self._text_s, (number,)),
            lambda: self._lookup.full_text(number, deadline=deadline),
            lambda article: not article.withheld,
            deadline,
        )
