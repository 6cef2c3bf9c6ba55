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

The field `unindexed` has what is only read back; OpenSearch stores it and indexes none of it: id, section, offsets of
each chunk, its text, the hash of what was embedded, and all vectors as base64 of little-endian float32.

Of vectors the best windows of at least twice as many papers as are asked for are looked up, so that ties at the end are
broken here. A few given papers (`within`) are scored one by one. Indexes are told apart by aliases: that of the corpus
is on the index that is searched, `-next` or `-previous` on the other, and `-written` on both, so that one request
answers a writer. One request moves all of them, or none.
"""

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from itertools import islice
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.adapters.indexes import (
    back_from,
    check_begun,
    check_entries,
    cosines,
    journal_names,
    newest,
    other_index_model,
    vectors_of,
)
from bio_mcp.adapters.opensearch.client import IndexGone, IndexRefused, OpenSearchTransport, lines
from bio_mcp.adapters.opensearch.found_by import (
    LONGEST_WORD,
    MOST_COUNTED,
    alike,
    counting,
    defining,
    finding,
    found_by,
)
from bio_mcp.adapters.opensearch.index import (
    FACTOR,
    Alias,
    Body,
    Hit,
    Index,
    OneIndex,
    StoredIndex,
    clauses,
    cosine,
    described_index,
    fits,
    page,
    words,
)
from bio_mcp.adapters.opensearch.schema import FOUND_BY, Layout, indexed, nearest
from bio_mcp.adapters.stored import key, numbers
from bio_mcp.errors import Conflict, IndexUnavailable, InvalidInput
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.models import PaperIndex, Role
from bio_mcp.retrieval.passages import (
    Candidate,
    Entry,
    Filters,
    Matching,
    OtherName,
    PassageQuery,
    StoredChunk,
    YearCount,
)
from bio_mcp.retrieval.ranking import mean_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors

Source = Mapping[str, Any]
NO_LIMIT: Mapping[str, int] = MappingProxyType({})
PAPERS: Body = {"range": {"pmid": {"gte": 0}}}
"""Query for documents but those that stand for what was deleted."""
BEST = ["_score", {"pmid": "desc"}]
NEWEST = [{"newest": {"order": "desc", "missing": "_last", "unmapped_type": "integer"}}, {"pmid": "desc"}]
COLUMNS = ["pmid", "year", "design", "journal_rank", "human", "retraction", "layout"]
MOST_YEARS = 2_000  # pairs of a year and a design
LISTED_AT_ONCE = 500  # PMIDs of one listing
MATCHING_AT_ONCE = 10_000  # PMIDs of the newest papers
TOO_LONG = "too_many_nested_clauses"
REFRESH_AFTER = 1_000  # documents: more than a sync or an import settles at once


class OpenSearchPassages:
    """The port `Passages` over the index behind `alias`, which begins the names of indices."""

    write_at_once, refresh_after = 1, REFRESH_AFTER

    def __init__(self, transport: OpenSearchTransport, alias: str, layout: Layout) -> None:
        self.alias: Alias = Alias(transport, alias, alias, layout)

    def bound(self, index: Index) -> "OpenSearchPassages":
        """Return the passages of this index, which stay its own when the alias moves."""
        made = copy(self)
        made.alias = OneIndex(self.alias, index)
        return made

    def ensure_schema(self, fingerprint: str, dim: int) -> None:
        index = self._looked_up(fingerprint, dim)
        if index is None or index.model != (fingerprint, dim):
            if index is not None:
                StoredIndex(self.alias, index).refresh()
                self.check_model(fingerprint, dim)
            self.alias.make(fingerprint, dim, instead_of=index)

    def check_model(self, fingerprint: str, dim: int) -> None:
        index = self._looked_up(fingerprint, dim)
        if index is not None and index.model != (fingerprint, dim) and self.count()[0]:
            raise other_index_model(index.model, fingerprint, dim)

    def _looked_up(self, *model: Any) -> Index | None:
        """The index; one of another model is looked up again."""
        index = self.alias.index()
        return self.alias.refresh() if index is not None and index.model != model else index

    def renew(self, fingerprint: str, dim: int) -> None:
        index = self.alias.refresh()
        if index is None or index.model != (fingerprint, dim):
            self.alias.make(fingerprint, dim, instead_of=index)

    def name(self) -> str:
        index = self.alias.index()
        return index.name if index else ""

    def versions(self) -> Iterator[tuple[str, int]]:
        index = self.alias.refresh()
        if index is not None:
            stored = StoredIndex(self.alias, index)
            stored.refresh()
            for hit in stored.listed(page(LISTED_AT_ONCE, PAPERS, [{"pmid": "asc"}], "pmid", "version")):
                yield str(hit["fields"]["pmid"][0]), hit["fields"]["version"][0]

    def chunk_texts(self, pmids: Sequence[str]) -> dict[str, dict[str, str]]:
        found = self._sources(pmids, ["unindexed.chunks", "unindexed.hashes"])
        stored = {pmid: source["unindexed"] for pmid, source in found.items()}
        return {
            pmid: dict(zip((chunk[0] for chunk in each["chunks"]), each["hashes"], strict=True))
            for pmid, each in stored.items()
        }

    def chunk_vectors(self, pmids: Sequence[str]) -> dict[str, dict[str, "NDArray[np.float32]"]]:
        found = self._sources(pmids, ["passages", "unindexed.vectors", "unindexed.hashes"])
        return {pmid: by_hash(source) for pmid, source in found.items()}

    def upsert_chunks(self, entries: Sequence[Entry], *, refresh: bool = True) -> None:
        index = self.alias.index()
        if index is None:
            raise IndexUnavailable("There is no index yet: make its schema first.", retryable=False)
        check_entries(entries, index.dim)
        for entry in entries:
            key(entry.pmid)
        by_pmid = {entry.pmid: entry for entry in newest(entries)}
        stored = StoredIndex(self.alias, index)
        with self._written(index):
            stored.write(by_pmid, partial(_upserts, stored, by_pmid), refresh=refresh)

    def refresh(self, fingerprint: str, dim: int) -> None:
        index = self.alias.refresh()
        if index is None:
            raise IndexUnavailable("The passage index is gone; make its schema and sync again.", retryable=False)
        if index.model != (fingerprint, dim):
            raise other_index_model(index.model, fingerprint, dim)
        StoredIndex(self.alias, index).refresh()

    def delete(self, pmids: Sequence[str], upto: Mapping[str, int] = NO_LIMIT) -> None:
        index = self.alias.index()
        if index is not None:
            keys = [str(number) for number in numbers(pmids)]
            stored, buried = StoredIndex(self.alias, index), {each: upto[each] for each in keys if each in upto}
            with self._written(index):
                stored.delete([each for each in keys if each not in buried], refresh=True)
                stored.write(buried, partial(_burials, stored, buried), refresh=True)

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        def read(stored: StoredIndex) -> list[Candidate]:
            index, semantic = stored.index, None
            _check(index, query.filters)
            if query.vector is not None:
                if not fits(stored, query.vector):
                    return []
                semantic = semantic_body(query, query.vector, index)
            return candidates(*stored.search(lexical_body(query), semantic))

        with _of_bounded_length():
            return [] if query.within is not None and not numbers(query.within) else self.alias.read(read, [])

    def document_vectors(self, pmids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        found = self._sources(pmids, ["passages", "unindexed.vectors"])
        return {pmid: mean_vector(matrix_of(source)) for pmid, source in found.items() if source["passages"]}

    def chunks(self, pmids: Sequence[str], vector: "Vectors | None" = None) -> dict[str, list[StoredChunk]]:
        needed = ["passages", "unindexed.vectors"] if vector is not None else []
        found: dict[str, list[StoredChunk]] = {}
        for pmid, source in self._sources(pmids, ["unindexed.chunks", "unindexed.texts", *needed]).items():
            chunks, texts = source["unindexed"]["chunks"], source["unindexed"]["texts"]
            sims = cosines(matrix_of(source), vector) if vector is not None else [None] * len(chunks)
            found[pmid] = [
                StoredChunk(pmid, chunk_id, text, section, start, end, sim)
                for (chunk_id, section, start, end), text, sim in zip(chunks, texts, sims, strict=True)
            ]
        return found

    def count(self) -> tuple[int, int]:
        def read(stored: StoredIndex) -> tuple[int, int]:
            chunks = {"chunks": {"sum": {"field": "passages"}}}
            answer = stored.ask({"size": 0, "track_total_hits": True, "query": PAPERS, "aggs": chunks})
            return answer["hits"]["total"]["value"], int(answer["aggregations"]["chunks"]["value"])

        return self.alias.read(read, (0, 0))

    def matching(self, filters: Filters, most: int) -> Matching:
        def read(stored: StoredIndex) -> Matching:
            _check(stored.index, filters, most)
            query = {"bool": {"filter": [PAPERS, *conditions(filters)]}}
            body = page(min(most, MATCHING_AT_ONCE), query, NEWEST, "pmid")
            answer = stored.ask(body | {"track_total_hits": True})["hits"]
            total, hits = answer["total"]["value"], answer["hits"]
            if len(hits) < min(most, total):
                following = stored.listed(body | {"search_after": hits[-1]["sort"]})
                hits += islice(following, most - len(hits))
            return Matching(total, tuple(str(hit["fields"]["pmid"][0]) for hit in hits))

        with _of_bounded_length():
            return self.alias.read(read, Matching(0, ()))

    def words_like(self, word: str) -> list[tuple[str, int]]:
        """See `Passages`. Serverless is not known to have suggesters: there no word is like another."""

        def read(stored: StoredIndex) -> list[tuple[str, int]]:
            _check(stored.index)
            answer = stored.ask(alike(word, suggest=stored.layout.flavour.managed))
            if answer["hits"]["total"]["value"]:
                return [(word, 1)]
            found = {option["text"] for each in answer.get("suggest", {}).get("like", ()) for option in each["options"]}
            if not found:
                return []
            counts = stored.ask(counting(found))["aggregations"]["words"]["buckets"]
            known = [(each, min(counts[each]["doc_count"], MOST_COUNTED)) for each in sorted(found)]
            return sorted(filter(itemgetter(1), known), key=lambda each: -each[1])

        return self.alias.read(read, []) if 0 < len(word) <= LONGEST_WORD else []

    def other_names(self, names: Collection[str]) -> list[OtherName]:
        def read(stored: StoredIndex) -> list[OtherName]:
            _check(stored.index)
            counts = stored.ask(defining(names))["aggregations"].values()
            found = ((*each["key"].split("\t"), each["doc_count"]) for count in counts for each in count["buckets"])
            return [OtherName(name, other, papers) for name, other, papers in found]

        return self.alias.read(read, []) if names else []

    def by_year(self) -> list[YearCount]:
        def read(stored: StoredIndex) -> list[YearCount]:
            sources = [{name: {"terms": {"field": name, "missing_bucket": True}}} for name in ("year", "design")]
            years = {"composite": {"size": MOST_YEARS, "sources": sources}}
            answer = stored.ask({"size": 0, "query": PAPERS, "aggs": {"years": years}})
            keyed = [(each["key"], each["doc_count"]) for each in answer["aggregations"]["years"]["buckets"]]
            return [YearCount(key["year"], key["design"], papers) for key, papers in keyed]

        return self.alias.read(read, [])

    @contextmanager
    def _written(self, index: Index) -> Iterator[None]:
        """Writes to `index`. Raises `Conflict` if another index is searched by then."""
        try:
            yield
        except IndexUnavailable:
            self.alias.forget()
            raise
        if self.alias.refresh() != index:
            raise Conflict("The passage index was switched to another while passages were written; sync again.")

    def _sources(self, pmids: Sequence[str], fields: Sequence[str]) -> dict[str, Source]:
        """Return these fields of the documents that exist, by PMID."""
        wanted = [(str(number), ["pmid", *fields]) for number in numbers(pmids)]
        found = self.alias.read(lambda stored: stored.read(wanted), dict[str, Hit]())
        return {pmid: hit["_source"] for pmid, hit in found.items() if "pmid" in hit["_source"]}


def _check(index: Index, filters: Filters | None = None, newest: int = 0) -> None:
    """Raise `IndexUnavailable` for an index of an older mapping that lacks what these filters, an order by days, or
    words look at."""
    plain = filters is not None and filters.tree is None and filters.participants_min is None and not newest
    if index.version < FOUND_BY and not plain:
        raise IndexUnavailable(
            f"An earlier version of bio-mcp made this index (mapping {index.version}): queries in PubMed's syntax, "
            "participants of studies, days of publication, other names and misspelt words are not looked up until "
            "`bio-mcp admin reindex start`, `switch` and `remove` have run. Questions are answered.",
            retryable=False,
        )


@contextmanager
def _of_bounded_length() -> Iterator[None]:
    """Raises `InvalidInput` for a query that has more clauses than OpenSearch takes."""
    try:
        yield
    except IndexRefused as error:
        if error.kind != TOO_LONG:
            raise
        raise InvalidInput("The query has more terms than OpenSearch takes at once; search for a part of it.") from None


def _upserts(index: StoredIndex, by_pmid: Mapping[str, Entry], pmids: Collection[str]) -> dict[str, bytes]:
    """Return the lines of the entries that are not older than what is stored, and newer than what was deleted; others
    are not written."""
    entries = [by_pmid[pmid] for pmid in pmids]
    lacking = {each.pmid for each in entries if any(chunk.chunk_id not in each.vectors for chunk in each.chunks)}
    fields = (["pmid", "version"], ["pmid", "version", "passages", "unindexed"])
    stored = index.read([(each.pmid, fields[each.pmid in lacking]) for each in entries])
    found: dict[str, bytes] = {}
    for entry in entries:
        hit = stored.get(entry.pmid)
        if hit is not None and hit["_source"]["version"] + ("pmid" not in hit["_source"]) > entry.version:
            continue
        known = by_hash(hit["_source"]) if hit and "unindexed" in hit["_source"] else {}
        chosen = vectors_of(entry.chunks, entry.vectors, known, f"PMID {entry.pmid}")
        matrix = np.array(chosen, np.float32).reshape(len(chosen), index.index.dim)
        action = _replacing(index, entry.pmid, hit)
        found[entry.pmid] = lines([action, document_of(entry, matrix, index.index)])
    return found


def _burials(index: StoredIndex, upto: Mapping[str, int], pmids: Collection[str]) -> dict[str, bytes]:
    """Return the lines that put in the place of each document of that version or an older one the number of the
    version, which is no paper, and refuses it."""
    stored = index.read([(pmid, ["version"]) for pmid in pmids])
    return {
        pmid: lines([_replacing(index, pmid, hit), {"version": upto[pmid]}])
        for pmid in pmids
        if (hit := stored.get(pmid)) is None or hit["_source"]["version"] <= upto[pmid]
    }


def _replacing(index: StoredIndex, pmid: str, hit: Hit | None) -> Body:
    """The action that replaces what was read, and fails if that has changed (not on Serverless)."""
    if not index.layout.flavour.managed:
        return {"index": {"_id": pmid}}
    if hit is None:
        return {"create": {"_id": pmid}}
    return {"index": {"_id": pmid, "if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}}


class OpenSearchIndexes:
    """The port `Indexes` beside the index that `live` searches."""

    def __init__(self, live: OpenSearchPassages) -> None:
        self.live, self._alias, self._transport = live, live.alias, live.alias.transport
        name = live.alias.name
        self._written = f"{name}-written"
        self._names = {Role.SEARCHED: name} | {role: f"{name}-{role}" for role in (Role.NEXT, Role.PREVIOUS)}

    def searched(self) -> tuple[OpenSearchPassages, tuple[str, int] | None]:
        index = self._alias.index()
        return (self.live.bound(index), index.model) if index else (self.live, None)

    def all(self) -> list[PaperIndex]:
        roles = self._roles()
        found = ((role, roles[role]) for role in Role if role in roles)
        return [PaperIndex(role, *each.model, self.live.bound(each), self._settings(each)) for role, each in found]

    def begin(self, fingerprint: str, dim: int, *, force: bool = False) -> PaperIndex:
        wanted = self._alias.layout.wanted
        check_begun(there := self.all(), fingerprint, wanted, force=force)
        if len(there) == 1:
            self._alias.act({"add": {"index": there[0].name, "alias": self._written}})
            searched = self._roles()[Role.SEARCHED]
            name = self._alias.make_beside(searched, fingerprint, dim, (self._written, self._names[Role.NEXT]))
            check_begun(there := self.all(), fingerprint, wanted, force=force)
            if len(there) == 1:
                raise Conflict(f"An index {name} that nothing uses stands in the way: DELETE /{name} at OpenSearch.")
        return there[1]

    def switch(self, to: Role) -> None:
        roles = self._roles()
        back = back_from(to, roles.keys())
        old, new = roles[Role.SEARCHED].name, roles[to].name
        self._alias.act(
            {"remove": {"index": old, "alias": self._names[Role.SEARCHED], "must_exist": True}},
            {"add": {"index": new, "alias": self._names[Role.SEARCHED]}},
            {"remove": {"index": new, "alias": self._names[to], "must_exist": True}},
            {"add": {"index": old, "alias": self._names[back]}},
        )
        self._alias.forget()

    def remove(self) -> bool:
        others = [index for role, index in self._roles().items() if role is not Role.SEARCHED]
        for index in others:
            self._transport.ask("DELETE", f"/{index.name}")
        return bool(others)

    def inspect(self) -> Finding:
        """Say how each index was made; an older mapping than this version's is to be replaced."""
        roles, layout = self._roles(), self._alias.layout
        found = "; ".join(f"{role}: {self._settings(roles[role])}" for role in Role if role in roles) or "none yet"
        if all(each.version >= layout.contents.version for each in roles.values()):
            return Finding(OK, found)
        remedy = (
            f"This version writes mapping {layout.contents.version}: bio-mcp admin reindex start, switch and remove."
        )
        return Finding(WARN, found, remedy)

    def _settings(self, index: Index) -> str:
        return self._alias.layout.described(index.shards, index.vectors, index.version)

    def _roles(self) -> dict[Role, Index]:
        """Look up the indexes that are written to. The alias for both is made with the first that is begun."""
        answer: Mapping[str, Any] = {}
        with suppress(IndexGone):
            answer = self._transport.ask("GET", f"/{self._written}")
        roles = {
            role: described_index(name, described)
            for name, described in answer.items()
            for role, alias in self._names.items()
            if alias in described.get("aliases", {})
        }
        if Role.SEARCHED not in roles and (searched := self._alias.refresh()):
            roles[Role.SEARCHED] = searched
        return roles


