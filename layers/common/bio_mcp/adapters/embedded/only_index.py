"""The index of the papers where there is never another beside it: the one that is published in S3."""

from typing import TYPE_CHECKING

from bio_mcp.adapters.index_roles import unknown_role
from bio_mcp.errors import Conflict
from bio_mcp.ports.indexes import PaperIndex, Role

if TYPE_CHECKING:
    from bio_mcp.adapters.embedded.passages import SqlitePassages


class OnlyIndex:
    """The port `Indexes` over the passages of one corpus file, whose readers may be seconds behind its writers.

    Its model may be changed in place between two transactions of a call, which is refused then: what it has embedded
    is of the old one.
    """

    holds_two = False

    def __init__(self, passages: "SqlitePassages") -> None:
        self.passages = passages

    def searched(self) -> "tuple[SqlitePassages, tuple[str, int] | None]":
        model = self.passages.model()
        return (self.passages.only_of(model) if model else self.passages), model

    def all(self) -> list[PaperIndex]:
        passages, model = self.searched()
        return [PaperIndex(Role.SEARCHED, *model, passages, passages.versions)] if model else []

    def begin(self, fingerprint: str, _dim: int, *, force: bool = False) -> PaperIndex:  # noqa: ARG002  the port's signature
        raise Conflict(
            f"An index in S3 has no room for another beside it: set BIO_MCP_EMBEDDING_MODEL to {fingerprint} and run "
            "bio-mcp reindex, which replaces it.",
        )

    def switch(self, to: Role) -> None:
        raise unknown_role(to)

    def remove(self) -> bool:
        return False
