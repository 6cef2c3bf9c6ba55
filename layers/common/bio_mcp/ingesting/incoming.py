"""Documents on their way into a project, and the names that they are known by there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from bio_mcp.literature.descriptions import Description
from bio_mcp.literature.parsed import ParsedSection

NOTHING = Description()


@dataclass(frozen=True, slots=True)
class Incoming:
    """A document that comes in. `name` is what messages call it; `content` its file, None where it has none.

    `place` names where it comes from, the same each time, and is never shown. `description` is what a library knows of
    the work, `notes` what its reader wrote, `language` the one that the library gives. A library that brings those
    gives a `state` too, which changes whenever any of them does; it is stored as part of `origin`. With `same_text`
    only the description may have changed since the document was last read, and there is no content.
    """

    name: str
    content: bytes | None
    place: str
    description: Description = NOTHING
    notes: tuple[ParsedSection, ...] = ()
    language: str | None = None
    state: str | None = None
    same_text: bool = False
    identifiers: frozenset[str] = frozenset()
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the file; of where it comes from where there is none."""
        return sha256(self.place.encode(errors="surrogateescape") if self.content is None else self.content).hexdigest()

    @property
    def place_id(self) -> str:
        """An identifier of where it comes from, which does not show that."""
        return f"place:{sha256(self.place.encode(errors='surrogateescape')).hexdigest()[:32]}"

    @property
    def own_identifiers(self) -> frozenset[str]:
        """What names the document before anybody has looked into it."""
        file = set() if self.same_text else {f"sha256:{self.sha256}"}
        return frozenset({*file, self.place_id, *self.identifiers})


def new_doc_id(*parts: str) -> str:
    """The id of a document that is new to a project: the same for the same parts."""
    return f"doc:{sha256(' '.join(parts).encode()).hexdigest()[:20]}"
