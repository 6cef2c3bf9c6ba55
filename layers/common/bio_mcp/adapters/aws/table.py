"""A table of DynamoDB: reads, writes under a condition, complete batches and transactions.

Items have values of Python's: a `str`, `bytes`, an `int`, a `float` (stored to the microsecond), a `bool`, None, a
list, a mapping, or a set of texts or whole numbers. In expressions `#name` is the attribute `name`, and `:name` what
the call gives under that name.
"""

import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from bio_mcp.adapters.aws.clients import BUSY, TOO_LARGE, Contended, reaching
from bio_mcp.adapters.retry import Backoff, pause, retry
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.ports.state import Hold
from bio_mcp.ports.stores import Blobs
from bio_mcp.scope import hold_in, taken_over

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

T = TypeVar("T")
Item = Mapping[str, Any]  # name -> value of Python's
AT_ONCE = 100  # keys of one BatchGetItem
WRITTEN_AT_ONCE = 25  # requests of one BatchWriteItem
THREADS = 8  # concurrent writes
ACTIONS = 99  # of a transaction, which may have one more
HOLDS = "dynamodb:"  # begins what names the holds of leases in a table
MAX_BYTES = 3_500_000  # a transaction is limited to 4 MB
PASSING = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
INLINE = 350 * 1024  # bytes of a large value stored in the item itself; its other attributes are small
BODY, KEY = "body", "body_key"
UNPROCESSED = "The store is busy at the moment. Nothing is lost; try again."
BACKOFF = Backoff(tries=12, first_s=0.05, cap_s=20.0, jitter=0.5)
"""For writers that contend for one item: 12 tries, a minute in all. The large jitter separates them."""


