"""Which papers a query has found: noted as a sync settles them, so that they are known without asking PubMed again."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from bio_mcp.literature.clock import moment, utc
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.ports.news import Found
from bio_mcp.syncing.revisions import Change

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Finding:
    """Notes what one sync finds for its query key.

    What the first sync of a term finds is no news of today: each paper is news of the day on which it came to PubMed.
    So is a paper that the corpus had before, where an earlier version synced the key and did not note what it found.
    """

    def __init__(self, request: Mapping[str, Any], backends: Backends) -> None:
        self._key, self._term, self._backends = request["query_key"], request["term"], backends
        self._ignored = bool(request.get("known_only"))

    def note(self, records: Sequence[Article], changes: Mapping[str, str]) -> None:
        """Note settled records; a sync that looks for papers of the corpus alone finds nothing."""
        if self._ignored or not records:
            return
        versions = {pmid: head.version for pmid, head in self._backends.documents.heads(list(changes)).items()}
        found = [
            Found(each.pmid, versions[each.pmid], None if self._is_news(changes[each.pmid]) else self._came(each))
            for each in records
            if each.pmid in versions and each.pmid in changes
        ]
        self._backends.news.find(self._key, found)

    def finish(self) -> None:
        """Note that the key's papers are all known, after a complete sync from the first day of its only term."""
        others = {each.term for each in self._backends.checkpoints.all(self._key)} - {self._term, None}
        if self._is_first and not others:
            self._backends.news.set_whole(self._key)

    def _is_news(self, change: str) -> bool:
        return not self._is_first and (change == Change.INSERTED or self._is_whole)

    @cached_property
    def _is_first(self) -> bool:
        return not self._backends.checkpoints.get(self._key, self._term).windows

    @cached_property
    def _is_whole(self) -> bool:
        return self._backends.news.is_whole(self._key)

    def _came(self, article: Article) -> datetime:
        """When it came to PubMed, and no later than now."""
        day = article.edat or article.crdt
        return min(moment(utc(day)), self._backends.now()) if day else LONG_AGO
