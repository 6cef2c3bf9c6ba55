"""The indexes of the papers in S3: the one that is searched, and one beside it, each published by itself."""

from collections.abc import Callable, Iterator
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from bio_mcp.adapters.aws.snapshots.names import FIRST
from bio_mcp.adapters.index_roles import back_from, check_begun, unknown_role
from bio_mcp.errors import IndexUnavailable
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.ports.indexes import PaperIndex, Role

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.snapshots.database import PublishedDatabase
    from bio_mcp.adapters.aws.snapshots.names import IndexNames, Names
    from bio_mcp.adapters.aws.snapshots.objects import IndexObjects
    from bio_mcp.adapters.embedded.passages import SqlitePassages


class Copy(NamedTuple):
    """This process's copy of an index."""

    database: "PublishedDatabase"
    passages: "SqlitePassages"

    def versions(self) -> Iterator[tuple[str, int]]:
        """PMID and version of every paper as of now, so that nothing is missed that another process wrote."""
        self.database.catch_up()
        yield from self.passages.versions()


class PublishedIndexes:
    """The port `Indexes` over the indexes that `names` has.

    `copied` makes a new copy, which is deleted when nothing refers to it any more; `over` gives the passages of a copy,
    by the index's name. What searches looks at names that are some seconds old, and at an index that may be removed by
    then: its copy is complete. What writes looks at the newest.
    """

    def __init__(
        self,
        names: "IndexNames",
        copied: "Callable[[IndexObjects], PublishedDatabase]",
        over: "Callable[[PublishedDatabase, str], SqlitePassages]",
    ) -> None:
        self._names, self._copied, self._over = names, copied, over
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
            PaperIndex(role, *model, each.passages.only_of(model), each.versions)
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
        """Say of each index as of when it is, and how much of its room it takes."""
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
        self._over(database, name).ensure_schema(fingerprint, dim)
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
                    self._copies[name] = Copy(database, self._over(database, name))
            return {role: self._copies[name] for role, name in names.items()}
