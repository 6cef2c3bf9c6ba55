"""Articles, in a DynamoDB table with one item each.

An item has the attributes that decide whether a record is new beside the compressed article. Reading heads alone costs
as much as reading whole items, as DynamoDB bills at least 4 KB for each, but transfers and decompresses no articles.

A tombstone is the item of a paper that was deleted. The same table has items of other kinds, whose keys begin with #:
counters of the articles and of deletions, an item for each DOI and
PMCID with the papers that ever had it, one for each paper with what it was before it was revised, and one for each day
with how many papers it brought.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from hashlib import sha256
from random import randrange
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.clients import BUSY, Contended
from bio_mcp.adapters.aws.table import (
    ACTIONS,
    BODY,
    KEY,
    MAX_BYTES,
    DynamoStore,
    Item,
    LargeValues,
    in_parallel,
    in_parts,
    size_of,
)
from bio_mcp.adapters.retry import retry
from bio_mcp.adapters.stored import OLD_VERSIONS, key, numbers, unknown_paper, unknown_version, utc_day
from bio_mcp.literature import serial
from bio_mcp.literature.identifiers import paper_identifiers
from bio_mcp.literature.records import Document, Head, Tombstone
from bio_mcp.ports.stores import Blobs, StoredDay

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

HEAD = ("pmid", "content_hash", "version", "indexed_version", "pmid_version", "date_revised")
GONE, PLACE, NUMBER = "gone", "place", "number"  # of a tombstone; the place stays when the paper comes back
GIVEN = "given"  # of a paper
WHOLE = (*HEAD, BODY, KEY, GONE)
DELETIONS = {"pmid": "#deletions"}  # counts them
SHARDS = 16  # counters
COUNTED_AT_ONCE = ACTIONS - 1  # one more updates a counter
LISTED = "identifiers"  # of a paper's item
MAX_KEY = 2_000  # bytes of an identifier in a key, which may have 2,048; a longer one is hashed
VERSIONS = "versions"
INLINE = 350 * 1024 // OLD_VERSIONS  # bytes of each old version in the item


class DynamoDocuments(DynamoStore):
    """The port `Documents` over one table (key: pmid) and, for articles too large for it, a bucket."""

    WHAT = "papers"
    FOLDER = "articles"

    def __init__(self, client: "DynamoDBClient", table: str, blobs: Callable[[], Blobs], **options: Any) -> None:
        super().__init__(client, table, blobs, **options)
        self._old_bodies = LargeValues(blobs, self.FOLDER, inline=INLINE)

    def get(self, pmid: str) -> Document:
        documents = self.get_many([pmid])
        if pmid not in documents:
            raise unknown_paper(pmid)
        return documents[pmid]

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        found = {}
        for pmid, item in self._items(pmids, WHOLE).items():
            if GONE in item:
                continue
            article = serial.loads(self._contents.of(item))
            found[pmid] = Document(article, item["content_hash"], item["version"], item["indexed_version"])
        return found

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        return self.standing(pmids)[0]

    def standing(self, pmids: Sequence[str]) -> tuple[dict[str, Head], dict[str, Tombstone]]:
        heads, gone = dict[str, Head](), dict[str, Tombstone]()
        for pmid, item in self._items(pmids, (*HEAD, GONE, PLACE, NUMBER, GIVEN)).items():
            revised = date.fromisoformat(item["date_revised"]) if item["date_revised"] else None
            if GONE in item:
                gone[pmid] = Tombstone(item["version"], item["pmid_version"], revised, item[PLACE], item[NUMBER])
            else:
                versions = item["version"], item["indexed_version"], item["pmid_version"]
                places = (item.get(each) or 0 for each in (PLACE, GIVEN))
                heads[pmid] = Head(item["content_hash"], *versions, revised, *places)
        return heads, gone

    def deletions(self) -> int:
        return int((self._table.get_item(DELETIONS) or {"number": 0})["number"])

    def tombstones(self) -> Iterator[tuple[str, int]]:
        for item in self._table.scan(["pmid", "version"], f"attribute_exists(#{GONE})"):
            yield item["pmid"], item["version"]

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        named = self._having(identifiers)
        items = self._items([pmid for pmids in named.values() for pmid in pmids], ("pmid", LISTED))
        having = {each: [pmid for pmid in named[each] if each in items.get(pmid, {}).get(LISTED, ())] for each in named}
        return {each: min(pmids, key=int) for each, pmids in having.items() if pmids}

    def put(self, documents: Sequence[Document]) -> set[str]:
        newest: dict[str, Document] = {}
        for document in documents:
            pmid = str(key(document.article.pmid))
            if pmid not in newest or newest[pmid].version < document.version:
                newest[pmid] = document
        items = {pmid: self._item(pmid, document) for pmid, document in newest.items()}
        self._add_identifiers({pmid: item[LISTED] for pmid, item in items.items()})
        existing = self._add(items)
        replacing = [partial(self._replace, items[pmid], newest[pmid].indexed_version) for pmid in existing]
        replaced = in_parallel(replacing, writing=True)
        added, revised = len(items) - len(existing), sum(replaced)
        if added or revised:  # counted after they are stored: who is killed in between leaves some uncounted
            today = {"pmid": f"#day {utc_day(self._clock())}"}
            changes = "ADD #added :added, #revised :revised"
            self._table.update_item(today, changes, returns=False, added=added, revised=revised)
        left = [pmid for pmid, is_new in zip(existing, replaced, strict=True) if not is_new]
        there = self.heads(left) if left else {}
        stands = {pmid for pmid, head in there.items() if _is_of(head, newest[pmid])}
        return {newest[pmid].article.pmid for pmid in left if pmid not in stands}

    def at_version(self, pmid: str, version: int) -> Document:
        [number] = numbers([pmid]) or [-1]
        stored, old = self._stored(str(number))
        for each in (stored, *old) if stored else ():
            if each["version"] == version:
                return Document(serial.loads(self._old_bodies.of(each)), each["content_hash"], version)
        raise unknown_version(pmid, version)

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        in_parallel([partial(self._mark, str(n), versions[str(n)]) for n in numbers(versions)])

    def mark_given(self, pmids: Sequence[str], place: int) -> None:
        only = f"attribute_exists(#version) AND attribute_not_exists(#{GONE})"
        only += f" AND (attribute_not_exists(#{GIVEN}) OR #{GIVEN} < :place)"
        update = partial(self._table.update_item, returns=False, place=place)
        in_parallel([partial(update, {"pmid": str(n)}, f"SET #{GIVEN} = :place", only) for n in numbers(pmids)])

    def delete(self, tombstones: Mapping[str, Tombstone]) -> set[str]:
        """Delete old versions first: what is killed in between has none, rather than those of a paper that is gone."""
        wanted = {str(n): tombstones[str(n)] for n in numbers(list(tombstones))}
        if not wanted:
            return set()
        number = self._table.next_number(DELETIONS)
        heads = self.heads(list(wanted))
        due = sorted(pmid for pmid, head in heads.items() if head.version <= wanted[pmid].version)
        self._table.batch_write_items(deletes=[{"pmid": f"#old {each}"} for each in due])
        items = {pmid: self._tombstone(pmid, each, number) for pmid, each in wanted.items()}
        settled = set[str]()
        for start in range(0, len(due), COUNTED_AT_ONCE):
            part = due[start : start + COUNTED_AT_ONCE]
            only = f"attribute_not_exists(#{GONE}) AND #version <= :last"
            puts = {pmid: self._table.putting(items[pmid], only, last=wanted[pmid].version) for pmid in part}
            settled |= self._counted(puts, -1)
        rest = [pmid for pmid in wanted if pmid not in heads]
        only = f"attribute_not_exists(#pmid) OR (attribute_exists(#{GONE}) AND #version <= :last)"
        put = [partial(self._table.put_item, items[pmid], only, last=wanted[pmid].version) for pmid in rest]
        settled |= {pmid for pmid, is_put in zip(rest, in_parallel(put, writing=True), strict=True) if is_put}
        return wanted.keys() - settled

    def count(self) -> int:
        shards = self._table.batch_get_items([{"pmid": f"#{shard}"} for shard in range(SHARDS)], ["items"])
        return sum(shard["items"] for shard in shards)

    def pmids(self) -> Iterator[str]:
        scanned = self._table.scan(["pmid"], f"attribute_not_exists(#{GONE})")
        yield from (item["pmid"] for item in scanned if not item["pmid"].startswith("#"))

    def stored_by_day(self, days: int) -> list[StoredDay]:
        today = utc_day(self._clock())
        named = {f"#day {day}": day for day in (today - timedelta(days=back) for back in range(days))}
        found = self._table.batch_get_items([{"pmid": name} for name in named], ("pmid", "added", "revised"))
        counted = [StoredDay(named[item["pmid"]], item["added"], item["revised"]) for item in found]
        return sorted(counted, key=lambda each: each.day)

    def _add(self, items: Mapping[str, Item]) -> list[str]:
        """Store the items that do not exist yet, by PMID. Returns the PMIDs of existing ones, which are left unchanged,
        and of those that are not newer than what was deleted."""
        existing = {pmid for pmid, item in self._items(list(items), ["pmid", GONE]).items() if GONE not in item}
        sizes = {pmid: size_of(item) for pmid, item in items.items() if pmid not in existing}

        def fits(part: Sequence[str]) -> bool:
            return len(part) <= COUNTED_AT_ONCE and sum(sizes[pmid] for pmid in part) <= MAX_BYTES

        for part in in_parts(sizes, fits):
            only = f"attribute_not_exists(#pmid) OR (attribute_exists(#{GONE}) AND #version < :own)"
            puts = {pmid: self._table.putting(items[pmid], only, own=items[pmid]["version"]) for pmid in part}
            existing |= puts.keys() - self._counted(puts, 1)
        return [pmid for pmid in items if pmid in existing]

    def _counted(self, actions: Mapping[str, Any], step: int) -> set[str]:
        """Apply all actions whose condition holds, and count them, in one transaction. Returns the keys applied.

        DescribeTable updates its count every six hours, and a Scan reads everything, so papers are counted here, by one
        of a few counters, chosen at random so that writers rarely contend. The conditions protect the counter: a
        transaction that is repeated after its answer was lost finds its items present (or gone) and is cancelled.
        """
        left = dict(actions)
        while left:
            counter = {"pmid": f"#{randrange(SHARDS)}"}  # noqa: S311  # spreads load, hides nothing
            counting = self._table.updating(counter, "ADD #items :by", by=step * len(left))
            names = list(left)
            refused = self._table.transact_write_items([*left.values(), counting])
            if not refused:
                break
            for number in refused:
                del left[names[number]]
        return set(left)

    def _add_identifiers(self, papers: Mapping[str, Iterable[str]]) -> None:
        """Add the papers, by PMID, to the items of their identifiers, which is done before a paper is written.

        It stays when the paper loses the identifier or is deleted: what a paper has is what its own item lists. Unlike
        in a secondary index of DynamoDB's, whoever stored a paper finds it at once.
        """
        by_identifier: dict[str, set[str]] = {}
        for pmid, identifiers in papers.items():
            for identifier in identifiers:
                by_identifier.setdefault(identifier, set()).add(pmid)
        known, update = self._having(by_identifier), partial(self._table.update_item, returns=False)
        new = {each: {int(pmid) for pmid in pmids - known.get(each, set())} for each, pmids in by_identifier.items()}
        in_parallel(
            [
                partial(update, {"pmid": _name_of(each)}, "ADD #pmids :pmids", pmids=pmids)
                for each, pmids in new.items()
                if pmids
            ]
        )

    def _having(self, identifiers: Iterable[str]) -> dict[str, set[str]]:
        """The papers that may have it, for each identifier that one may have."""
        named = {_name_of(each): each for each in identifiers}
        found = self._table.batch_get_items([{"pmid": key} for key in named], ("pmid", "pmids"))
        return {named[item["pmid"]]: set(map(str, item["pmids"])) for item in found}

    def _items(self, pmids: Sequence[str], attributes: Sequence[str]) -> dict[str, Item]:
        found = self._table.batch_get_items([{"pmid": str(n)} for n in numbers(pmids)], attributes)
        return {item["pmid"]: item for item in found}

    def _item(self, pmid: str, document: Document) -> Item:
        revised = document.article.date_revised
        return {
            "pmid": pmid,
            "content_hash": document.content_hash,
            "version": document.version,
            "indexed_version": document.indexed_version,
            "pmid_version": document.article.pmid_version,
            "date_revised": revised.isoformat() if revised else None,
            PLACE: document.place,
            GIVEN: document.given,
            LISTED: list(paper_identifiers(document.article)),
            **self._contents.attributes(serial.dumps(document.article)),
        }

    def _tombstone(self, pmid: str, each: Tombstone, number: int) -> Item:
        revised = each.date_revised.isoformat() if each.date_revised else None
        versions = {"version": each.version, "pmid_version": each.pmid_version, "date_revised": revised}
        return {"pmid": pmid, GONE: True, PLACE: each.place, NUMBER: number, **versions}

    def _replace(self, item: Item, mark: int) -> bool:
        """Overwrite the stored document if this one's version is higher, retaining the higher indexed version; returns
        whether it was."""
        replaced = retry(partial(self._replace_lower, item), worth=Contended, backoff=self._table.backoff)
        if mark:
            self._mark(item["pmid"], mark)
        return replaced

    def _replace_lower(self, item: Item) -> bool:
        """Overwrite a lower version and store it among the old ones; returns whether there was one. Raises `Contended`
        if another did so first."""
        pmid = item["pmid"]
        stored, old = self._stored(pmid)
        if not stored or stored["version"] >= item["version"]:
            return False
        changed = {name: each for name, each in item.items() if name not in ("pmid", "indexed_version")}
        setting = "SET " + ", ".join(f"#{name} = :{name}" for name in changed)
        only = f"#version = :replaced AND attribute_not_exists(#{GONE})"
        replacing = self._table.updating({"pmid": pmid}, setting, only, replaced=stored["version"], **changed)
        storing = self._table.putting({"pmid": f"#old {pmid}", VERSIONS: self._with_replaced(old, stored)})
        if self._table.transact_write_items([storing, replacing]):
            raise Contended(BUSY.format(what=self._table.what))
        return True

    def _with_replaced(self, old: Sequence[Item], replaced: Item) -> list[Item]:
        """The old versions of a paper, with the one that is replaced.

        They are written in one transaction with the paper that replaces it, so no version that was stored is missing
        and none is there that was not. `replaced` has content hash, version and body.
        """
        inline = replaced[BODY]
        body = {name: replaced[name] for name in (BODY, KEY)} if inline is None else self._old_bodies.attributes(inline)
        added = {name: replaced[name] for name in ("version", "content_hash")} | body
        return sorted([added, *old], key=lambda each: each["version"], reverse=True)[:OLD_VERSIONS]

    def _stored(self, pmid: str) -> tuple[Item, list[Item]]:
        """The item of a paper, empty where there is none, and its old versions."""
        found = self._table.batch_get_items([{"pmid": pmid}, {"pmid": f"#old {pmid}"}], (*WHOLE, VERSIONS))
        by_key = {item["pmid"]: item for item in found if GONE not in item}
        return by_key.get(pmid, {}), by_key.get(f"#old {pmid}", {}).get(VERSIONS, [])

    def _mark(self, pmid: str, version: int) -> None:
        setting = "SET #indexed_version = :version"
        lower = "#indexed_version < :version"
        self._table.update_item({"pmid": pmid}, setting, lower, returns=False, version=version)


def _is_of(head: Head, document: Document) -> bool:
    return (head.version, head.content_hash) == (document.version, document.content_hash)


def _name_of(identifier: str) -> str:
    encoded = identifier.encode()
    return "#identifier " + (identifier if len(encoded) <= MAX_KEY else f"sha256 {sha256(encoded).hexdigest()}")
