"""Libraries of Zotero, on zotero.org and on this machine."""

import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import httpx

from bio_mcp.adapters.http import Rejected, asked, http_client, read_body, seconds, timeout_of
from bio_mcp.adapters.retry import Backoff, Worth, retry
from bio_mcp.adapters.sources import Folders
from bio_mcp.errors import Conflict, Failure, Forbidden, InvalidInput, Misconfigured, NotFound, UpstreamFailed
from bio_mcp.literature import identifiers
from bio_mcp.ports.zotero import (
    ZoteroAnnotation,
    ZoteroAttachment,
    ZoteroChanges,
    ZoteroCollection,
    ZoteroItem,
    ZoteroNote,
)
from bio_mcp.scope import call_deadline

Data = Mapping[str, Any]
"""The `data` of an object of the API: its fields by their names there."""
Children = Mapping[str, Sequence[Data]]
AUTHORS = ("author", "editor", "bookAuthor", "inventor", "director", "contributor")  # the first kind that there is
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z ]{1,30}?)\*?\s*:\s*(\S.*?)\s*")
_BLOCKS = {"p", "div", "li", "br", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "tr"}
_SPACES = re.compile(r"[^\S\n]+")


def items_of(objects: Iterable[Data]) -> list[ZoteroItem]:
    """The top-level items among the objects, by key, each with those that hang on it. An object may come twice."""
    children: defaultdict[str, list[Data]] = defaultdict(list)
    tops: list[Data] = []
    for each in {each["key"]: each for each in objects}.values():
        (children[each["parentItem"]] if each.get("parentItem") else tops).append(each)
    return [_item(top, children) for top in sorted(tops, key=lambda top: str(top["key"]))]


def collections_of(objects: Iterable[Data]) -> list[ZoteroCollection]:
    """The collections, by path, without those in the trash and what stands in them."""
    known = {each["key"]: each for each in objects}
    found = [_collection(each, known) for each in known.values()]
    return sorted((each for each in found if each), key=lambda each: (each.path, each.key))


def _collection(data: Data, known: Mapping[str, Data]) -> ZoteroCollection | None:
    path = [str(data["name"])]
    at: Data | None = data
    while at and (parent := at.get("parentCollection")) and len(path) <= len(known):
        at = None if at.get("deleted") else known.get(parent)
        path.append(str(at["name"]) if at else "")
    if at is None or at.get("deleted"):
        return None
    return ZoteroCollection(data["key"], tuple(reversed(path)), data.get("parentCollection") or None)


def _item(data: Data, children: Children) -> ZoteroItem:
    live = _live(data, children)
    own = [data] if data["itemType"] in ("attachment", "note") else []
    title = data.get("title") or data.get("caseName") or data.get("nameOfAct") or data.get("subject")
    of_children = (key for each in live for key in (each["key"], *(one["key"] for one in _live(each, children))))
    return ZoteroItem(
        key=data["key"],
        item_type=data["itemType"],
        title=str(title) if title and data["itemType"] != "attachment" else None,
        creators=_creators(data.get("creators") or ()),
        **_publication(data),
        abstract=data.get("abstractNote") or None,
        language=data.get("language") or None,
        tags=tuple(sorted({str(each["tag"]) for each in data.get("tags") or ()})),
        collections=frozenset(data.get("collections") or ()),
        trashed=bool(data.get("deleted")),
        attachments=tuple(_attachment(each, children) for each in own + live if each["itemType"] == "attachment"),
        notes=tuple(
            ZoteroNote(each["key"], _plain(each.get("note") or "")) for each in own + live if each["itemType"] == "note"
        ),
        objects=frozenset({data["key"], *of_children}),
    )


