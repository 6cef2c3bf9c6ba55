"""The indexes of the papers in S3: the one that is searched, and one beside it, each published by itself.

Which index is for what says an object of its own.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from secrets import token_hex
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from bio_mcp.adapters.aws.s3_index import FOLDER, FORMAT, STALE_S, IndexObjects, ReplaceableObject, reaching_index
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.indexes import back_from, check_begun, unknown_role
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.ports.models import PaperIndex, Role

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

    from bio_mcp.adapters.aws.s3_index import PublishedDatabase

FIRST = "corpus"  # the index that a stack begins with; any later one is `corpus-` and sixteen digits
OF_PAPERS = re.compile(rf"{FOLDER}/({FIRST}(?:-[0-9a-f]{{16}})?)/")
OBJECT = f"{FOLDER}/{FIRST}-names/names.json"  # below what a role that uses the index of papers may read
TRIES = 5
UNNAMED = timedelta(days=1)  # for which an index that nobody names may be about to get a name
Names = Mapping[Role, str]
ALONE: Names = MappingProxyType({Role.SEARCHED: FIRST})

log = logging.getLogger(__name__)


class IndexNames:
    """The name of the index of each role. One request replaces all of them, or none. A name is never used twice.

    Every method may raise `IndexUnavailable`.
    """

    def __init__(
        self, client: "S3Client", bucket: str, *, refresh_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._client, self._bucket = client, bucket
        self._object = ReplaceableObject(client, bucket, OBJECT)
        self._refresh_s, self._clock = refresh_s, clock
        self._found: tuple[Names, str | None] = ALONE, None
        self._checked = float("-inf")

    def known(self) -> Names:
        """The names as they were `refresh_s` ago, or later; in an outage of S3 an hour ago."""
        age = self._clock() - self._checked
        if 0 <= age < self._refresh_s:
            return self._found[0]
        try:
            return self.newest()
        except IndexUnavailable as unreachable:
            if not 0 <= age <= STALE_S or not unreachable.retryable:
                raise
            log.warning("which index is searched is known as of %d s ago: %s", age, unreachable)
            return self._found[0]

    def newest(self) -> Names:
        return self._read()[0]

    def keep(self) -> None:
        """Write the names that are known, if none ever were: to find that an object is not there takes a listing.

        Who may not write leaves it to others.
        """
        names, tag = self._found
        if tag is None:
            with suppress(IndexUnavailable):
                self._object.replace(_as_json(names), None)

    def change(self, changed: Callable[[Names], Names]) -> Names:
        """Replace the names by what `changed` makes of the newest ones; returns those that were replaced."""
        for _ in range(TRIES):
            names, tag = self._read()
            wanted = changed(names)
            if wanted == names or self._object.replace(_as_json(wanted), tag) is not None:
                return names
            if self.newest() == wanted:  # they were replaced, and the answer lost
                return names
        raise Conflict("Others change the indexes at this moment: look at bio-mcp admin reindex status.")

    def objects(self, name: str, *, new: bool = False) -> IndexObjects:
        """The objects of an index: one that is `new`, or one that had a role, and so a name that was written."""
        return IndexObjects(self._client, self._bucket, name, (lambda: not new and self._read()[1] is not None))

    def sweep(self) -> None:
        """Delete the indexes that have no role and were not written to for a day: nobody is about to name them."""
        pages = self._client.get_paginator("list_objects_v2")
        with reaching_index():
            asked = pages.paginate(Bucket=self._bucket, Prefix=f"{FOLDER}/{FIRST}", Delimiter="/")
            folders = [each.get("Prefix", "") for page in asked for each in page.get("CommonPrefixes", [])]
        names = {found[1] for each in folders if (found := OF_PAPERS.fullmatch(each))}
        for name in names - set(self.newest().values()):
            self.objects(name).remove(UNNAMED)

    def _read(self) -> tuple[Names, str | None]:
        now, (names, tag) = self._clock(), self._found
        if (found := self._object.read(tag)) is not None:
            content, tag = found
            names = ALONE if content is None else _parsed(content)
        self._found, self._checked = (names, tag), now
        return names, tag


class Copy(NamedTuple):
    """This process's copy of an index."""

    database: "PublishedDatabase"
    passages: "SqlitePassages"


