"""What became of a paper ends what is kept of it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.ports import Announcements


class Forgets(Protocol):
    def forget(self, pmids: Sequence[str]) -> None: ...


class InvalidatingAnnouncements:
    """`bio_mcp.ports.Announcements` that hands news on once nothing older is kept of the papers: who hears of it and
    asks is not answered with what was. `kept` is made for news that ends something."""

    def __init__(self, announcements: Announcements, kept: Callable[[], Forgets]) -> None:
        self._announcements = announcements
        self._kept = kept

    def publish(self, news: Sequence[CorpusChange]) -> None:
        overtaken = list(dict.fromkeys(each.pmid for each in news if each.kind is not ChangeKind.NEW))
        if overtaken:
            self._kept().forget(overtaken)
        self._announcements.publish(news)
