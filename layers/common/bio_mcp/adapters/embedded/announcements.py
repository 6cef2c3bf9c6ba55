"""Announcements of corpus changes as log lines."""

import logging
from collections.abc import Sequence

from bio_mcp.literature.changes import ChangeKind, CorpusChange

log = logging.getLogger(__name__)


class LoggedAnnouncements:
    """The port `Announcements` for a laptop: one log line per kind of change, listing its PMIDs."""

    def publish(self, news: Sequence[CorpusChange]) -> None:
        for kind in ChangeKind:
            if pmids := [change.pmid for change in news if change.kind is kind]:
                log.info("corpus.%s %s", kind, " ".join(pmids))


class NoAnnouncements:
    """The port `Announcements` for a corpus that nobody listens to."""

    def publish(self, news: Sequence[CorpusChange]) -> None:
        """Nobody hears it."""