def _publication(data: Data) -> dict[str, Any]:
    """When and where the work was published, by fields of these names or by lines of `extra`."""
    extra = _extra_lines(str(data.get("extra") or ""))
    url, date = str(data.get("url") or ""), data.get("date") or None
    year = identifiers.year_in(date or "")
    doi = data.get("DOI") or extra.get("doi") or (url if "doi.org/" in url else None)
    return {
        "date": date,
        "year": int(year) if year else None,
        "journal": data.get("publicationTitle") or None,
        "doi": identifiers.normal(identifiers.doi, doi),
        "pmid": identifiers.normal(identifiers.parse_pmid, data.get("PMID") or extra.get("pmid")),
        "pmcid": identifiers.normal(identifiers.pmcid, data.get("PMCID") or extra.get("pmcid")),
        "url": url or None,
        "citekey": data.get("citationKey") or extra.get("citationkey"),
    }


def _creators(creators: Sequence[Data]) -> tuple[str, ...]:
    """The names of those of the first kind that there is, else of all."""
    for kind in (*AUTHORS, None):
        if of_kind := [each for each in creators if kind in (None, each.get("creatorType"))]:
            break
    names = []
    for each in of_kind:
        initials = "".join(part[0] for part in str(each.get("firstName") or "").replace("-", " ").split())
        names.append(str(each.get("name") or f"{each.get('lastName') or ''} {initials}".strip()))
    return tuple(names)


def _attachment(data: Data, children: Children) -> ZoteroAttachment:
    marks = _live(data, children, by="annotationSortIndex")
    path = str(data.get("path") or "").removeprefix("attachments:").replace("\\", "/")
    return ZoteroAttachment(
        key=data["key"],
        name=str(data.get("filename") or path.rpartition("/")[2] or data.get("title") or data["key"]),
        content_type=data.get("contentType") or "",
        link_mode=data.get("linkMode") or "imported_file",
        md5=data.get("md5") or None,
        path=data.get("path") or None,
        annotations=tuple(_annotation(each) for each in marks if each["itemType"] == "annotation"),
    )


def _annotation(data: Data) -> ZoteroAnnotation:
    position = _position(data.get("annotationPosition"))
    index = position.get("pageIndex")
    return ZoteroAnnotation(
        key=data["key"],
        text=data.get("annotationText") or "",
        comment=_plain(data.get("annotationComment") or ""),
        page_label=data.get("annotationPageLabel") or None,
        page=index + 1 if isinstance(index, int) and index >= 0 else None,
        color=data.get("annotationColor") or None,
        position=position,
    )


def _live(data: Data, children: Children, by: str = "dateAdded") -> list[Data]:
    """What hangs on an object and is not in the trash, in order."""
    live = [each for each in children.get(data["key"], ()) if not each.get("deleted")]
    return sorted(live, key=lambda each: (str(each.get(by) or ""), str(each["key"])))


def _extra_lines(extra: str) -> dict[str, str]:
    """The lines `Name: value` of an item's `extra` by lower-case name without spaces; the first of a name counts."""
    found: dict[str, str] = {}
    for line in extra.splitlines():
        if match := _LINE.fullmatch(line):
            found.setdefault(match[1].lower().replace(" ", ""), match[2])
    return found


def _position(text: Any) -> dict[str, Any]:
    """An annotation's position, which Zotero stores as JSON; empty for what is none."""
    try:
        read = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _plain(html: str) -> str:
    """A note's text without its markup: paragraphs parted by an empty line."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (_SPACES.sub(" ", line).strip() for line in "".join(reader.parts).split("\n"))
    return "\n\n".join(filter(None, lines))


class _Text(HTMLParser):
    """Collects text; a block begins and ends a line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\n", " "))


T = TypeVar("T")

READ_S = 60.0  # a large library takes its time
MAX_BYTES = 256 * 2**20  # of an answer
MAX_REDIRECTS = 3
REFUSED = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}
PASSING = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT, httpx.codes.TOO_MANY_REQUESTS}
KEYS = 50  # that one request may name
ONE_BY_ONE = 25  # items; for more, reading everything may be cheaper
ANNOTATED = ("application/pdf", "application/epub+zip", "text/html")  # kinds of files that may have annotations
TRASHED = {"includeTrashed": "1"}
TRIES = 4  # of reading a library that changes meanwhile


