"""The indexes of the papers in OpenSearch, told apart by aliases.

The alias of the corpus is on the index that is searched, `-next` or `-previous` on the other, and `-written` on both,
so that one request answers a writer. One request moves all of them, or none.
"""

from collections.abc import Mapping
from typing import Any

from bio_mcp.adapters.index_roles import back_from, check_begun
from bio_mcp.adapters.opensearch.errors import IndexRefused
from bio_mcp.adapters.opensearch.index import GONE, Index, described_index
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport
from bio_mcp.errors import Conflict
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.ports.indexes import PaperIndex, Role

MOVED = "aliases_not_found_exception"


class OpenSearchIndexes:
    """The port `Indexes` beside the index that `live` searches."""

    def __init__(self, live: OpenSearchPassages, transport: OpenSearchTransport) -> None:
        self.live, self._alias, self._transport = live, live.alias, transport
        name = live.alias.name
        self._written = f"{name}-written"
        self._names = {Role.SEARCHED: name} | {role: f"{name}-{role}" for role in (Role.NEXT, Role.PREVIOUS)}

    def searched(self) -> tuple[OpenSearchPassages, tuple[str, int] | None]:
        index = self._alias.index()
        return (self.live.bound(index), (index.fingerprint, index.dim)) if index else (self.live, None)

    def all(self) -> list[PaperIndex]:
        roles = self._roles()
        return [self._described(role, roles[role]) for role in Role if role in roles]

    def begin(self, fingerprint: str, dim: int, *, force: bool = False) -> PaperIndex:
        wanted = self._alias.layout.wanted
        check_begun(there := self.all(), fingerprint, wanted, force=force)
        if len(there) == 1:
            self._act(_add(there[0].name, self._written))
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
        self._act(
            _take(old, self._names[Role.SEARCHED]),
            _add(new, self._names[Role.SEARCHED]),
            _take(new, self._names[to]),
            _add(old, self._names[back]),
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
            f"This version writes mapping {layout.contents.version}: bio-mcp reindex start, then switch and remove."
        )
        return Finding(WARN, found, remedy)

    def _settings(self, index: Index) -> str:
        return self._alias.layout.described(index.shards, index.vectors, index.version)

    def _described(self, role: Role, index: Index) -> PaperIndex:
        passages = self.live.bound(index)
        return PaperIndex(role, index.fingerprint, index.dim, passages, passages.versions, self._settings(index))

    def _roles(self) -> dict[Role, Index]:
        """Look up the indexes that are written to. The alias for both is made with the first that is begun."""
        answer: Mapping[str, Any] = {}
        try:
            answer = self._transport.ask("GET", f"/{self._written}")
        except IndexRefused as error:
            if error.kind != GONE:
                raise
        roles = {
            role: described_index(name, described)
            for name, described in answer.items()
            for role, alias in self._names.items()
            if alias in described.get("aliases", {})
        }
        if Role.SEARCHED not in roles and (searched := self._alias.refresh()):
            roles[Role.SEARCHED] = searched
        return roles

    def _act(self, *actions: dict[str, Any]) -> None:
        try:
            self._transport.ask("POST", "/_aliases", {"actions": list(actions)})
        except IndexRefused as error:
            if error.kind == MOVED:
                switched = "Another process has just switched the indexes: look at bio-mcp reindex status."
                raise Conflict(switched) from None
            raise


def _add(index: str, alias: str) -> dict[str, Any]:
    return {"add": {"index": index, "alias": alias}}


def _take(index: str, alias: str) -> dict[str, Any]:
    return {"remove": {"index": index, "alias": alias, "must_exist": True}}
