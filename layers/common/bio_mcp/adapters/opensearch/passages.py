"""The passage index in OpenSearch: a managed domain, a Serverless collection of type SEARCH, or a node of one's own.

One index stands behind an alias. Writes go to the index by its own name, never by the alias, so
that vectors of two models cannot meet; after each write the alias is looked up again. Reads are `GET`s below the
names that begin with the corpus's, so that a policy can allow nothing else; writing needs `PUT` and `POST` there as
well, and only replacing an index `POST /_aliases`.

BM25 counts as Lucene does: the words of a paper that was replaced or deleted weigh in statistics until the segment that
holds them is merged. Where a third of a corpus had just been written anew, the top tens by BM25 were still 0.98 to 0.99
those of exact counting.

A search sees a write as soon as it is answered: the write refreshes the index and does not wait for OpenSearch's next
refresh, up to a second later. Each refresh makes a segment with a graph of its own, which merges build again, so a run
over many papers leaves it to `refresh`, once for some hundred of them.

On Serverless a write can do neither: searches see it within seconds (reading by PMID, as a sync does, sees it at once),
and it cannot depend on what was read, so two runs over one paper at the same moment could leave the older version;
leases prevent that. No test here reaches Serverless, its `faiss` engine, or a service that checks signatures.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bio_mcp.adapters.entry_vectors import check_vectors, mean_vector, newest, other_model
from bio_mcp.adapters.opensearch import queries
from bio_mcp.adapters.opensearch.bulk import Actions, Bulk
from bio_mcp.adapters.opensearch.documents import (
    by_hash,
    chunks_of,
    document_of,
    hashes_of,
    matrix_of,
    needs_stored,
    vectors_of,
)
from bio_mcp.adapters.opensearch.endpoint import transport_to
from bio_mcp.adapters.opensearch.errors import IndexRefused
from bio_mcp.adapters.opensearch.index import GONE, Alias, Index, OneIndex, mismatch
from bio_mcp.adapters.opensearch.schema import FLAVOURS, PAPERS, Layout
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport, lines
from bio_mcp.adapters.opensearch.vectors import VectorLayout
from bio_mcp.adapters.pmids import key, numbers
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.retrieval.passages import Candidate, Entry, PassageQuery, StoredChunk, YearCount

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors

T = TypeVar("T")
Hit = Mapping[str, Any]

LISTED_AT_ONCE = 500  # PMIDs of one listing
REFRESH_AFTER = 1_000  # documents: more than a sync or an import settles at once
READ_AT_ONCE = 200  # documents of one `_mget`: some 4 MB with their vectors


def connected(
    url: str,
    service: str,
    alias: str,
    *,
    k1: float,
    b: float,
    shards: int = 1,
    vectors: VectorLayout = "float",
) -> "OpenSearchPassages":
    """Return the passages behind `alias` at `url`. Connects when first used. `service` is a key of `FLAVOURS`."""
    layout = Layout(FLAVOURS[service], k1, b, shards, contents=PAPERS[vectors])
    return OpenSearchPassages(transport_to(url, service), alias, layout)


class OpenSearchPassages:
    """The port `Passages` over the index behind `alias`, which begins the names of indices."""

    def __init__(self, transport: OpenSearchTransport, alias: str, layout: Layout, *, bulk: Bulk | None = None) -> None:
        self.alias: Alias = Alias(transport, alias, alias, layout)
        self._transport = transport
        self._layout = layout
        self._bulk = bulk or Bulk(transport)

    def bound(self, index: Index) -> "OpenSearchPassages":
        """Return the passages of this index, which stay its own when the alias moves."""
        made = OpenSearchPassages(self._transport, self.alias.name, self._layout, bulk=self._bulk)
        made.alias = OneIndex(self.alias, index)
        return made

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        index = self.alias.index()
        if index is None or not index.holds(fingerprint, dim):
            index = self.alias.refresh()
        if index is None:
            self.alias.make(fingerprint, dim)
        elif not index.holds(fingerprint, dim):
            self._refresh(index)
            if self.count()[0]:
                raise mismatch(index, fingerprint, dim)
            self.alias.make(fingerprint, dim, instead_of=index)

    def check_model(self, fingerprint: str, dim: int) -> None:
        index = self.alias.index()
        if index is not None and not index.holds(fingerprint, dim):
            index = self.alias.refresh()
        if index is not None and not index.holds(fingerprint, dim) and self.count()[0]:
            raise mismatch(index, fingerprint, dim)

    def renew(self, fingerprint: str, dim: int) -> None:
        index = self.alias.refresh()
        if index is None or not index.holds(fingerprint, dim):
            self.alias.make(fingerprint, dim, instead_of=index)

    def name(self) -> str:
        index = self.alias.index()
        return index.name if index else ""

    def versions(self) -> Iterator[tuple[str, int]]:
        """Give PMID and version of every document, in the order of PMIDs; on Serverless of those that a search sees."""
        index = self.alias.refresh()
        if index is not None:
            self._refresh(index)
        after = 0
        while index is not None:
            answer = self._read(f"/{index.name}/_search", queries.listing_body(after, LISTED_AT_ONCE), queries.checked)
            hits = answer["hits"]["hits"]
            for hit in hits:
                after = hit["fields"]["pmid"][0]
                yield str(after), hit["fields"]["version"][0]
            if len(hits) < LISTED_AT_ONCE:
                return

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        found = self._stored(pmids, ["unindexed.chunks", "unindexed.hashes"])
        return {pmid: hashes_of(hit["_source"]) for pmid, hit in found.items()}

    def chunk_vectors(self, pmids: Sequence[str]) -> dict[str, dict[str, "NDArray[np.float32]"]]:
        found = self._stored(pmids, ["passages", "unindexed.vectors", "unindexed.hashes"])
        return {pmid: by_hash(hit["_source"]) for pmid, hit in found.items()}

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:
        index = self.alias.index()
        if index is None:
            raise IndexUnavailable("There is no index yet: make its schema first.", retryable=False)
        check_vectors(entries, index.dim)
        for entry in entries:
            key(entry.pmid)
        by_pmid = {entry.pmid: entry for entry in newest(entries)}
        upserts = partial(self._upserts, index, by_pmid)
        self._write(index, by_pmid, upserts, refresh=refresh)

    def refresh_after(self) -> int:
        return REFRESH_AFTER

    def refresh(self, fingerprint: str, dim: int) -> None:
        index = self.alias.refresh()
        if index is None:
            raise IndexUnavailable("The passage index is gone; make its schema and sync again.", retryable=False)
        if not index.holds(fingerprint, dim):
            raise mismatch(index, fingerprint, dim)
        self._refresh(index)

    def delete(self, pmids: Sequence[str]) -> None:
        index = self.alias.index()
        if index is not None:
            gone = {str(number): lines([{"delete": {"_id": str(number)}}]) for number in numbers(pmids)}
            self._write(index, gone, lambda left: {pmid: gone[pmid] for pmid in left})

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        index = self.alias.index()
        if index is None or (query.within is not None and not numbers(query.within)):
            return []
        if query.vector is not None and query.vector.shape != (index.dim,):
            if self.count()[0]:
                raise other_model()
            return []
        lexical = queries.lexical_body(query)
        semantic = None if query.vector is None else queries.semantic_body(query, query.vector, index.vectors)
        bodies = [body for body in (lexical, semantic) if body is not None]
        sent = [line for body in bodies for line in (queries.WHOLE, body)]
        read = partial(queries.whole, count=len(bodies))
        hits = iter(self._read(f"/{index.name}/_msearch", sent, read) if bodies else [])
        words = next(hits) if lexical else []
        windows = next(hits) if semantic else []
        return queries.candidates(words, windows, self._layout.k1 + 1)

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        found = self._stored(pmids, ["passages", "unindexed.vectors"])
        sources = {pmid: hit["_source"] for pmid, hit in found.items()}
        return {pmid: mean_vector(matrix_of(source)) for pmid, source in sources.items() if source["passages"]}

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        needed = ["passages", "unindexed.vectors"] if vector is not None else ["passages"]
        found = self._stored(pmids, ["unindexed.chunks", "unindexed.texts", *needed])
        return {pmid: chunks_of(pmid, hit["_source"], vector) for pmid, hit in found.items()}

    def count(self) -> tuple[int, int]:
        index = self.alias.index()
        if index is None:
            return 0, 0
        asked = {"size": 0, "track_total_hits": True, "aggs": {"chunks": {"sum": {"field": "passages"}}}}
        answer = self._read(f"/{index.name}/_search", asked, queries.checked)
        return answer["hits"]["total"]["value"], int(answer["aggregations"]["chunks"]["value"])

    def by_year(self) -> list[YearCount]:
        index = self.alias.index()
        if index is None:
            return []
        return queries.years(self._read(f"/{index.name}/_search", queries.years_body(), queries.checked))

    def _upserts(self, index: Index, by_pmid: Mapping[str, Entry], pmids: Collection[str]) -> dict[str, bytes]:
        """Return the lines of the entries that are not older than what is stored; older ones are not written."""
        entries = [by_pmid[pmid] for pmid in pmids]
        wanted = [
            (each.pmid, ["version", "passages", "unindexed"] if needs_stored(each) else ["version"]) for each in entries
        ]
        stored = self._get(index, wanted)
        found: dict[str, bytes] = {}
        for entry in entries:
            hit = stored.get(entry.pmid)
            if hit is None or hit["_source"]["version"] <= entry.version:
                matrix = vectors_of(entry, hit and hit["_source"], index.dim)
                found[entry.pmid] = lines([self._action(entry.pmid, hit), document_of(entry, matrix, index.vectors)])
        return found

    def _action(self, pmid: str, hit: Hit | None) -> dict[str, Any]:
        """Return the action that replaces what was read, and fails if that has changed (not on Serverless)."""
        if not self._layout.flavour.conditional:
            return {"index": {"_id": pmid}}
        if hit is None:
            return {"create": {"_id": pmid}}
        return {"index": {"_id": pmid, "if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}}

    def _target(self, index: Index) -> str:
        """The name to write by: a write by the index's own alias makes no index when there is none."""
        return self._layout.own_alias(index.name) if self._layout.flavour.conditional else index.name

    def _refresh(self, index: Index) -> None:
        if self._layout.flavour.refreshes:
            self._transport.refresh(self._target(index))

    def _write(self, index: Index, pmids: Collection[str], actions: Actions, *, refresh: bool = True) -> None:
        """Write to `index`. Raises `Conflict` if another index is searched by then."""
        flavour = self._layout.flavour
        options = ["refresh=true"] * (refresh and flavour.refreshes) + ["require_alias=true"] * flavour.conditional
        try:
            self._bulk.write(f"/{self._target(index)}/_bulk?{'&'.join(options)}".rstrip("?"), pmids, actions)
        except IndexUnavailable:
            self.alias.forget()
            raise
        if self.alias.refresh() != index:
            raise Conflict("The passage index was switched to another while passages were written; sync again.")

    def _stored(self, pmids: Sequence[str], fields: Sequence[str]) -> dict[str, Hit]:
        """Return the documents that exist, by PMID, with these fields of their source."""
        index = self.alias.index()
        if index is None:
            return {}
        return self._get(index, [(str(number), fields) for number in numbers(pmids)])

    def _get(self, index: Index, wanted: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Hit]:
        found: dict[str, Hit] = {}
        for start in range(0, len(wanted), READ_AT_ONCE):
            asked = [{"_id": pmid, "_source": list(fields)} for pmid, fields in wanted[start : start + READ_AT_ONCE]]
            read = partial(queries.complete, count=len(asked))
            found |= {hit["_id"]: hit for hit in self._read(f"/{index.name}/_mget", {"docs": asked}, read)}
        return found

    def _read(self, path: str, body: Any, read: Callable[[Any], T]) -> T:
        """Read. If the index is gone, the next call looks it up again."""
        try:
            return self._transport.ask("GET", path, body, read)
        except IndexRefused as error:
            if error.kind == GONE:
                self.alias.forget()
            raise