def lexical_body(query: PassageQuery) -> Body | None:
    """Query for the best papers by BM25; None if no term has a weight."""
    any_word = words(query.terms, conditions(query.filters, query.within))
    return page(query.depth, any_word, BEST, *COLUMNS) if any_word else None


def semantic_body(query: PassageQuery, vector: "Vectors", index: Index) -> Body:
    """Query for the best papers by the cosine of their best window, which the inner hit names."""
    passing, every = conditions(query.filters, query.within), query.within is not None
    near = nearest(index.vectors, index.version, vector, query.depth, passing, every=every)
    return page(query.depth, near, BEST, *COLUMNS)


def conditions(filters: Filters, within: Collection[str] | None = None) -> list[Body]:
    """What papers have to pass. OpenSearch would filter windows, and none would pass, where no condition is known to be
    of papers alone, as a range is."""
    any_of = {"journals": filters.journals, "publication_types": filters.publication_types}
    all_of = {"tags": filters.tags, "projects": () if filters.project is None else (filters.project,)}
    found = clauses(filters.year_from, filters.year_to, any_of, all_of)
    if filters.participants_min is not None:
        found.append({"range": {"participants": {"gte": filters.participants_min}}})
    if filters.tree is not None:
        found += [finding(filters.tree), PAPERS]
    if within is not None:
        pmids = numbers(within)
        found += [{"terms": {"pmid": pmids}}, {"range": {"pmid": {"gte": pmids[0], "lte": pmids[-1]}}}]
    return found