@dataclass(frozen=True, slots=True)
class Table:
    """The table of this name, with what `what` says in failures. Every method may raise `StoreFailed`.

    Reads are consistent. A request without an answer is repeated, so each write must tolerate being made twice. A
    conflict with a transaction is tried again; `Contended` is raised when that did not help.

    Where the call writes under a lease, items are put and deleted in transactions that check it, and `Conflict` is
    raised once it has passed to another. Not so by `update_item`, `put_or_get` and `take_item`: what they write must be
    harmless when it is late, as a count or a mark that only rises.
    """

    client: "DynamoDBClient"
    name: str
    what: str
    backoff: Backoff = BACKOFF

    def get_item(self, key: Item, names: Sequence[str] = ()) -> Item | None:
        """The item, or of it the attributes of these names; None where it is not there."""
        request = {"Key": attributes(key), "ConsistentRead": True, **_expressions({}, names)}
        with reaching(self.what):
            found = self.client.get_item(TableName=self.name, **request).get("Item")
        return plain(found) if found else None

    def put_item(self, item: Item, only: str = "", **values: Any) -> bool:
        """Store the item where the condition `only` holds; returns whether it did."""
        if hold_in(HOLDS):
            return not self.transact_write_items([self.putting(item, only, **values)])
        return self.put_or_get(item, only, **values)[0]

    def put_or_get(self, item: Item, only: str, **values: Any) -> tuple[bool, Item]:
        """Store the item where the condition holds; returns whether it did, and what is there where it did not."""
        return self._write(self.putting(item, only, **values))

    def update_item(
        self, key: Item, changes: str, only: str = "", *, returns: bool = True, **values: Any
    ) -> tuple[bool, Item]:
        """Whether the condition held and the changes were made, and the item as it is now, unless nobody wants it."""
        return self._write(self.updating(key, changes, only, **values), "ALL_NEW" if returns else "NONE")

    def next_number(self, key: Item, by: int = 1) -> int:
        """Count the item of this key up; returns its number, which is `by` at first and never given out twice, nor are
        those that it passed over."""
        return int(self.update_item(key, "ADD #number :by", by=by)[1]["number"])

    def delete_item(self, key: Item, only: str = "", **values: Any) -> bool:
        """Delete the item where the condition, which only one that is there fulfils, holds; returns whether it did."""
        deleting = self.deleting(key, only or f"attribute_exists(#{next(iter(key))})", **values)
        return not self.transact_write_items([deleting]) if hold_in(HOLDS) else self._write(deleting)[0]

    def take_item(self, key: Item, only: str = "", **values: Any) -> Item | None:
        """Delete the item where the condition holds; returns what was deleted."""
        made, gone = self._write(self.deleting(key, only, **values), "ALL_OLD")
        return (gone or None) if made else None

    def _write(self, action: Item, returned: str = "NONE") -> tuple[bool, Item]:
        """Whether the condition of a write held, with what DynamoDB returns, or else with the item that is there."""
        [(kind, request)] = action.items()
        write, request = getattr(self.client, f"{kind.lower()}_item"), request | {"ReturnValues": returned}
        if "ConditionExpression" in request:
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"

        def written() -> tuple[bool, Item]:
            with reaching(self.what):
                try:
                    return True, plain(write(**request).get("Attributes", {}))
                except self.client.exceptions.ConditionalCheckFailedException as error:
                    reply: Any = error.response
                    return False, plain(reply.get("Item", {}))

        return retry(written, worth=Contended, backoff=self.backoff)

    def batch_get_items(self, keys: Sequence[Item], names: Sequence[str]) -> list[Item]:
        """The existing items of `keys` (no duplicates), with the attributes of these names.

        An answer ends at 16 MB, or under throttling.
        """
        named = {f"#{number}": name for number, name in enumerate(names)}  # some have spaces
        options = {"ConsistentRead": True, "ProjectionExpression": ", ".join(named), "ExpressionAttributeNames": named}

        def get(left: Sequence[Any]) -> tuple[list[Item], list[Any]]:
            answer = self.client.batch_get_item(RequestItems={self.name: {"Keys": left, **options}})  # type: ignore[dict-item]
            unprocessed = [key for part in answer["UnprocessedKeys"].values() for key in part["Keys"]]
            return [plain(each) for each in answer["Responses"].get(self.name, [])], unprocessed

        return self._in_batches([attributes(each) for each in keys], AT_ONCE, get)

    def batch_write_items(self, puts: Sequence[Item] = (), deletes: Sequence[Item] = ()) -> None:
        """Store items, and delete those of the keys `deletes`; no two may be of one key."""
        if hold_in(HOLDS):
            sized = [(size_of(each), self.putting(each)) for each in puts]
            sized += [(size_of(each), self.deleting(each)) for each in deletes]
            for part in in_parts(sized, lambda part: len(part) <= ACTIONS and sum(n for n, _ in part) <= MAX_BYTES):
                self.transact_write_items([action for _, action in part])
            return

        def write(left: Sequence[Any]) -> tuple[list[Item], list[Any]]:
            unprocessed: Any = self.client.batch_write_item(RequestItems={self.name: left})["UnprocessedItems"]
            return [], unprocessed.get(self.name, [])

        requests = [{"PutRequest": {"Item": attributes(each)}} for each in puts]
        gone = [{"DeleteRequest": {"Key": attributes(each)}} for each in deletes]
        self._in_batches([*requests, *gone], WRITTEN_AT_ONCE, write)

    def _in_batches(
        self, wanted: Sequence[Any], size: int, ask: Callable[[Sequence[Any]], tuple[list[Item], list[Any]]]
    ) -> list[Item]:
        """What `ask` brings of all that is wanted, so much at once; it also returns what DynamoDB left unprocessed.

        That is asked for again, after a growing pause. Raises `StoreFailed` rather than omit one.
        """
        found: list[Item] = []

        def processed(left: Sequence[Any]) -> Sequence[Any]:
            brought, rest = ask(left)
            if len(rest) == len(left):
                raise Contended(UNPROCESSED)
            found.extend(brought)
            return rest

        with reaching(self.what):
            for start in range(0, len(wanted), size):
                left = wanted[start : start + size]
                for answers in count(1):
                    left = retry(partial(processed, left), worth=Contended, backoff=self.backoff)
                    if not left:
                        break
                    pause(answers, self.backoff, Contended(UNPROCESSED))
        return found

    def transact_write_items(self, actions: Sequence[Item]) -> list[int]:
        """Make all the writes, and return nothing; or none of them, and return which by number have a condition that
        does not hold. Raises `Conflict` where the call writes under a lease that has passed to another."""
        hold = hold_in(HOLDS)
        checks = [_checking(hold)] if hold else []
        with reaching(self.what):
            refused = retry(partial(self._transact, [*actions, *checks]), worth=Contended, backoff=self.backoff)
        if hold and len(actions) in refused:
            raise taken_over(hold)
        return refused

    def putting(self, item: Item, only: str = "", **values: Any) -> Item:
        return {"Put": {"TableName": self.name, "Item": attributes(item), **_expressions(values, only=only)}}

    def updating(self, key: Item, changes: str, only: str = "", **values: Any) -> Item:
        """The write of a transaction that changes an item."""
        expressions = _expressions(values, changes=changes, only=only)
        return {"Update": {"TableName": self.name, "Key": attributes(key), **expressions}}

    def deleting(self, key: Item, only: str = "", **values: Any) -> Item:
        return {"Delete": {"TableName": self.name, "Key": attributes(key), **_expressions(values, only=only)}}

    def query(
        self, condition: str, *, names: Sequence[str] = (), newest_first: bool = False, limit: int = 0, **values: Any
    ) -> Iterator[Item]:
        """The items whose key fulfils the condition, in its order or against it; the first `limit`, and no more of them
        are read."""
        pages = self.client.get_paginator("query").paginate(
            TableName=self.name,
            ConsistentRead=True,
            ScanIndexForward=not newest_first,
            PaginationConfig={"MaxItems": limit, "PageSize": limit} if limit else {},
            **_expressions(values, names, key=condition),
        )
        return self._items(pages)

    def partition(self, name: str, *, begins: str = "", **options: Any) -> Iterator[Item]:
        """The items of a name, whose key `item` begins so. The table's key is that of `item_key`."""
        options |= {"begins": begins} if begins else {}
        condition = "#name = :name" + (" AND begins_with(#item, :begins)" if begins else "")
        return self.query(condition, name=name, **options)

    def scan(self, names: Sequence[str] = (), only: str = "", **values: Any) -> Iterator[Item]:
        """Every item for which the condition holds, or of it the attributes of these names."""
        expressions = _expressions(values, names, filter=only)
        pages = self.client.get_paginator("scan").paginate(TableName=self.name, ConsistentRead=True, **expressions)
        return self._items(pages)

    def _items(self, pages: Any) -> Iterator[Item]:
        with reaching(self.what):
            for page in pages:
                yield from map(plain, page["Items"])

    def _transact(self, actions: Sequence[Any]) -> list[int]:
        try:
            self.client.transact_write_items(TransactItems=actions)
        except self.client.exceptions.TransactionCanceledException as error:
            reply: Any = error.response
            codes = [reason.get("Code") for reason in reply.get("CancellationReasons", [])]
            refused = [number for number, code in enumerate(codes) if code == "ConditionalCheckFailed"]
            if refused:
                return refused
            if PASSING & set(codes):
                raise Contended(BUSY.format(what=self.what)) from error
            if "ValidationError" in codes:
                raise StoreFailed(TOO_LARGE.format(what=self.what), retryable=False) from error
            raise
        return []


