"""Cached answers in pieces: some are read from the cache, the others fetched and stored."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bio_mcp.adapters.caching.codecs import SCHEME, Codec, Unreadable
from bio_mcp.adapters.caching.singleflight import SingleFlight
from bio_mcp.cache_use import count
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure
from bio_mcp.ports.cache import Cache, CacheEntry

log = logging.getLogger(__name__)
T = TypeVar("T")
A = TypeVar("A")
SINGLE = "one"  # the id of an answer that is one piece


def key_of(source: str, kind: str, *params: Any, scheme: int = SCHEME) -> str:
    """The cache key of an answer: a hash, so that it reveals neither the question, a secret nor the caller.

    `source` is the base URL of the server; `params` is everything that the answer depends on, as JSON values.
    """
    text = json.dumps([source, *params], ensure_ascii=False, separators=(",", ":"))
    return f"{scheme}.{kind}.{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class CacheQuery(Generic[T]):
    """Pieces of one kind, by id. `params` is what they depend on beside their id.

    `lifetime_s` is how long a piece is stored, in seconds; 0 bypasses the cache.
    """

    codec: Codec[T]
    ids: Sequence[str]
    lifetime_s: float
    params: tuple[Any, ...] = ()

    @property
    def bypasses(self) -> bool:
        """Whether there is nothing to read from the cache or to store in it."""
        return self.lifetime_s <= 0 or not self.ids


@dataclass(frozen=True, slots=True)
class Gathered(Generic[T, A]):
    """The pieces found in the cache, by id, and the fetched answer about the others; None if nothing was fetched."""

    cached: dict[str, T]
    fresh: A | None
    hits: int = 0
    misses: int = 0
    oldest_s: float = 0.0


class AnswerCache:
    """Pieces of the answers of one `source` (a base URL), in a cache that never fails. Threads may share it."""

    def __init__(self, cache: Cache, source: str) -> None:
        self._cache = cache
        self._source = source
        self._singleflight = SingleFlight()

    def gather(
        self,
        query: CacheQuery[T],
        fetch: Callable[[list[str]], A],
        cacheable: Callable[[A], Iterable[tuple[str, T]]],
        deadline: Deadline,
    ) -> Gathered[T, A]:
        """Read the pieces from the cache and `fetch` the missing ids with one call.

        `cacheable` picks the (id, piece) pairs of a fetched answer to store. Concurrent equal queries share one fetch.
        """
        if query.bypasses:
            return Gathered({}, fetch(list(query.ids)))
        key = key_of(self._source, query.codec.name, *query.params, list(query.ids))
        try:
            gathered = self._singleflight.do(key, lambda: self._gather(query, fetch, cacheable), deadline)
        except Failure:
            count(0, len(query.ids), 0.0)
            raise
        count(gathered.hits, gathered.misses, gathered.oldest_s)
        return gathered

    def single(
        self, query: CacheQuery[T], fetch: Callable[[], T], is_complete: Callable[[T], bool], deadline: Deadline
    ) -> T:
        """The cached or fetched answer to a query for `SINGLE`; only a complete answer is stored."""
        gathered = self.gather(
            query, lambda _missing: fetch(), lambda answer: [(SINGLE, answer)] if is_complete(answer) else [], deadline
        )
        return gathered.cached[SINGLE] if gathered.fresh is None else gathered.fresh

    def get(self, query: CacheQuery[T]) -> dict[str, T]:
        """The pieces in the cache, by id. Does not count as a cache lookup of the call."""
        if query.bypasses:
            return {}
        keys = self._keys(query)
        return dict(_decoded(query.codec, keys, self._cache.get(list(keys.values()))))

    def put(self, query: CacheQuery[T], piece: T) -> None:
        """Store `piece` under each id of the query."""
        if not query.bypasses:
            self._cache.put(dict.fromkeys(self._keys(query).values(), query.codec.dumps(piece)), query.lifetime_s)

    def invalidate(self, query: CacheQuery[T]) -> None:
        """Remove these pieces from the cache."""
        if not query.bypasses:
            self._cache.put(dict.fromkeys(self._keys(query).values(), b""), 0)

    def _keys(self, query: CacheQuery[T]) -> dict[str, str]:
        return {id_: key_of(self._source, query.codec.name, *query.params, id_) for id_ in query.ids}

    def _gather(
        self, query: CacheQuery[T], fetch: Callable[[list[str]], A], cacheable: Callable[[A], Iterable[tuple[str, T]]]
    ) -> Gathered[T, A]:
        keys = self._keys(query)
        entries = self._cache.get(list(keys.values()))
        cached = dict(_decoded(query.codec, keys, entries))
        missing = [id_ for id_ in query.ids if id_ not in cached]
        if not missing:
            return Gathered(cached, None, len(cached), 0, max(entries[keys[id_]].age_s for id_ in cached))
        answer = fetch(missing)
        fresh = {id_: piece for id_, piece in cacheable(answer) if id_ in keys}
        if fresh:
            self._cache.put({keys[id_]: query.codec.dumps(piece) for id_, piece in fresh.items()}, query.lifetime_s)
        ages = [entries[keys[id_]].age_s for id_ in cached if id_ not in fresh]
        return Gathered(cached, answer, len(ages), len(keys) - len(ages), max(ages, default=0.0))


def _decoded(codec: Codec[T], keys: Mapping[str, str], entries: Mapping[str, CacheEntry]) -> Iterable[tuple[str, T]]:
    for id_, key in keys.items():
        if key in entries:
            try:
                yield id_, codec.read(entries[key].value, id_)
            except Unreadable:
                log.warning("a cached %s cannot be read and is fetched again", codec.name)
