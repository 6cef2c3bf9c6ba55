"""The index behind the alias: finding it, making it, and pointing the alias to another."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bio_mcp.adapters.opensearch.errors import IndexRefused
from bio_mcp.adapters.opensearch.schema import SIMILARITIES, Layout
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport
from bio_mcp.adapters.opensearch.vectors import VectorLayout
from bio_mcp.errors import Conflict, IndexUnavailable, ModelMismatch

KNOWN_S = 30.0  # seconds for which a process caches the index behind the alias
EXISTS = "resource_already_exists_exception"
GONE = "index_not_found_exception"


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

    def holds(self, fingerprint: str, dim: int) -> bool:
        """Whether its vectors are those of this model."""
        return (self.fingerprint, self.dim) == (fingerprint, dim)


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
        self.name = name
        self.corpus = corpus
        self.layout = layout
        self._transport = transport
        self._clock = clock
        self._known: tuple[float, Index] | None = None

    def index_name(self, fingerprint: str, dim: int) -> str:
        """Return the name of the index that `make` creates for this model."""
        return self.layout.index_name(self.corpus, fingerprint, dim)

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

    def make(self, fingerprint: str, dim: int, instead_of: Index | None = None) -> Index:
        """Create the index of this model and give it the alias, in place of `instead_of`, an empty index, if given.

        Raises `ModelMismatch` when another process was faster with another model.
        """
        name = self.index_name(fingerprint, dim)
        self._create(name, fingerprint, dim, [self.name] if instead_of is None else [])
        if instead_of is not None:
            self._replace(instead_of.name, name)
        elif name not in [each.name for each in self._behind()]:  # it had been there without the alias
            self._transport.ask("PUT", f"/{name}/_alias/{self.name}")
        found = self._behind()
        if not found:
            raise Conflict("Somebody else is replacing the passage index at this moment; try again.")
        first, *others = found
        self._act(*({"remove": {"index": each.name, "alias": self.name}} for each in others))
        self._known = (self._clock(), first)
        if not first.holds(fingerprint, dim):
            raise mismatch(first, fingerprint, dim)
        return first

    def make_beside(self, searched: Index, fingerprint: str, dim: int, aliases: Sequence[str]) -> str:
        """Create another index of this model than the one that is searched, unless it is there; returns its name.

        It is made together with these aliases, and without the one that is searched by.
        """
        same = self.index_name(fingerprint, dim) == searched.name
        layout = replace(self.layout, generation=2) if same else self.layout
        name = layout.index_name(self.corpus, fingerprint, dim)
        self._create(name, fingerprint, dim, aliases)
        return name

    def hand_over(self, new: Index, also_from: "Alias") -> None:
        """Give the alias to `new`, take the alias `also_from` off it, and remove every other index behind this one.

        Of several indices behind the alias `index` gives the oldest, which goes last: what is searched changes in one
        step. Every path begins with the name of an index, so that a policy can allow nothing else.
        """
        self._transport.ask("PUT", f"/{new.name}/_alias/{self.name}")
        self._transport.ask("DELETE", f"/{new.name}/_alias/{also_from.name}")
        for each in reversed(self._behind()):
            if each != new:
                self._transport.ask("DELETE", f"/{each.name}")
        self.forget()

    def block(self, index: Index, *, blocked: bool = True) -> None:
        """Block all writes to `index`, or allow them again."""
        self._transport.ask("PUT", f"/{index.name}/_settings", {"index.blocks.write": blocked})

    def _act(self, *actions: dict[str, Any]) -> None:
        """Change aliases and remove indices, all of it or nothing."""
        if actions:
            self._transport.ask("POST", "/_aliases", {"actions": actions})

    def _replace(self, old: str, new: str) -> None:
        try:
            self._act({"add": {"index": new, "alias": self.name}}, {"remove_index": {"index": old}})
        except IndexRefused as error:
            if error.kind != GONE:  # else another process was faster
                raise

    def _create(self, name: str, fingerprint: str, dim: int, aliases: Sequence[str]) -> None:
        """Create the index unless it exists, with the first kind of BM25 that this OpenSearch knows."""
        named: dict[str, Any] = {"aliases": {each: {} for each in (self.layout.own_alias(name), *aliases)}}
        for similarity in SIMILARITIES:
            try:
                self._transport.ask("PUT", f"/{name}", self.layout.body(fingerprint, dim, similarity) | named)
                return
            except IndexRefused as error:
                if error.kind == EXISTS:
                    return
                if similarity == SIMILARITIES[-1] or error.status != 400:
                    raise

    def _behind(self) -> list[Index]:
        """Return all indices behind the alias, the oldest first: more than one only while two processes create them."""
        try:
            answer: dict[str, Any] = self._transport.ask("GET", f"/{self.name}")
        except IndexRefused as error:
            if error.kind == GONE:
                return []
            raise
        oldest = sorted(answer, key=lambda name: (int(answer[name]["settings"]["index"]["creation_date"]), name))
        return [described_index(name, answer[name]) for name in oldest]


class OneIndex(Alias):
    """What stands in the place of an alias for passages that stay those of one index."""

    def __init__(self, alias: Alias, index: Index) -> None:
        super().__init__(alias._transport, alias.name, alias.corpus, alias.layout)
        self._alias, self._index = alias, index

    def index(self) -> Index:
        """Return that index."""
        return self._index

    def refresh(self) -> Index | None:
        """Look up whether it is still there."""
        try:
            self._transport.ask("GET", f"/{self.layout.own_alias(self._index.name)}/_alias")
        except IndexRefused as error:
            if error.kind == GONE:
                return None
            raise
        return self._index

    def forget(self) -> None:
        """Have the alias itself looked up before its next use."""
        self._alias.forget()

    def make(self, fingerprint: str, dim: int, instead_of: Index | None = None) -> Index:
        """Create the index of this model behind the alias, and stay with that."""
        self._index = self._alias.make(fingerprint, dim, instead_of)
        return self._index


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


def mismatch(index: Index, fingerprint: str, dim: int) -> ModelMismatch:
    """Return the error for an index that holds another model's vectors."""
    return ModelMismatch(
        f"The index holds vectors of the model {index.fingerprint} ({index.dim} numbers), and {fingerprint} ({dim}) is "
        "configured. Configure the former, or run bio-mcp reindex to embed every paper again.",
        indexed=index.fingerprint,
        configured=fingerprint,
    )
