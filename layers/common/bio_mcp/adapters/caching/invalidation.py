"""Invalidates cached PubMed answers when a paper changes."""

from collections.abc import Callable, Sequence
from typing import Protocol

from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.ports.messages import Announcements


class Invalidated(Protocol):
    """A cache of answers about papers."""

    def invalidate(self, pmids: Sequence[str]) -> None:
        """Remove what is cached of these papers."""
        ...


class InvalidatingAnnouncements:
    """The port `Announcements` that invalidates the cache before it announces.

    A listener that asks about a changed paper is therefore never answered with the old state. `cache` is called
    only when there is a change to an existing paper.
    """

    def __init__(self, announcements: Announcements, cache: Callable[[], Invalidated]) -> None:
        self._announcements = announcements
        self._cache = cache

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        outdated = list(dict.fromkeys(change.pmid for change in changes if change.kind is not ChangeKind.NEW))
        if outdated:
            self._cache().invalidate(outdated)
        self._announcements.publish(changes)