NOT_ZOTERO = "what answers at the address of Zotero is not Zotero's API; check ZOTERO_API_URL"


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer. Names of `headers` are in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def version(self) -> int:
        """That of the library."""
        return self.number("last-modified-version")

    def number(self, header: str) -> int:
        """The number in a header. Raises `UpstreamFailed` when there is none: this is not Zotero."""
        text = self.headers.get(header, "")
        if not text.isdecimal():
            raise UpstreamFailed(NOT_ZOTERO)
        return int(text)

    def json(self, kind: type[T]) -> T:
        """The body, which is of that kind. Raises `UpstreamFailed` when it is not."""
        try:
            read = json.loads(self.body)
        except ValueError:
            raise UpstreamFailed("Zotero's answer is not whole; try again in a minute") from None
        if not isinstance(read, kind):
            raise UpstreamFailed(NOT_ZOTERO)
        return read


class Transport:
    """HTTP to one server. The key goes to its host alone, in a header, and is read again for each request.

    A failure that may pass is tried again as `backoff` says, after the pause that the server asks for (`Retry-After`);
    one that it asks for beside a good answer (`Backoff`) is held before the next request. Threads may share it. `clock`
    is the time of day, as the monotonic clock of a frozen Lambda environment stands still.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Callable[[], str] | None = None,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._url = url.rstrip("/") + "/"
        self._key = key
        self._backoff = backoff or Backoff()
        self._clock = clock
        self._pause_from, self._pause_s = 0.0, 0.0
        self._client = http_client(follow_redirects=False, headers={"Zotero-API-Version": "3"})

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Answer:
        """The answer to a request below the address.

        Raises `NotFound`, `UpstreamFailed`, `Misconfigured` for a key that is refused, and `DeadlineExceeded`.
        """
        try:
            url = str(httpx.URL(urljoin(self._url, path), params=dict(parameters or {})))
        except httpx.InvalidURL:
            raise Misconfigured("ZOTERO_API_URL is not an http address; correct it") from None
        return self._ask(url, keyed=True)

    def follow(self, answer: Answer) -> Answer:
        """The answer at the end of redirects, which lead to a store of files. No key is sent there, nor in the clear
        when the server itself is asked over https."""
        for _ in range(MAX_REDIRECTS):
            if not httpx.codes.is_redirect(answer.status):
                return answer
            target = answer.headers.get("location", "")
            if urlsplit(target).scheme not in {"https", urlsplit(self._url).scheme}:
                raise Rejected("Zotero's files are at no address that may be followed")
            answer = self._ask(target, keyed=False)
        raise Rejected("Zotero's files are behind too many redirects")

    def close(self) -> None:
        self._client.close()

    def _ask(self, url: str, *, keyed: bool) -> Answer:
        def attempt() -> Answer:
            waited = self._clock() - self._pause_from
            if waited >= 0 and (wait := self._pause_s - waited) > 0:
                raise UpstreamFailed("Zotero asks for a pause; try again in a minute", retry_after_s=wait)
            return asked(lambda: self._exchange(url, keyed), "Zotero", "ZOTERO_API_URL", call_deadline())

        worth: Worth = {UpstreamFailed: self._backoff.tries, Rejected: 1}
        return retry(attempt, worth=worth, backoff=self._backoff)

    def _exchange(self, url: str, keyed: bool) -> Answer:
        deadline = call_deadline()
        headers = {"Zotero-API-Key": self._key()} if keyed and self._key else {}
        timeout = timeout_of(deadline, READ_S)
        with self._client.stream("GET", url, headers=headers, timeout=timeout) as response:
            self._pause_from, self._pause_s = self._clock(), seconds(response.headers.get("backoff")) or 0.0
            if failure := _failure_in(response, of_library=keyed):
                raise failure
            too_long = Rejected(f"Zotero's answer is longer than {MAX_BYTES >> 20} MB")
            body = read_body(response, deadline, "Zotero's answer was whole", too_long, MAX_BYTES)
            return Answer(response.status_code, response.headers, body)


def _failure_in(response: httpx.Response, *, of_library: bool) -> Failure | None:
    status = response.status_code
    if status < httpx.codes.BAD_REQUEST:
        return None
    if status in REFUSED and of_library:
        return Misconfigured(
            "Zotero refuses access to this library: ZOTERO_API_KEY must be a key that may read it, ZOTERO_LIBRARY_ID "
            "and ZOTERO_LIBRARY_TYPE must name it, and a running Zotero must allow other applications on this computer"
        )
    if status == httpx.codes.NOT_FOUND:
        return NotFound("Zotero has no such thing")
    if status not in PASSING and status < httpx.codes.INTERNAL_SERVER_ERROR:
        return Rejected(f"Zotero answered with status {status}; check ZOTERO_API_URL and ZOTERO_LIBRARY_ID")
    hint = "is busy" if status == httpx.codes.TOO_MANY_REQUESTS else f"answered with status {status}"
    return UpstreamFailed(f"Zotero {hint}; try again later", retry_after_s=seconds(response.headers.get("retry-after")))


class _Library:
    """One library of a server, `users/475425` or `groups/2`: what is read in the same way at zotero.org and on this
    machine. `page` is how many objects a request asks for."""

    page: int

    def __init__(self, transport: Transport, library: str, backoff: Backoff | None = None) -> None:
        self._transport, self.library_id, self._backoff = transport, library, backoff or Backoff()

    def collections(self) -> list[ZoteroCollection]:
        return collections_of(self._whole("collections")[0])

    def members(self, collections: Collection[str]) -> frozenset[str]:
        """The keys of the top-level items of these collections. Raises `Conflict` if one is gone."""
        found: set[str] = set()
        for each in sorted(collections):
            try:
                found |= self._ask(f"collections/{each}/items/top", {"format": "versions"}).json(dict).keys()
            except NotFound:
                raise Conflict("a collection of Zotero vanished while it was read; try again") from None
        return frozenset(found)

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        """The top-level items of those keys, each whole: all at once if that costs fewer requests."""
        wanted = frozenset(keys)
        if len(wanted) > ONE_BY_ONE:
            answer = self._ask("items", {"format": "json", "limit": "1", **TRASHED})
            pages = -(-answer.number("total-results") // self.page)
            if pages <= 2 * len(wanted):
                return [each for each in items_of(self._whole("items", TRASHED)[0]) if each.key in wanted]
        tops = [each for each in self._named(sorted(wanted)) if not each.get("parentItem")]
        return items_of([*tops, *(below for top in tops for below in self._below(top))])

    def _ask(self, path: str, parameters: Mapping[str, str] | None = None) -> Answer:
        return self._transport.get(f"{self.library_id}/{path}", parameters)

    def _whole(self, path: str, parameters: Mapping[str, str] | None = None) -> tuple[list[Data], int]:
        """The `data` of every object of a list, and the version of the library that they are of."""
        return self._steady(lambda: self._pages(path, parameters or {}))

    def _steady(self, read: Callable[[], T]) -> T:
        """What `read` returns, called again while it raises `Conflict`: the library changes meanwhile."""
        return retry(read, worth={Conflict: TRIES}, backoff=self._backoff)

    def _named(self, keys: Sequence[str]) -> list[Data]:
        """The `data` of the objects of those keys, trashed ones as well; the unknown are left out."""
        found: list[Data] = []
        for start in range(0, len(keys), KEYS):
            asked = {"itemKey": ",".join(keys[start : start + KEYS]), **TRASHED}
            found += self._whole("items", asked)[0]
        return found

    def _below(self, top: Data) -> list[Data]:
        """What hangs on an item, and on its files."""
        own = [top]
        if top["itemType"] != "attachment":
            own = self._children(top["key"]) if top["meta"].get("numChildren", 1) else []
        marked = [each["key"] for each in own if each.get("contentType") in ANNOTATED]
        marks = [mark for key in marked for mark in self._children(key)]
        return marks if top["itemType"] == "attachment" else own + marks

    def _children(self, key: str) -> list[Data]:
        """The `data` of what hangs on an object. Raises `Conflict` if that is gone: it is not one without any."""
        try:
            return self._whole(f"items/{key}/children", TRASHED)[0]
        except NotFound:
            raise Conflict("an item of Zotero vanished while it was read; try again") from None

    def _pages(self, path: str, parameters: Mapping[str, str]) -> tuple[list[Data], int]:
        def at(start: int) -> Answer:
            asked = {"format": "json", **parameters, "start": str(start), "limit": str(self.page)}
            return self._ask(path, asked)

        first = at(0)
        found, total = list(_data(first)), first.number("total-results")
        while len(found) < total:
            answer = at(len(found))
            check_same_version(first.version, answer.version)
            more = list(_data(answer))
            if not more:
                raise UpstreamFailed("Zotero's list ended before its end; try again in a minute")
            found += more
        return found, first.version


def check_same_version(one: int, other: int) -> None:
    """Raise `Conflict` if the library changed between two answers."""
    if one != other:
        raise Conflict("the library of Zotero changes while it is read; try again when it is quiet")


def _data(answer: Answer) -> Iterator[Data]:
    for each in answer.json(list):
        if not isinstance(each, dict) or not isinstance(each.get("data"), dict) or "key" not in each["data"]:
            raise UpstreamFailed(NOT_ZOTERO)
        yield {**each["data"], "meta": each.get("meta") or {}}


class WebLibrary(_Library):
    """A library at zotero.org, or at another server of Zotero's, a `ZoteroLibrary` by its web API.

    It knows every deletion, as the server lists them by version.
    """

    page = 100  # the most that a page of the web API has

    def changes(self, cursor: Mapping[str, Any]) -> ZoteroChanges:
        since = cursor.get("version") if cursor.get("web") == self.library_id else None
        return self._steady(lambda: self._since(since))

    def content(self, attachment: ZoteroAttachment) -> bytes:
        if not attachment.link_mode.startswith("imported"):
            raise NotFound("it is linked, not stored with the library")
        try:
            return self._transport.follow(self._ask(f"items/{attachment.key}/file")).body
        except NotFound:
            raise NotFound("its file is not stored at Zotero") from None

    def _since(self, since: int | None) -> ZoteroChanges:
        """What changed since this version; everything without one, or where another library stands there now."""
        if since is None:
            answer = self._ask("items/top", {"format": "versions", **TRASHED})
            cursor = {"web": self.library_id, "version": answer.version}
            return ZoteroChanges(cursor, frozenset(answer.json(dict)))
        answer = self._ask("items", {"format": "versions", "since": str(since), **TRASHED})
        cursor = {"web": self.library_id, "version": answer.version}
        if answer.version == since:
            return ZoteroChanges(cursor)
        if answer.version < since:
            return self._since(None)
        trashed, at = self._whole("collections", {"since": str(since)})
        check_same_version(answer.version, at)
        deleted = self._ask("deleted", {"since": str(since)})
        check_same_version(answer.version, deleted.version)
        touched = frozenset(answer.json(dict))
        return ZoteroChanges(
            cursor,
            self._tops(sorted(touched)),
            _item_keys(deleted, "items") - touched,
            _item_keys(deleted, "collections") | {each["key"] for each in trashed if each.get("deleted")},
        )

    def _tops(self, keys: Sequence[str]) -> frozenset[str]:
        """The top-level items that those objects are, or hang on."""
        tops: set[str] = set()
        seen: set[str] = set()
        while keys:
            found = self._named(keys)
            seen.update(keys)
            tops.update(each["key"] for each in found if not each.get("parentItem"))
            keys = sorted({each["parentItem"] for each in found if each.get("parentItem")} - seen)
        return frozenset(tops)


def _item_keys(deleted: Answer, kind: str) -> frozenset[str]:
    keys = deleted.json(dict).get(kind)
    if not isinstance(keys, list):
        raise UpstreamFailed(NOT_ZOTERO)
    return frozenset(keys)


class LocalLibrary(_Library):
    """The library of a Zotero that runs on this machine, a `ZoteroLibrary` by its local API.

    This API lists no deletions, and up to Zotero 9 no version that counts unsynced edits. So everything is read and
    compared. What is missing counts as deleted when Zotero, asked for that key, says that there is none while it lists
    others. From Zotero 10 on, an unchanged library is known by its version.

    `folders` are Zotero's `storage` and the folder of linked files, if there is one. No other file is ever read.
    """

    page = 1_000  # each page is a search of the whole library to Zotero

    def __init__(self, transport: Transport, library: str, folders: Folders, backoff: Backoff | None = None) -> None:
        super().__init__(transport, library, backoff)
        self._last: list[ZoteroItem] | None = None  # of the last look at changes, which has read them all
        self._folders = folders

    def changes(self, cursor: Mapping[str, Any]) -> ZoteroChanges:
        mark, self._last = self._mark(), None
        if mark["server"] and all(cursor.get(name) == value for name, value in mark.items()):
            return ZoteroChanges(cursor)
        self._last, collections, version = self._steady(self._everything)
        before = cursor if all(cursor.get(name) == mark[name] for name in ("local", "server")) else {}
        known: Mapping[str, str] = before.get("items", {})
        states = {each.key: each.state for each in self._last}
        tree = {each["key"]: f"{each.get('parentCollection') or ''}/{each['name']}" for each in collections}
        trashed = tree.keys() - {each.key for each in collections_of(collections)}
        missing = known.keys() - states.keys() if states else ()  # one that lists nothing has deleted nothing
        unlisted = before.get("collections", {}).keys() - tree.keys() if states else ()
        return ZoteroChanges(
            {**mark, "version": version, "items": states, "collections": tree},
            frozenset(key for key, state in states.items() if known.get(key) != state),
            frozenset(each for each in missing if self._is_gone(f"items/{each}")),
            frozenset(each for each in unlisted if self._is_gone(f"collections/{each}")) | trashed,
        )

    def items(self, keys: Sequence[str]) -> list[ZoteroItem]:
        wanted, last = frozenset(keys), self._last
        return super().items(keys) if last is None else [each for each in last if each.key in wanted]

    def content(self, attachment: ZoteroAttachment) -> bytes:
        try:
            answer = self._ask(f"items/{attachment.key}/file")
        except NotFound:
            raise NotFound("Zotero has no file for it on this machine") from None
        target = urlsplit(answer.headers.get("location", ""))
        if target.scheme != "file":
            raise NotFound("Zotero has no file for it on this machine")
        try:
            found = self._folders.locate(str(Path(url2pathname(target.path))), local=False)
            return self._folders.read(found, local=False)
        except Forbidden:
            raise NotFound("its file is outside of Zotero's storage and of ZOTERO_LINKED_DIR") from None
        except InvalidInput:
            raise NotFound("its file is not on this machine, or cannot be read") from None

    def _mark(self) -> dict[str, Any]:
        """The library, which Zotero it is of, and its version; only Zotero 10 and later name themselves."""
        answer = self._ask("items/top", {"format": "keys", "limit": "1"})
        return {
            "local": self.library_id,
            "server": answer.headers.get("zotero-server-id"),
            "version": answer.version,
        }

    def _everything(self) -> tuple[list[ZoteroItem], list[Data], int]:
        """All items and collections, trashed ones as well, and the version of the library that they are of."""
        items, version = self._whole("items", TRASHED)
        collections, at = self._whole("collections", TRASHED)
        check_same_version(version, at)
        return items_of(items), collections, version

    def _is_gone(self, path: str) -> bool:
        try:
            return bool(self._ask(path).json(dict).get("data", {}).get("deleted"))
        except NotFound:
            return True
