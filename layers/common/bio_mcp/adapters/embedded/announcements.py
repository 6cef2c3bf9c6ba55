"""News of the corpus, as lines of the log."""

import logging
from collections.abc import Sequence

from bio_mcp.literature.changes import ChangeKind, CorpusChange

log = logging.getLogger(__name__)


class LoggedAnnouncements:
    """`bio_mcp.ports.Announcements` for a laptop: whoever listens reads the log. A line for each kind."""

    def publish(self, news: Sequence[CorpusChange]) -> None:
        for kind in ChangeKind:
            if pmids := [each.pmid for each in news if each.kind is kind]:
                log.info("corpus.%s %s", kind, " ".join(pmids))