def _checking(hold: Hold) -> Item:
    """The part of a transaction that fails once the lease has passed to another."""
    condition = _expressions({"number": hold.number}, only="#number = :number")
    key = attributes({"lease": hold.name})
    return {"ConditionCheck": {"TableName": hold.store.removeprefix(HOLDS), "Key": key, **condition}}


EXPRESSIONS = {
    "changes": "UpdateExpression",
    "only": "ConditionExpression",
    "key": "KeyConditionExpression",
    "filter": "FilterExpression",
    "names": "ProjectionExpression",
}


def _expressions(values: Mapping[str, Any], names: Sequence[str] = (), **texts: str) -> dict[str, Any]:
    """The fields of a request for these expressions and attributes, with what they name and the values."""
    texts["names"] = ", ".join(f"#{each}" for each in names)
    request: dict[str, Any] = {EXPRESSIONS[kind]: text for kind, text in texts.items() if text}
    if named := dict.fromkeys(re.findall(r"#([\w-]+)", " ".join(texts.values()))):
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in named}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": typed(value) for name, value in values.items()}
    return request


def attributes(item: Item) -> dict[str, Any]:
    return {name: typed(value) for name, value in item.items()}


def typed(value: Any) -> dict[str, Any]:
    """A value in DynamoDB's JSON."""
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case float():
            return {"N": str(Decimal(repr(value)).quantize(Decimal("0.000001")))}
        case bytes():
            return {"B": value}
        case None:
            return {"NULL": True}
    return _typed_collection(value)


