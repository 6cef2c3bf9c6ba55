"""Reads lists of Zotero's API whole: page after page, until all are of one version of the library."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.adapters.zotero.objects import Data, items_of
from bio_mcp.adapters.zotero.transport import Answer, Transport, not_zotero
from bio_mcp.errors import Conflict, NotFound, UpstreamFailed
from bio_mcp.ports.zotero import ZoteroItem

T = TypeVar("T")
KEYS = 50  # that one request may name
ONE_BY_ONE = 25  # items; for more, reading everything may be cheaper
ANNOTATED = ("application/pdf", "application/epub+zip", "text/html")  # kinds of files that may have annotations
TRASHED = {"includeTrashed": "1"}
TRIES = 4  # of reading a library that changes meanwhile
Parameters = Mapping[str, str]


class Reader:
    """One library of a server: `users/475425` or `groups/2`. `page` is how many objects a request asks for."""

    def __init__(self, transport: Transport, library: str, page: int, backoff: Backoff | None = None) -> None:
        self._transport = transport
        self.library = library
        self._page = page
        self._backoff = backoff or Backoff()

    def ask(self, path: str, parameters: Parameters | None = None) -> Answer:
        """One answer below the library's address."""
        return self._transport.get(f"{self.library}/{path}", parameters)

    def file(self, key: str) -> Answer:
        """The file of an attachment, wherever the server sends us for it."""
        return self._transport.follow(self.ask(f"items/{key}/file"))

    def whole(self, path: str, parameters: Parameters | None = None) -> tuple[list[Data], int]:
        """The `data` of every object of a list, and the version of the library that they are of."""
        return self.steady(lambda: self._pages(path, parameters or {}))

    def steady(self, read: Callable[[], T]) -> T:
        """What `read` returns, called again while it raises `Conflict`: the library changes meanwhile."""
        return retry(read, worth={Conflict: TRIES}, backoff=self._backoff)

    def named(self, keys: Sequence[str]) -> list[Data]:
        """The `data` of the objects of those keys, trashed ones as well; the unknown are left out."""
        found: list[Data] = []
        for start in range(0, len(keys), KEYS):
            asked = {"itemKey": ",".join(keys[start : start + KEYS]), **TRASHED}
            found += self.whole("items", asked)[0]
        return found

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        """The top-level items of those keys, each whole: all at once if that costs fewer requests."""
        wanted = frozenset(keys)
        if len(wanted) > ONE_BY_ONE and self._pages_in_all() <= 2 * len(wanted):
            return [each for each in items_of(self.whole("items", TRASHED)[0]) if each.key in wanted]
        tops = [each for each in self.named(sorted(wanted)) if not each.get("parentItem")]
        return items_of([*tops, *(below for top in tops for below in self._below(top))])

    def members(self, collection: str) -> frozenset[str]:
        """The keys of the top-level items of a collection. Raises `Conflict` if it is gone."""
        try:
            answer = self.ask(f"collections/{collection}/items/top", {"format": "versions"})
        except NotFound:
            raise Conflict("a collection of Zotero vanished while it was read; try again") from None
        return frozenset(answer.json(dict))

    def _pages_in_all(self) -> int:
        answer = self.ask("items", {"format": "json", "limit": "1", **TRASHED})
        return -(-answer.number("total-results") // self._page)

    def _below(self, top: Data) -> list[Data]:
        """What hangs on an item, and on its files."""
        if top["itemType"] == "attachment":
            return self._annotations(top)
        own = self._children(top["key"]) if top["meta"].get("numChildren", 1) else []
        return own + [mark for each in own for mark in self._annotations(each)]

    def _children(self, key: str) -> list[Data]:
        """The `data` of what hangs on an object. Raises `Conflict` if that is gone: it is not one without any."""
        try:
            return self.whole(f"items/{key}/children", TRASHED)[0]
        except NotFound:
            raise Conflict("an item of Zotero vanished while it was read; try again") from None

    def _annotations(self, data: Data) -> list[Data]:
        return self._children(data["key"]) if data.get("contentType") in ANNOTATED else []

    def _pages(self, path: str, parameters: Parameters) -> tuple[list[Data], int]:
        first = self._at(path, parameters, 0)
        found, total = list(_data(first)), first.number("total-results")
        while len(found) < total:
            answer = self._at(path, parameters, len(found))
            same_version(first.version, answer.version)
            more = list(_data(answer))
            if not more:
                raise UpstreamFailed("Zotero's list ended before its end; try again in a minute")
            found += more
        return found, first.version

    def _at(self, path: str, parameters: Parameters, start: int) -> Answer:
        return self.ask(path, {"format": "json", **parameters, "start": str(start), "limit": str(self._page)})


def same_version(one: int, other: int) -> None:
    """Raise `Conflict` if the library changed between two answers."""
    if one != other:
        raise Conflict("the library of Zotero changes while it is read; try again when it is quiet")


def _data(answer: Answer) -> Iterator[Data]:
    for each in answer.json(list):
        if not isinstance(each, dict) or not isinstance(each.get("data"), dict) or "key" not in each["data"]:
            raise not_zotero()
        yield {**each["data"], "meta": each.get("meta") or {}}
