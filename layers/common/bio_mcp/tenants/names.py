"""Names of what is a tenant's own, as the stores have them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from bio_mcp.errors import NotFound

T = TypeVar("T")

_KEY = re.compile(r"t[0-9a-f]{24}")
_ROUNDS = 5  # of asking for more, each time four times as many


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one tenant's things. Those of the installation's own, the tenant "", are stored as they are; those
    of any other begin with a hash of the tenant, so that no two tenants have one, whatever a client names."""

    tenant: str

    @property
    def key(self) -> str:
        """What the names of this tenant's things begin with; "" for the installation's own."""
        return f"t{sha256(self.tenant.encode()).hexdigest()[:24]}" if self.tenant else ""

    def stored(self, name: str, joint: str = ":") -> str:
        """The name in the store. Raises `NotFound` for one that only another tenant's thing can have."""
        if self.key:
            return f"{self.key}{joint}{name}"
        if is_foreign(name, joint):
            raise NotFound(f"There is no {name!r}")
        return name

    def own(self, stored: str, joint: str = ":") -> str | None:
        """The name by which the tenant knows it; None for another tenant's."""
        if self.key:
            begin = f"{self.key}{joint}"
            return stored.removeprefix(begin) if stored.startswith(begin) else None
        return None if is_foreign(stored, joint) else stored


def is_foreign(stored: str, joint: str) -> bool:
    """Whether a stored name begins with a tenant's hash."""
    key, found, _ = stored.partition(joint)
    return bool(found) and _KEY.fullmatch(key) is not None


def first(limit: int, fetch: Callable[[int], list[T]], own: Callable[[Iterable[T]], list[T]]) -> list[T]:
    """The first `limit` that are `own`, of a list of which `fetch` returns the beginning; fewer where a thousand times
    as many are others'."""
    for round_ in range(_ROUNDS):
        found = fetch(asked := limit * 4**round_)
        mine = own(found)
        if len(mine) >= limit or len(found) < asked:
            break
    return mine[:limit]