def candidates(lexical: Sequence[Hit], semantic: Sequence[Hit]) -> list[Candidate]:
    """Merge the papers of both legs."""
    found: dict[int, Candidate] = {}
    for hit in semantic:
        window = hit["inner_hits"]["windows"]["hits"]["hits"][0]["_nested"]["offset"]
        chunk_id = hit["fields"]["layout"][0].split(" ")[window]
        found[hit["fields"]["pmid"][0]] = _candidate(hit["fields"], None, cosine(hit["sort"][0]), chunk_id)
    for hit in lexical:
        pmid, bm25 = hit["fields"]["pmid"][0], hit["sort"][0] / FACTOR
        if pmid in found:
            found[pmid].bm25 = bm25
        else:
            found[pmid] = _candidate(hit["fields"], bm25, None, None)
    return list(found.values())


def _candidate(fields: Mapping[str, Any], bm25: float | None, sim: float | None, chunk_id: str | None) -> Candidate:
    columns = {name: values[0] for name, values in fields.items()}
    quality = StaticQuality(*(columns.get(each) for each in ("design", "journal_rank", "human")))
    retraction = RetractionStatus(columns["retraction"])
    return Candidate(str(columns["pmid"]), bm25, sim, chunk_id, columns.get("year"), quality, retraction)


