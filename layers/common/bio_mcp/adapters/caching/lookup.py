"""NCBI's other services, asked for what is not kept."""

import json
from collections.abc import Sequence
from dataclasses import astuple

from bio_mcp.adapters.caching.answers import SINGLE, AnswerCache, CacheQuery
from bio_mcp.adapters.caching.codecs import FULL_TEXT, IDS, MATCH, MESH
from bio_mcp.adapters.caching.fail_open import FailOpenCache
from bio_mcp.cache import Cache
from bio_mcp.deadline import Deadline
from bio_mcp.literature import identifiers
from bio_mcp.literature.jats import FullText
from bio_mcp.lookup import ArticleIds, IdKind, MeshPage, NcbiLookup
from bio_mcp.pubmed import Citation, CitationMatch


class CachedLookup:
    """The port `NcbiLookup` over another one and a cache, as `CachedPubmed` is.

    Nothing absent is cached, and no text that its publisher withholds. `lifetime_s` is that of all but texts, which
    are cached as long as records: `text_s`.

    `source` names whom `lookup` asks. Threads may share it.
    """

    def __init__(self, lookup: NcbiLookup, cache: Cache, *, lifetime_s: float, text_s: float, source: str) -> None:
        self._lookup = lookup
        self._shelf = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s
        self._text_s = text_s

    def mesh(self, term: str, most: int, *, deadline: Deadline) -> MeshPage:
        return self._shelf.one(
            CacheQuery(MESH, [SINGLE], self._lifetime_s, (term, most)),
            lambda: self._lookup.mesh(term, most, deadline=deadline),
            lambda page: bool(page.records),
            deadline,
        )

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline) -> list[CitationMatch]:
        asked = {json.dumps(astuple(each)): each for each in citations}
        held, answers = self._shelf.gather(
            CacheQuery(MATCH, list(asked), self._lifetime_s),
            lambda missing: self._lookup.ecitmatch([asked[each] for each in missing], deadline=deadline),
            lambda found: [(json.dumps(astuple(each.citation)), each) for each in found if each.pmid],
            deadline,
        )
        matches = {each.citation: each for each in [*held.values(), *(each for found in answers for each in found)]}
        return [matches[each] for each in citations]

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline) -> dict[str, ArticleIds]:
        held, answers = self._shelf.gather(
            CacheQuery(IDS, list(dict.fromkeys(ids)), self._lifetime_s, (kind,)),
            lambda missing: self._lookup.convert(missing, kind, deadline=deadline),
            lambda found: found.items(),
            deadline,
        )
        return held | {each: known for found in answers for each, known in found.items()}

    def full_text(self, pmcid: str, *, deadline: Deadline) -> FullText:
        number = identifiers.pmcid(pmcid)
        return self._shelf.one(
            CacheQuery(FULL_TEXT, [SINGLE], self._text_s, (number,)),
            lambda: self._lookup.full_text(number, deadline=deadline),
            lambda article: not article.withheld,
            deadline,
        )
