"""The ports that are the same in every mode."""

from abc import ABC, abstractmethod
from contextlib import ExitStack
from datetime import date, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from bio_mcp.adapters.lazy import Lazy
from bio_mcp.literature.clock import EASTERN, utc_now
from bio_mcp.settings import Settings
from bio_mcp.wiring.caching import cached, cached_lookup, invalidating
from bio_mcp.wiring.embedding import EMBEDDINGS
from bio_mcp.wiring.ncbi import lookup

if TYPE_CHECKING:
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.ncbi import NcbiLookup
    from bio_mcp.ports.pubmed import Pubmed
    from bio_mcp.ports.stores import Embeddings


class Anywhere(ABC):
    """NCBI, the embedding model and the calendar. A mode adds its stores, and what those keep of NCBI's turns and
    answers. Threads may share it: an attribute that two ask for at once is still made once.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opened = ExitStack()
        self._embeddings = Lazy(lambda: EMBEDDINGS[settings.embeddings](settings))
        self._entrez = Lazy(self._open_entrez)
        self._cache = Lazy(self._open_cache)
        self._cached_pubmed = Lazy(lambda: cached(self.entrez, self._cache(), settings, self.today))
        self._lookup = Lazy(self._make_lookup)
        self._announcements = Lazy(self._make_announcements)

    @property
    def embeddings(self) -> "Embeddings":
        return self._embeddings()

    @property
    def entrez(self) -> "Eutils":
        return self._entrez()

    @property
    def pubmed(self) -> "Pubmed":
        return self.entrez if self.settings.cache == "off" else self._cached_pubmed()

    @property
    def lookup(self) -> "NcbiLookup":
        return self._lookup()

    @property
    def announcements(self) -> "Announcements":
        return self._announcements()

    @property
    def chunk_namespace(self) -> UUID:
        return self.settings.chunk_namespace

    def now(self) -> datetime:
        return utc_now()

    def today(self) -> date:
        return datetime.now(EASTERN).date()

    def close(self) -> None:
        """Close what was opened, files and connections; nothing may be used after it."""
        self._opened.close()

    def _make_lookup(self) -> "NcbiLookup":
        asked = lookup(self.settings, self.entrez, self._opened)
        return asked if self.settings.cache == "off" else cached_lookup(asked, self._cache(), self.settings)

    def _make_announcements(self) -> "Announcements":
        bus = self._open_announcements()
        return bus if self.settings.cache == "off" else invalidating(bus, self._cached_pubmed)

    @abstractmethod
    def _open_announcements(self) -> "Announcements": ...

    @abstractmethod
    def _open_entrez(self) -> "Eutils": ...

    @abstractmethod
    def _open_cache(self) -> "Cache": ...
