"""What an authorization server remembers: clients, codes, refresh tokens, sign-in links and sessions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Authorization:
    """A record of one `kind` under `key`, which is a hash where the key is a secret; it is gone at `expires`.

    `owner` is whose it is, such as a subject or a family of refresh tokens: `Authorizations.revoke` ends all of one.
    `content` is a JSON object.
    """

    kind: str
    key: str
    owner: str
    expires: datetime
    content: Mapping[str, Any]


class Authorizations(Protocol):
    """Authorizations by kind and key; what has expired is as if it had never been. Every method may raise
    `StoreFailed`.

    Every write is seen by the next call of any process.
    """

    def add(self, authorization: Authorization) -> bool:
        """Store it unless its kind and key are taken; returns whether it was stored."""
        ...

    def put(self, authorization: Authorization) -> None:
        """Store it, in place of the one of its kind and key."""
        ...

    def get(self, kind: str, key: str) -> Authorization | None:
        """Return it; None if there is none."""
        ...

    def take(self, kind: str, key: str) -> Authorization | None:
        """Return and delete it: of all who ask at once, one alone gets it. Not idempotent."""
        ...

    def of(self, kind: str, owner: str) -> list[Authorization]:
        """Return every one of this kind and owner, by key."""
        ...

    def revoke(self, owner: str) -> int:
        """Delete every one of this owner, of every kind; returns how many there were."""
        ...
