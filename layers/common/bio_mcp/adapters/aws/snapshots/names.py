"""Which index in S3 is for what: the roles of the indexes of the papers, in an object of their own."""

import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.snapshots.objects import FOLDER, FORMAT, SPARED, IndexObjects
from bio_mcp.adapters.aws.snapshots.replaceable import STALE_S, ReplaceableObject, reaching_index
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.ports.indexes import Role

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

FIRST = "corpus"  # the index that a stack begins with; any later one is `corpus-` and sixteen digits
OF_PAPERS = re.compile(rf"{FOLDER}/({FIRST}(?:-[0-9a-f]{{16}})?)/")
OBJECT = f"{FOLDER}/{FIRST}-names/names.json"  # below what a role that uses the index of papers may read
TRIES = 5
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
        """The names as they are now."""
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
        raise Conflict("Others change the indexes at this moment: look at bio-mcp reindex status.")

    def objects(self, name: str, *, new: bool = False) -> IndexObjects:
        """The objects of an index: one that is `new`, or one that had a role when it was looked up."""
        return IndexObjects(self._client, self._bucket, name, (lambda: False) if new else self._are_written)

    def sweep(self) -> None:
        """Delete the indexes that have no role and were not written to for a day: nobody is about to name them."""
        folders = self._folders()
        for name in folders - set(self.newest().values()):
            self.objects(name).remove(SPARED)

    def _are_written(self) -> bool:
        """Whether the names were ever written, which they are once there is an index."""
        return self._read()[1] is not None

    def _read(self) -> tuple[Names, str | None]:
        now, (names, tag) = self._clock(), self._found
        if (found := self._object.read(tag)) is not None:
            content, tag = found
            names = ALONE if content is None else _parsed(content)
        self._found, self._checked = (names, tag), now
        return names, tag

    def _folders(self) -> set[str]:
        pages = self._client.get_paginator("list_objects_v2")
        with reaching_index():
            asked = pages.paginate(Bucket=self._bucket, Prefix=f"{FOLDER}/{FIRST}", Delimiter="/")
            folders = [each.get("Prefix", "") for page in asked for each in page.get("CommonPrefixes", [])]
        return {found[1] for each in folders if (found := OF_PAPERS.fullmatch(each))}


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
