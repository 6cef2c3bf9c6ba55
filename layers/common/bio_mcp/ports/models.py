"""Models: those that embed, rerank and write, and the indices made by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.ports.stores import Embeddings, Passages


class Role(StrEnum):
    """What an index is for. Besides the one that is searched there is at most one other."""

    SEARCHED = "searched"
    NEXT = "next"  # is being built, or was rolled back
    PREVIOUS = "previous"  # was searched before, and is written to for a way back


@dataclass(frozen=True, slots=True)
class PaperIndex:
    """An index by its role, with the model of its vectors. `passages` stays this one, whatever becomes of its role.

    Two indexes may be of one model: `name` tells them apart. `settings` says how the index was made, in words; equal
    words, equal settings.
    """

    role: Role
    fingerprint: str
    dim: int
    passages: Passages
    settings: str = ""

    @property
    def name(self) -> str:
        """The index's own, which no other has while it exists."""
        return self.passages.name()


class Indexes(Protocol):
    """The indexes of the papers. Every method may raise `IndexUnavailable`.

    A writer writes to all of them, and asks again for `all` before it counts a paper as indexed: so an index that was
    begun meanwhile has that paper too, and whichever is switched to lacks nothing.
    """

    def searched(self) -> tuple[Passages, tuple[str, int] | None]:
        """Return the passages that are searched, and fingerprint and dimension of their model; None: there is no index.

        It may be some seconds old; the passages stay those of one index.
        """

    def all(self) -> list[PaperIndex]:
        """Return every index that is written to, the searched one first; none before there is one. Never cached."""

    def begin(self, fingerprint: str, dim: int, *, force: bool = False) -> PaperIndex:
        """Make the next index, for this model and by the settings of this process, unless it is there.

        All writers write to it from their next look on. Raises `Conflict` where there is another beside the searched
        one, or where that is of this model and these settings, unless `force` says so.
        """

    def switch(self, to: Role) -> None:
        """Search that index from now on, in one step; the one that was searched becomes `PREVIOUS`, or `NEXT` on the
        way back. Raises `NotFound` where no index has the role."""

    def remove(self) -> bool:
        """Delete the index that is not searched, with its vectors; returns whether there was one."""


class Models(Protocol):
    """The embedding models that this process can use: the configured one, and those installed beside it."""

    def of(self, fingerprint: str) -> Embeddings | None:
        """Return the model whose vectors have this fingerprint; None where there is none here."""

    def named(self, name: str) -> Embeddings:
        """Return an installed model by its name, or `openai:NAME` of that endpoint; "": the configured one.

        Raises `NotFound`.
        """


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, and the tokens that it took and gave, where it says so."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class LanguageModel(Protocol):
    """A model that writes an answer from numbered passages. Threads may share it."""

    fingerprint: str
    """Names provider, model and instructions; changes whenever answers may."""

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        """Write an answer to the question from the passages alone, each sentence citing them as [1], [2].

        Raises `UpstreamFailed` when the service fails or cannot be reached, and `DeadlineExceeded`.
        """


class Reranker(Protocol):
    """A model that scores passages for a question. Threads may share it."""

    fingerprint: str
    """Names provider and model; changes whenever scores may."""

    def scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        """Return a score for each passage, in their order: the higher the better. Scores of two calls do not compare.

        Raises `UpstreamFailed` when the service fails or cannot be reached, `EmbeddingFailed` when a model of this
        machine does, and `DeadlineExceeded`.
        """
