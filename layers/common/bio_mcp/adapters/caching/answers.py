"""Answers in pieces: those that are kept, and the rest asked for and kept."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bio_mcp.adapters.caching.codecs import SCHEME, Codec, Unreadable
from bio_mcp.adapters.caching.singleflight import SingleFlight
from bio_mcp.cache import Cache, CacheEntry, count
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure

log = logging.getLogger(__name__)
T = TypeVar("T")
A = TypeVar("A")
SINGLE = "one"  # the id of an answer that has one piece


def key_of(source: str, kind: str, *about: Any, scheme: int = SCHEME) -> str:
    """The key of an answer of this kind: it tells nobody what was asked, and holds neither secret nor caller.

    `source` is whom we ask; `about` is everything that the answer depends on, as JSON values.
    """
    asked = json.dumps([source, *about], ensure_ascii=False, separators=(",", ":"))
    return f"{scheme}.{kind}.{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class CacheQuery(Generic[T]):
    """Pieces of one kind, by id. `about`: what they depend on besides their id; 0 for `lifetime_s`: never kept."""

    codec: Codec[T]
    ids: Sequence[str]
    lifetime_s: float
    about: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class _Gathered(Generic[T, A]):
    held: dict[str, T]
    answers: list[A]
    hits: int
    misses: int
    oldest_s: float


class AnswerCache:
    """Pieces of answers of one `source`, a base URL, in a cache that never fails."""

    def __init__(self, cache: Cache, source: str) -> None:
        self._cache = cache
        self._source = source
        self._flights = SingleFlight()

    def gather(
        self,
        wanted: CacheQuery[T],
        ask: Callable[[list[str]], A],
        pieces: Callable[[A], Iterable[tuple[str, T]]],
        deadline: Deadline,
    ) -> tuple[dict[str, T], list[A]]:
        """The pieces that are kept, and the one answer of `ask` about the ids of the others, none where all are kept.

        `pieces` are those of an answer that may be kept. Who wants the same at the same time waits for one answer.
        """
        if wanted.lifetime_s <= 0 or not wanted.ids:
            return {}, [ask(list(wanted.ids))]
        together = key_of(self._source, wanted.codec.name, *wanted.about, list(wanted.ids))
        try:
            gathered = self._flights.once(together, lambda: self._gather(wanted, ask, pieces), deadline)
        except Failure:
            count(0, len(wanted.ids), 0.0)
            raise
        count(gathered.hits, gathered.misses, gathered.oldest_s)
        return gathered.held, gathered.answers

    def one(self, wanted: CacheQuery[T], ask: Callable[[], T], whole: Callable[[T], bool], deadline: Deadline) -> T:
        """The answer that has one piece, `SINGLE`, kept or asked for; it may be kept if it is `whole`."""
        held, answers = self.gather(
            wanted, lambda _missing: ask(), lambda answer: [(SINGLE, answer)] if whole(answer) else [], deadline
        )
        return answers[0] if answers else held[SINGLE]

    def forget(self, wanted: CacheQuery[T]) -> None:
        """Keep these pieces no longer."""
        if wanted.lifetime_s > 0 and wanted.ids:
            self._cache.put(dict.fromkeys(self._keys(wanted).values(), b""), 0)

    def keep(self, wanted: CacheQuery[T], piece: T) -> None:
        """Keep `piece` under each of the ids."""
        if wanted.lifetime_s > 0 and wanted.ids:
            self._cache.put(dict.fromkeys(self._keys(wanted).values(), wanted.codec.dumps(piece)), wanted.lifetime_s)

    def held(self, wanted: CacheQuery[T]) -> dict[str, T]:
        """The pieces that are kept, without a word of it to the call."""
        if wanted.lifetime_s <= 0 or not wanted.ids:
            return {}
        keys = self._keys(wanted)
        return dict(_readable(wanted.codec, keys, self._cache.get(list(keys.values()))))

    def _keys(self, wanted: CacheQuery[T]) -> dict[str, str]:
        return {each: key_of(self._source, wanted.codec.name, *wanted.about, each) for each in wanted.ids}

    def _gather(
        self, wanted: CacheQuery[T], ask: Callable[[list[str]], A], pieces: Callable[[A], Iterable[tuple[str, T]]]
    ) -> _Gathered[T, A]:
        keys = self._keys(wanted)
        kept = self._cache.get(list(keys.values()))
        held = dict(_readable(wanted.codec, keys, kept))
        missing = [each for each in wanted.ids if each not in held]
        answers = [ask(missing)] if missing else []
        fresh = {each: piece for answer in answers for each, piece in pieces(answer) if each in keys}
        if fresh:
            self._cache.put({keys[each]: wanted.codec.dumps(piece) for each, piece in fresh.items()}, wanted.lifetime_s)
        used = [kept[keys[each]].age_s for each in held if each not in fresh]
        return _Gathered(held, answers, len(used), len(keys) - len(used), max(used, default=0.0))


def _readable(codec: Codec[T], keys: Mapping[str, str], kept: Mapping[str, CacheEntry]) -> Iterable[tuple[str, T]]:
    for each, key in keys.items():
        if key in kept:
            try:
                yield each, codec.read(kept[key].value, each)
            except Unreadable:
                log.warning("a kept %s cannot be read and is asked for again", codec.name)
