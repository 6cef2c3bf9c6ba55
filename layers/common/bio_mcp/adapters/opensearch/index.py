"""An index in OpenSearch: finding it behind its alias, making it, searching, reading and writing it.

Both legs of a search, words and vectors, go in one `_msearch`; they are fused here, because the server's own fusion
ranks per shard. Words are one `term` clause each, with its weight as a boost, and statistics over all shards.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.adapters.indexes import other_index_model, other_model
from bio_mcp.adapters.opensearch.client import (
    Actions,
    Busy,
    IndexGone,
    IndexRefused,
    OpenSearchTransport,
    failure,
    kind_of,
    lines,
)
from bio_mcp.adapters.opensearch.schema import SIMILARITIES, Layout, VectorLayout
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.retrieval.ranking import BM25_K1

KNOWN_S = 30.0  # seconds for which a process caches the index behind the alias
EXISTS, MOVED = "resource_already_exists_exception", "aliases_not_found_exception"
READ_AT_ONCE = 200  # documents of one `_mget`: some 4 MB with their vectors
WHOLE = {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Body = dict[str, Any]
Hit = Body


@dataclass(frozen=True, slots=True)
class Index:
    """An index by its own name, and the model whose vectors it holds."""

    name: str
    fingerprint: str
    dim: int
    vectors: VectorLayout = "float"
    shards: int = 1
    version: int = 1  # of its mapping
    blocked: bool = field(default=False, compare=False)  # to writes

    @property
    def model(self) -> tuple[str, int]:
        return self.fingerprint, self.dim


class Alias:
    """The `name` of the index that is searched. `corpus` begins the names of the indices themselves.

    An index is made together with its alias, in one request. Two processes that make one at once for the same model
    make the same; for two models the index that was made first keeps the alias. `clock` is the time of day: the
    monotonic clock of a Lambda environment stands still while that is frozen.
    """

    def __init__(
        self,
        transport: OpenSearchTransport,
        name: str,
        corpus: str,
        layout: Layout,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name, self.corpus, self.layout = name, corpus, layout
        self.transport, self._clock = transport, clock
        self._known: tuple[float, Index] | None = None

    def index(self) -> Index | None:
        """Return the index behind the alias, cached for `KNOWN_S` seconds; None if there is none."""
        known = self._known
        if known is not None and 0 <= self._clock() - known[0] < KNOWN_S:
            return known[1]
        return self.refresh()

    def refresh(self) -> Index | None:
        """Look up the index behind the alias, cache it and return it; None if there is none."""
        found = self._behind()
        self._known = (self._clock(), found[0]) if found else None
        return found[0] if found else None

    def forget(self) -> None:
        """Drop the cached index: look it up before the next use."""
        self._known = None

    def read(self, read: "Callable[[StoredIndex], T]", empty: T) -> T:
        """Read the index, or its successor when it was replaced meanwhile; `empty` where there is none.

        Raises `IndexUnavailable` when an index that this process has just seen is gone without one.
        """
        if (index := self.index()) is None:
            return empty
        with suppress(IndexGone):
            return read(StoredIndex(self, index))
        if (successor := self.refresh()) is None:
            raise IndexUnavailable(
                f"The index {self.name} was there a moment ago and is gone: what it has was deleted, or its index lost."
            )
        return read(StoredIndex(self, successor))

    def make(self, fingerprint: str, dim: int, instead_of: Index | None = None) -> Index:
        """Create the index of this model and give it the alias, in place of `instead_of`, an empty index, if given.

        Raises `ModelMismatch` when another process was faster with another model.
        """
        name = self.layout.index_name(self.corpus, fingerprint, dim)
        self._create(name, fingerprint, dim, [self.name] if instead_of is None else [])
        if instead_of is not None:
            with suppress(IndexGone):  # another process was faster
                self.act({"add": {"index": name, "alias": self.name}}, {"remove_index": {"index": instead_of.name}})
        elif name not in [each.name for each in self._behind()]:  # it had been there without the alias
            self.transport.ask("PUT", f"/{name}/_alias/{self.name}")
        found = self._behind()
        if not found:
            raise Conflict("Somebody else is replacing the passage index at this moment; try again.")
        first, *others = found
        self.act(*({"remove": {"index": each.name, "alias": self.name}} for each in others))
        self._known = (self._clock(), first)
        if first.model != (fingerprint, dim):
            raise other_index_model(first.model, fingerprint, dim)
        return first

    def make_beside(self, searched: Index, fingerprint: str, dim: int, aliases: Sequence[str]) -> str:
        """Create another index of this model than the one that is searched, unless it is there; returns its name.

        It is made together with these aliases, and without the one that is searched by.
        """
        same = self.layout.index_name(self.corpus, fingerprint, dim) == searched.name
        layout = replace(self.layout, generation=2) if same else self.layout
        name = layout.index_name(self.corpus, fingerprint, dim)
        self._create(name, fingerprint, dim, aliases)
        return name

    def hand_over(self, new: Index, also_from: "Alias") -> None:
        """Give the alias to `new`, take the alias `also_from` off it, and remove every other index behind this one.

        Of several indices behind the alias `index` gives the oldest, which goes last: what is searched changes in one
        step. Every path begins with the name of an index, so that a policy can allow nothing else.
        """
        self.transport.ask("PUT", f"/{new.name}/_alias/{self.name}")
        self.transport.ask("DELETE", f"/{new.name}/_alias/{also_from.name}")
        for each in reversed(self._behind()):
            if each != new:
                self.transport.ask("DELETE", f"/{each.name}")
        self.forget()

    def block(self, index: Index, *, blocked: bool = True) -> None:
        """Block all writes to `index`, or allow them again."""
        self.transport.ask("PUT", f"/{index.name}/_settings", {"index.blocks.write": blocked})

    def act(self, *actions: Body) -> None:
        """Change aliases and remove indices, all of it or nothing. Raises `Conflict` if one was moved."""
        try:
            if actions:
                self.transport.ask("POST", "/_aliases", {"actions": actions})
        except IndexRefused as error:
            if error.kind == MOVED:
                switched = "Another process has just switched the indexes: look at bio-mcp admin reindex status."
                raise Conflict(switched) from None
            raise

    def _create(self, name: str, fingerprint: str, dim: int, aliases: Sequence[str]) -> None:
        """Create the index unless it exists, with the first kind of BM25 that this OpenSearch knows."""
        named: dict[str, Any] = {"aliases": {each: {} for each in (self.layout.own_alias(name), *aliases)}}
        for similarity in SIMILARITIES:
            try:
                self.transport.ask("PUT", f"/{name}", self.layout.body(fingerprint, dim, similarity) | named)
                return
            except IndexRefused as error:
                if error.kind == EXISTS:
                    return
                if similarity == SIMILARITIES[-1] or error.status != 400:
                    raise

    def _behind(self) -> list[Index]:
        """Return all indices behind the alias, the oldest first: more than one only while two processes create them."""
        answer: dict[str, Any] = {}
        with suppress(IndexGone):
            answer = self.transport.ask("GET", f"/{self.name}")
        oldest = sorted(answer, key=lambda name: (int(answer[name]["settings"]["index"]["creation_date"]), name))
        return [described_index(name, answer[name]) for name in oldest]


class OneIndex(Alias):
    """What stands in the place of an alias for passages that stay those of one index."""

    def __init__(self, alias: Alias, index: Index) -> None:
        super().__init__(alias.transport, alias.name, alias.corpus, alias.layout)
        self._alias, self._index = alias, index

    def index(self) -> Index:
        return self._index

    def refresh(self) -> Index | None:
        """Look up whether it is still there."""
        with suppress(IndexGone):
            self.transport.ask("GET", f"/{self.layout.own_alias(self._index.name)}/_alias")
            return self._index
        self.forget()
        return None

    def forget(self) -> None:
        """Have the alias itself looked up before its next use."""
        self._alias.forget()

    def make(self, fingerprint: str, dim: int, instead_of: Index | None = None) -> Index:
        """Create the index of this model behind the alias, and stay with that."""
        self._index = self._alias.make(fingerprint, dim, instead_of)
        return self._index


class StoredIndex:
    """What an index has: searching, reading and writing it by its own name, papers and chunks alike.

    Raises `IndexGone` when the index is gone.
    """

    def __init__(self, alias: Alias, index: Index) -> None:
        self.index, self.layout, self._transport = index, alias.layout, alias.transport
        self._own = alias.layout.own_alias(index.name)  # a write by it makes no index when there is none

    def ask(self, body: Body) -> Body:
        """Return the answer to one search."""
        return self._transport.ask("GET", f"/{self.index.name}/_search", body, checked)

    def count(self) -> int:
        found: int = self.ask({"size": 0, "track_total_hits": True})["hits"]["total"]["value"]
        return found

    def search(self, lexical: Body | None, semantic: Body | None) -> tuple[list[Hit], list[Hit]]:
        """Ask both legs at once; one that is None finds nothing."""
        bodies = [body for body in (lexical, semantic) if body is not None]
        if not bodies:
            return [], []

        def whole(answer: Body) -> list[list[Hit]]:
            responses = answer.get("responses", ())
            if len(responses) != len(bodies):
                raise Busy(
                    f"The passage index answered {len(responses)} of {len(bodies)} searches; try again in a moment."
                )
            return [checked(each)["hits"]["hits"] for each in responses]

        sent = [line for body in bodies for line in (WHOLE, body)]
        hits = iter(self._transport.ask("GET", f"/{self.index.name}/_msearch", sent, whole))
        return next(hits) if lexical else [], next(hits) if semantic else []

    def listed(self, body: Body) -> Iterator[Hit]:
        """Yield all that a query finds, in its order, as many at once as its size says."""
        while True:
            hits = self.ask(body)["hits"]["hits"]
            yield from hits
            if len(hits) < body["size"]:
                return
            body = body | {"search_after": hits[-1]["sort"]}

    def read(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Hit]:
        """Return the documents that exist, by `_id`, each with these fields of its source; it sees every write."""
        found: dict[str, Hit] = {}
        for start in range(0, len(wanted), READ_AT_ONCE):
            asked = [{"_id": key, "_source": list(fields)} for key, fields in wanted[start : start + READ_AT_ONCE]]
            read = partial(complete, count=len(asked))
            answer = self._transport.ask("GET", f"/{self.index.name}/_mget", {"docs": asked}, read)
            found |= {hit["_id"]: hit for hit in answer if hit["found"]}
        return found

    def write(self, keys: Collection[str], actions: Actions, *, refresh: bool = False) -> None:
        """Write documents by `_id`, as `write_bulk` says; with `refresh` searches see them at once."""
        path = f"/{self.index.name}/_bulk"
        if self.layout.flavour.managed:
            path = f"/{self._own}/_bulk?{'refresh=true&' if refresh else ''}require_alias=true"
        if keys:
            self._transport.write_bulk(path, keys, actions)

    def delete(self, keys: Collection[str], *, refresh: bool = False) -> None:
        gone = {key: lines([{"delete": {"_id": key}}]) for key in keys}
        self.write(keys, lambda left: {key: gone[key] for key in left}, refresh=refresh)

    def refresh(self) -> None:
        """Let searches see what was written. Serverless does it by itself, within seconds."""

        def everywhere(answer: Body) -> None:
            if failed := answer["_shards"]["failed"]:
                raise Busy(f"The index could not be refreshed ({failed} copies of it failed); try again in a moment.")

        if self.layout.flavour.managed:
            self._transport.ask("POST", f"/{self._own}/_refresh", None, everywhere)


def described_index(name: str, described: dict[str, Any]) -> Index:
    """Return the index that an answer of `GET /NAME` describes. Raises `IndexUnavailable` for one that is not ours."""
    meta, settings = described["mappings"].get("_meta", {}), described["settings"]["index"]
    if not {"fingerprint", "dim"} <= meta.keys():
        raise IndexUnavailable(
            "What is called by the name of the passage index was not made by bio-mcp; configure another name.",
            retryable=False,
        )
    blocked = settings.get("blocks", {}).get("write") == "true"
    shards = int(settings.get("number_of_shards", 1))
    layout = meta.get("vectors", "float"), shards, meta.get("version", 1)
    return Index(name, meta["fingerprint"], meta["dim"], *layout, blocked)


def words(terms: Iterable[tuple[str, float]], passing: Sequence[Body]) -> Body | None:
    """Query for documents with any of the terms, of those that pass the filters; None if no term has a weight."""
    weights: dict[str, float] = {}
    for term, weight in terms:
        weights[term] = weights.get(term, 0.0) + weight
    should = [{"term": {"terms": {"value": term, "boost": weight}}} for term, weight in weights.items() if weight > 0]
    if not should:
        return None
    return {"bool": {"should": should, "minimum_should_match": 1, "filter": list(passing)}}


def checked(response: Body) -> Body:
    """Return the answer to one search. Raises `Busy` or `IndexRefused` unless every shard answered in time."""
    if "error" in response:
        raise failure(int(response.get("status", 500)), response)
    shards = response["_shards"]
    missing = max(shards["failed"], shards["total"] - shards["successful"])
    if missing or response.get("timed_out"):
        raise Busy(
            f"The passage index answered with {shards['total'] - missing} of {shards['total']} shards, or not in time; "
            "try again in a moment."
        )
    return response


def complete(answer: Any, count: int) -> list[Body]:
    """Return the answers about `count` documents of an `_mget`. Raises `Busy` if one could not be looked up."""
    documents = answer.get("docs", ())
    failed = [each for each in documents if "error" in each]
    if failed:
        raise Busy(f"The passage index could not read {len(failed)} of {count} documents ({kind_of(failed[0])}).")
    if len(documents) != count:
        raise Busy(f"The passage index answered for {len(documents)} of {count} documents; try again in a moment.")
    return list(documents)


FACTOR = BM25_K1 + 1  # by which Lucene multiplies BM25


def cosine(score: float) -> float:
    """Return the inner product ip of a k-NN score, which is 1 + ip, or 1 / (1 - ip) if ip is negative."""
    return score - 1 if score >= 1 else 1 - 1 / score


def page(size: int, query: Body, sort: Sequence[Any], *columns: str, source: Sequence[str] | None = None) -> Body:
    """Query for the first `size` documents, with these columns; with their `_id` and these fields of their source where
    `source` is given."""
    fields = {"_source": False, "stored_fields": "_none_"} if source is None else {"_source": list(source)}
    listed = {"docvalue_fields": list(columns)} if columns else {}
    return {"size": size, "query": query, "sort": list(sort), "track_total_hits": False, **fields, **listed}


def clauses(
    year_from: int | None,
    year_to: int | None,
    any_of: Mapping[str, Collection[str]],
    all_of: Mapping[str, Collection[str]],
) -> list[Body]:
    """Filters by year, by any of the values of a field, and by all of them; a field without a value is none."""
    years = {name: year for name, year in (("gte", year_from), ("lte", year_to)) if year is not None}
    found: list[Body] = [{"range": {"year": years}}] if years else []
    found += [{"terms": {name: sorted(values)}} for name, values in any_of.items() if values]
    return found + [{"term": {name: value}} for name, values in all_of.items() for value in sorted(values)]


def fits(index: StoredIndex, vector: "NDArray[np.float32]") -> bool:
    """Whether a question's vector can be compared with those of the index; an empty one has none.

    Raises `ModelMismatch` where there are vectors of another length.
    """
    if vector.shape != (index.index.dim,) and index.count():
        raise other_model()
    return vector.shape == (index.index.dim,)