class PublishedIndexes:
    """The port `Indexes` over the indexes that `names` has.

    `copied` makes a new copy, which is deleted when nothing refers to it any more. What searches looks at names that
    are some seconds old, and at an index that may be removed by then: its copy is complete. What writes looks at the
    newest.
    """

    def __init__(self, names: "IndexNames", copied: "Callable[[IndexObjects], PublishedDatabase]") -> None:
        self._names, self._copied = names, copied
        self._copies: dict[str, Copy] = {}
        self._searched = FIRST
        self._lock = Lock()

    def searched(self) -> "tuple[SqlitePassages, tuple[str, int] | None]":
        names = self._names.known()
        try:
            return self._of_model(names)
        except IndexUnavailable:
            if (newest := self._names.newest()) == names:
                raise
            return self._of_model(newest)

    def all(self) -> list[PaperIndex]:
        found = self._opened(self._names.newest())
        there = [
            PaperIndex(role, *model, each.passages.only_of(model))
            for role in Role
            if (each := found.get(role)) and (model := each.passages.model())
        ]
        if there:
            self._names.keep()
        return there

    def begin(self, fingerprint: str, dim: int, *, force: bool = False) -> PaperIndex:
        check_begun(there := self.all(), fingerprint, force=force)
        if len(there) == 1:
            self._names.sweep()
            name = self._made(fingerprint, dim)
            self._names.change(lambda names: names if len(names) > 1 else {**names, Role.NEXT: name})
            check_begun(there := self.all(), fingerprint, force=force)
            if len(there) == 1:  # another process removed it
                raise unknown_role(Role.NEXT)
        return there[1]

    def switch(self, to: Role) -> None:
        def switched(names: "Names") -> "Names":
            back = back_from(to, names.keys())
            return {Role.SEARCHED: names[to], back: names[Role.SEARCHED]}

        self._names.change(switched)

    def remove(self) -> bool:
        before = self._names.change(lambda names: {Role.SEARCHED: names[Role.SEARCHED]})
        removed = [name for role, name in before.items() if role is not Role.SEARCHED]
        for name in removed:
            self._names.objects(name).remove()
        self._names.sweep()
        return bool(removed)

    def inspect(self) -> Finding:
        found = {role: each.database.inspect() for role, each in self._opened(self._names.newest()).items()}
        state = WARN if any(each.state == WARN for each in found.values()) else OK
        remedy = next((each.remedy for each in found.values() if each.remedy), "")
        return Finding(state, "; ".join(f"{role}: {each.found}" for role, each in found.items()), remedy)

    def close(self) -> None:
        """Close the copies."""
        for each in self._copies.values():
            each.database.close()

    def _of_model(self, names: "Names") -> "tuple[SqlitePassages, tuple[str, int] | None]":
        passages = self._opened(names)[Role.SEARCHED].passages
        model = passages.model()
        return (passages.only_of(model) if model else passages), model

    def _made(self, fingerprint: str, dim: int) -> str:
        """Publish an empty index of this model under a new name; whoever reads the name finds the model."""
        name = f"{FIRST}-{token_hex(8)}"
        database = self._copied(self._names.objects(name, new=True))
        SqlitePassages(database, name=name).ensure_schema(fingerprint, dim)
        database.close()
        return name

    def _opened(self, names: "Names") -> dict[Role, Copy]:
        """The copies by role. One that lost its name, or is not searched any more, is left to those who still use it:
        its disk and memory are needed for the one that takes its place."""
        with self._lock:
            left = self._copies.keys() - names.values()
            if names[Role.SEARCHED] != self._searched:
                left |= {self._searched}
                self._searched = names[Role.SEARCHED]
            for name in left:
                self._copies.pop(name, None)
            for name in names.values():
                if name not in self._copies:
                    database = self._copied(self._names.objects(name))
                    self._copies[name] = Copy(database, SqlitePassages(database, name=name))
            return {role: self._copies[name] for role, name in names.items()}


def _as_json(names: Names) -> bytes:
    return json.dumps({"format": 1, "names": dict(names)}).encode()


def _parsed(content: bytes) -> Names:
    try:
        fields = json.loads(content)
        names = {Role(role): str(name) for role, name in fields["names"].items()}
        if fields["format"] == 1 and Role.SEARCHED in names:
            return names
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    raise IndexUnavailable(FORMAT, retryable=False)
