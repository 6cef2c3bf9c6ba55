"""Papers of query keys and their news, in a DynamoDB table.

A query key has a partition of its papers and one of its entries, by their position, and an item that counts the writes
of entries, each of which moves it: who reads an entry can read all that come before it. A paper has a partition of the
query keys that found it, with the version that each kind of entry was last made for. A query key has a partition of
its readers, with the position up to which each has read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice

from bio_mcp.adapters.aws.table import ACTIONS, DynamoStore, Item, in_parallel, item_key
from bio_mcp.adapters.retry import retry
from bio_mcp.adapters.stored import entry_at, key
from bio_mcp.errors import Conflict
from bio_mcp.literature.clock import sortable
from bio_mcp.literature.records import ChangeKind, CorpusChange
from bio_mcp.ports.state import Found, NewsEntry, divided

WHOLE = "whole"
NUMBER = "number"
ENTRIES = (ACTIONS - 1) // 3  # that are written in one transaction


class _Outrun(Conflict):
    """Another process numbered entries of the key meanwhile."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry to be made, with the write that is made once for it alone, and others; `at` is a time of its own."""

    kind: ChangeKind
    pmid: str
    version: int
    once: Item
    others: tuple[Item, ...] = ()
    at: datetime | None = None


class DynamoNews(DynamoStore):
    """The port `News` over one table (key: name, item)."""

    WHAT = "news"

    def find(self, query_key: str, papers: Sequence[Found], *, first: bool = False) -> None:
        by_item = {f"{key(each.pmid):010}": each for each in papers}
        keys = [item_key(f"found {query_key}", item) for item in by_item]
        for known in self._table.batch_get_items(keys, ("item",)):
            del by_item[known["item"]]
        entries, papers_of, found, numbered = list[Item](), list[Item](), list[Item](), list[_Entry]()
        for item, each in by_item.items():
            pmid = str(key(each.pmid))
            of_paper, of_key = item_key(_paper(pmid), query_key), item_key(f"found {query_key}", item)
            if first and each.at:  # a repetition replaces these
                entry = NewsEntry(each.at, ChangeKind.NEW, pmid, each.version)
                entries.append(item_key(f"news {query_key}", entry.position))
                papers_of.append(of_paper)
                found.append(of_key)
            else:
                once, other = self._table.putting(of_key, "attribute_not_exists(#name)"), self._table.putting(of_paper)
                numbered.append(_Entry(ChangeKind.NEW, pmid, each.version, once, (other,), each.at))
        self._table.batch_write_items([*entries, *papers_of])
        self._table.batch_write_items(found)
        self._enter(query_key, numbered)

    def record(self, changes: Sequence[CorpusChange]) -> None:
        entered = [each for each in changes if each.kind is not ChangeKind.NEW]
        finding = in_parallel([partial(self._keys, each.pmid) for each in entered])
        by_key: dict[str, list[_Entry]] = {}
        for change, keys in zip(entered, finding, strict=True):
            for query_key in keys:
                by_key.setdefault(query_key, []).append(self._entry(query_key, change))
        entering = [partial(self._enter, query_key, entries) for query_key, entries in by_key.items()]
        in_parallel(entering, writing=True)
        for change, keys in zip(entered, finding, strict=True):
            if change.kind is ChangeKind.DELETED:
                number, paper = f"{key(change.pmid):010}", _paper(change.pmid)
                self._table.batch_write_items(deletes=[item_key(f"found {each}", number) for each in keys])
                self._table.batch_write_items(deletes=[item_key(paper, each) for each in keys])

    def since(self, query_key: str, after: str, limit: int, *, newest_first: bool = False) -> list[NewsEntry]:
        position, time = divided(after)
        found = self._table.query(
            "#name = :name AND #item > :after",
            newest_first=newest_first,
            limit=0 if time else limit,
            name=f"news {query_key}",
            after=position or " ",  # no key is empty
        )
        entries = (entry_at(item["item"]) for item in found)
        wanted = (each for each in entries if not each.number or sortable(each.at) >= time)
        return list(islice(wanted, limit))

    def pmids(self, query_key: str) -> Iterator[str]:
        yield from (str(int(item["item"])) for item in self._table.partition(f"found {query_key}"))

    def is_whole(self, query_key: str) -> bool:
        return self._table.get_item(item_key(f"query {query_key}", WHOLE)) is not None

    def set_whole(self, query_key: str) -> None:
        self._table.put_item(item_key(f"query {query_key}", WHOLE))

    def read_to(self, query_key: str, reader: str) -> str:
        found = self._table.get_item(_read(query_key, reader))
        return str(found["position"]) if found else ""

    def mark_read(self, query_key: str, reader: str, position: str) -> None:
        further = "attribute_not_exists(#position) OR #position < :position"
        marked = _read(query_key, reader)
        self._table.update_item(marked, "SET #position = :position", further, returns=False, position=position)

    def forget(self, query_key: str) -> None:
        self._table.batch_write_items(deletes=[item_key(f"query {query_key}", WHOLE)])
        for each in ("news", "read"):
            items = self._table.partition(f"{each} {query_key}", names=("name", "item"))
            self._table.batch_write_items(deletes=list(items))
        found = list(self._table.partition(f"found {query_key}", names=("name", "item")))
        papers = [item_key(_paper(str(int(each["item"]))), query_key) for each in found]
        self._table.batch_write_items(deletes=papers)
        self._table.batch_write_items(deletes=found)

    def _keys(self, pmid: str) -> list[str]:
        """The query keys that found the paper."""
        return [each["item"] for each in self._table.partition(_paper(pmid))]

    def _entry(self, query_key: str, change: CorpusChange) -> _Entry:
        """The entry of a change, which is made unless it was before, or the paper is of the key no more."""
        kind = change.kind.value
        once = self._table.updating(
            item_key(_paper(change.pmid), query_key),
            f"SET #{kind} = :version",
            f"attribute_exists(#name) AND (attribute_not_exists(#{kind}) OR #{kind} < :version)",
            version=change.version,
        )
        return _Entry(change.kind, change.pmid, change.version, once)

    def _enter(self, query_key: str, entries: Sequence[_Entry]) -> None:
        """Make the entries, in their order; those of a transaction have one number, and are of different papers."""
        left = list(entries)
        while left:
            pmids = [each.pmid for each in left[:ENTRIES]]
            different = next((at for at, pmid in enumerate(pmids) if pmid in pmids[:at]), len(pmids))
            part, left = left[:different], left[different:]
            while part:
                attempt = partial(self._enter_at_once, query_key, part)
                part = retry(attempt, worth=_Outrun, backoff=self._table.backoff)

    def _enter_at_once(self, query_key: str, entries: Sequence[_Entry]) -> list[_Entry]:
        """Make the entries with the next number, and return nothing; or none of them, where some were made before, and
        return the others."""
        counter = item_key(f"query {query_key}", NUMBER)
        seen = (self._table.get_item(counter) or {}).get("number", 0)
        only = "attribute_not_exists(#number) OR #number = :seen"
        actions, owners = [self._table.updating(counter, "SET #number = :next", only, next=seen + 1, seen=seen)], [-1]
        now = datetime.fromtimestamp(self._clock(), UTC)
        for at, each in enumerate(entries):
            entry = NewsEntry(each.at or now, each.kind, each.pmid, each.version, seen + 1)
            put = self._table.putting(item_key(f"news {query_key}", entry.position))
            actions += [each.once, *each.others, put]
            owners += [at] * (len(each.others) + 2)
        refused = {owners[number] for number in self._table.transact_write_items(actions)}
        if refused == {-1}:
            raise _Outrun(f"the news of {query_key!r} are being written by many at once; try again")
        return [each for at, each in enumerate(entries) if at not in refused] if refused else []


def _read(query_key: str, reader: str) -> Item:
    return item_key(f"read {query_key}", f"by {reader}")


def _paper(pmid: str) -> str:
    return f"paper {key(pmid)}"