def document_of(entry: Entry, matrix: "Vectors", index: Index) -> dict[str, Any]:
    """Return the document of `entry`; row i of `matrix` embeds chunk i."""
    quality = entry.quality
    known = {
        "title": entry.title,
        "year": entry.year,
        "design": quality.design,
        "journal_rank": quality.journal,
        "human": quality.human,
    }
    return {
        "pmid": key(entry.pmid),
        "version": entry.version,
        "terms": " ".join(entry.terms),
        **{name: value for name, value in known.items() if value is not None},
        "journals": sorted(journal_names(entry)),
        "publication_types": sorted(set(entry.publication_types)),
        "tags": sorted(set(entry.tags)),
        "projects": sorted(set(entry.projects)),
        "retraction": entry.retraction.value,
        "passages": len(entry.chunks),
        "layout": " ".join(each.chunk_id for each in entry.chunks),
        "unindexed": {
            "chunks": [[each.chunk_id, each.section, each.char_start, each.char_end] for each in entry.chunks],
            "texts": [each.text for each in entry.chunks],
            "hashes": [each.embedded_sha256 for each in entry.chunks],
            "vectors": b64encode(matrix.astype("<f4").tobytes()).decode(),
        },
        **(found_by(entry) if index.version >= FOUND_BY else {}),
        **indexed(index.vectors, index.version, matrix),
    }


def matrix_of(source: Source) -> "Vectors":
    """Return the stored vectors, one row per passage."""
    flat = np.frombuffer(b64decode(source["unindexed"]["vectors"]), "<f4")
    return flat.reshape(source["passages"], -1) if source["passages"] else flat.reshape(0, 0)


def by_hash(source: Source) -> "dict[str, Vectors]":
    """Return the stored vectors by the SHA-256 of what was embedded."""
    return dict(zip(source["unindexed"]["hashes"], matrix_of(source), strict=True))