def _typed_collection(value: Any) -> dict[str, Any]:
    match value:
        case Set():
            return {"SS": sorted(value)} if isinstance(next(iter(value)), str) else {"NS": list(map(str, value))}
        case list():
            return {"L": list(map(typed, value))}
    return {"M": attributes(value)}


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(each) for name, each in item.items()}


def _value(typed_value: Mapping[str, Any]) -> Any:
    [(kind, value)] = typed_value.items()
    match kind:
        case "N":
            return float(value) if "." in value else int(value)
        case "NULL":
            return None
        case "SS":
            return set(value)
        case "NS":
            return set(map(int, value))
        case "L":
            return list(map(_value, value))
        case "M":
            return plain(value)
    return value


def size_of(item: Item) -> int:
    """The bytes of its texts and bodies, and room for the rest of it."""
    return 1_000 + sum(len(each) for each in item.values() if isinstance(each, bytes | str))


def item_key(name: str, item: str) -> dict[str, Any]:
    """The key of an item, in a table whose key is a name and an item under it."""
    return {"name": name, "item": item}


def in_parts(things: Iterable[T], fits: Callable[[list[T]], bool]) -> Iterator[list[T]]:
    """Divide the things, in their order, into parts that each fit; one that never does has a part to itself."""
    part: list[T] = []
    for each in things:
        if part and not fits([*part, each]):
            yield part
            part = []
        part.append(each)
    if part:
        yield part


def in_parallel(calls: Sequence[Callable[[], T]], *, writing: bool = False) -> list[T]:
    """Make the calls on a few threads, with this call's deadline, and return what they do, in their order; those of
    `writing` one after the other where each checks the lease, whose item one transaction has at a time.

    Raises the first failure, after all have ended.
    """
    with ThreadPoolExecutor(1 if writing and hold_in(HOLDS) else THREADS) as pool:
        return [future.result() for future in [pool.submit(copy_context().run, call) for call in calls]]


class LargeValues:
    """Bodies of items, in the attribute `name`. One of up to `inline` bytes is in the item, a longer one a file in
    `folder`.

    `blobs` is called for a file alone, so that the others need no bucket; files of the folder must not expire. A file
    is written before the item that names it, and stays when the item names another one.
    """

    def __init__(self, blobs: Callable[[], Blobs], folder: str, name: str = BODY, inline: int = INLINE) -> None:
        self._blobs, self._folder, self._inline = blobs, folder, inline
        self.names = (name, f"{name}_key")  # the attributes that `of` reads

    def attributes(self, body: bytes) -> dict[str, Any]:
        name, key = self.names
        if len(body) <= self._inline:
            return {name: body, key: None}
        return {name: None, key: self._blobs().put(self._folder, body)}

    def of(self, item: Item) -> bytes:
        """The body of an item that was read with both attributes."""
        inline, key = (item[name] for name in self.names)
        if inline is not None:
            return bytes(inline)
        try:
            return self._blobs().get(key)
        except NotFound as error:
            raise StoreFailed(
                "A stored record has lost its text in the bucket; import or sync it again.", retryable=False
            ) from error

    def packed(self, row: Any) -> dict[str, Any]:
        """The attributes of an item whose body is the row, as compressed JSON."""
        return self.attributes(zlib.compress(json.dumps(row).encode()))

    def row(self, item: Item) -> Any:
        """The row of such an item."""
        return json.loads(zlib.decompress(self.of(item)))


class DynamoStore:
    """A port over one table, of which failures speak as `WHAT`, and a bucket for bodies too large for it.

    Its files are in `FOLDER`. `blobs` is called when one is needed; `clock` returns seconds since 1970 and must agree
    everywhere.
    """

    WHAT: ClassVar[str]
    FOLDER: ClassVar[str] = ""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        blobs: Callable[[], Any] = lambda: None,
        *,
        clock: Callable[[], float] = time.time,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._table, self._clock = Table(client, table, self.WHAT, backoff), clock
        self._contents = LargeValues(blobs, self.FOLDER)
