"""The backends that are the same in every mode."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, cast
from uuid import UUID

from bio_mcp.errors import IndexUnavailable, Misconfigured, StoreFailed
from bio_mcp.health import Finding, examine
from bio_mcp.lazy import lazily
from bio_mcp.literature.clock import EASTERN, utc_now
from bio_mcp.one_index import found_once
from bio_mcp.settings import Settings
from bio_mcp.wiring.caching import cached, cached_lookup, invalidating
from bio_mcp.wiring.embedding import EMBEDDINGS, InstalledModels, model_of, one_thread
from bio_mcp.wiring.language_models import LANGUAGE_MODELS
from bio_mcp.wiring.ncbi import eutils, lookup, pubmed_files
from bio_mcp.wiring.rerankers import reranker
from bio_mcp.wiring.scholarly import Scholarly
from bio_mcp.wiring.secrets import secret_of
from bio_mcp.wiring.sources import sources
from bio_mcp.wiring.upstreams import upstreams
from bio_mcp.wiring.zotero import check, is_configured, zotero

if TYPE_CHECKING:
    from bio_mcp.adapters.caching.pubmed import CachedPubmed
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.workers.pool import WorkerProcesses
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.europe_pmc import EuropePmc
    from bio_mcp.ports.indexes import Indexes
    from bio_mcp.ports.language_models import LanguageModel
    from bio_mcp.ports.loading import LoadFiles, LoadRuns
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.metrics import CitationMetrics
    from bio_mcp.ports.ncbi import NcbiLookup, RateLimiter
    from bio_mcp.ports.notices import Notices
    from bio_mcp.ports.open_access import OpenAccess
    from bio_mcp.ports.projects import Parser
    from bio_mcp.ports.pubmed import Pubmed
    from bio_mcp.ports.pubmed_files import PubmedFiles
    from bio_mcp.ports.reranking import Reranker
    from bio_mcp.ports.sources import Sources
    from bio_mcp.ports.stores import Embeddings, Passages
    from bio_mcp.ports.zotero import ZoteroLibrary


ON_AWS = "bulk loads run on AWS (BIO_MCP_MODE=aws); on one machine it is bio-mcp import"
QUIET_S = 300  # without a sign of progress, after which a file is given up


class Shared:
    """NCBI and other services, Zotero, the embedding model, the parser and the calendar.

    A mode gives the functions that make its rate limiter, its cache and its event bus; each is called on first use.
    `turns` makes the rate limiter of another service, by the name of its budget and the seconds between two requests.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        rate_limiter: "Callable[[], RateLimiter]",
        turns: "Callable[[str, float], RateLimiter]",
        cache: "Callable[[], Cache]",
        bus: "Callable[[], Announcements]",
    ) -> None:
        self.settings = settings
        self.prepare_model: Callable[[], None] = lambda: None  # called before the embedding model is first opened
        self._opened = ExitStack()
        self._make_rate_limiter, self._make_cache, self._make_bus = rate_limiter, cache, bus
        self.services = Scholarly(settings, turns, lambda: self._cache if self._caches else None, self._opened)

    @property
    def indexes(self) -> "Indexes":
        """The indexes of the papers; each mode has its own."""
        raise NotImplementedError

    @property
    def embeddings(self) -> "Embeddings":
        return found_once((self, "model"), self._searched_model)

    @lazily
    def models(self) -> "InstalledModels":
        return InstalledModels(self.settings, lambda: self.configured_embeddings)

    def _searched_model(self) -> "Embeddings":
        """The model by which papers are searched, that of the call's index.

        Without another model than the configured one nothing is looked up. Where it cannot be, whoever searches the
        index hears why.
        """
        if not self.models.others:
            return self.configured_embeddings
        try:
            return model_of(self._searched_index(), self.models)
        except (IndexUnavailable, StoreFailed, Misconfigured):
            return self.configured_embeddings

    def _searched_index(self) -> "tuple[Passages, tuple[str, int] | None]":
        """The index of the whole call. No model is opened for it: the pages that count passages have none."""
        return found_once((self, "index"), lambda: self.indexes.searched())

    @lazily
    def passages(self) -> "Passages":
        from bio_mcp.adapters.searched_passages import SearchedPassages

        return cast("Passages", SearchedPassages(self._searched_passages))

    def _searched_passages(self) -> "Passages":
        return self._searched_index()[0]

    @lazily
    def configured_embeddings(self) -> "Embeddings":
        """The model that the settings name."""
        from bio_mcp.adapters.metered import MeteredEmbeddings

        self.prepare_model()
        return MeteredEmbeddings(EMBEDDINGS[self.settings.embeddings](self.settings))

    def workers(self, count: int) -> "WorkerProcesses":
        from bio_mcp.adapters.workers.pool import WorkerProcesses

        fingerprint, to = self.embeddings.fingerprint, self.settings
        make = partial(one_thread, self.models.settings_of(fingerprint))
        return WorkerProcesses(make, count, fingerprint=fingerprint, environment=to.environment_of_programs)

    @lazily
    def entrez(self) -> "Eutils":
        return eutils(self.settings, self._make_rate_limiter(), self.ncbi_key, self._opened)

    @property
    def pubmed(self) -> "Pubmed":
        return self._cached_pubmed if self._caches else self.entrez

    @lazily
    def lookup(self) -> "NcbiLookup":
        asked = lookup(self.settings, self.entrez, self._opened)
        return cached_lookup(asked, self._cache, self.settings) if self._caches else asked

    @lazily
    def pubmed_files(self) -> "PubmedFiles":
        """NCBI's baseline and update files."""
        return pubmed_files(self.settings, self._opened)

    @property
    def load_files(self) -> "LoadFiles":
        """The files of bulk loads."""
        raise Misconfigured(ON_AWS)

    @property
    def load_runs(self) -> "LoadRuns":
        """The runs of bulk loads."""
        raise Misconfigured(ON_AWS)

    @lazily
    def metrics(self) -> "CitationMetrics":
        return self.services.metrics()

    @lazily
    def notices(self) -> "Notices":
        return self.services.notices()

    @lazily
    def europe_pmc(self) -> "EuropePmc":
        return self.services.europe_pmc()

    @lazily
    def open_access(self) -> "OpenAccess":
        return self.services.open_access()

    @lazily
    def zotero(self) -> "ZoteroLibrary":
        return zotero(self.settings, self._opened)

    @lazily
    def announcements(self) -> "Announcements":
        bus = self._make_bus()
        return invalidating(bus, lambda: self._cached_pubmed) if self._caches else bus

    @lazily
    def parser(self) -> "Parser":
        from bio_mcp.adapters.parsers.isolated import IsolatedParser
        from bio_mcp.adapters.parsers.process import Limits

        to = self.settings
        limits = Limits(to.parse_memory_mb << 20, to.parse_seconds, QUIET_S, to.parse_pages)
        parser = IsolatedParser(limits, tesseract=to.tesseract, environment=to.environment_of_programs)
        self._opened.callback(parser.close)
        return parser

    @lazily
    def sources(self) -> "Sources":
        return sources(self.settings, self._opened)

    def zotero_checks(self) -> list[Finding]:
        """Check the library of Zotero, where one is named."""
        return [examine("Zotero", lambda: check(self.zotero))] if is_configured(self.settings) else []

    def upstreams(self) -> list[Finding]:
        asked = lambda: lookup(self.settings, self.entrez, self._opened)  # noqa: E731  past the cache
        models = (lambda: self.language_model), (lambda: self.reranker)
        return upstreams(self.settings, asked, *models, self.services.checks)

    @lazily
    def language_model(self) -> "LanguageModel | None":
        from bio_mcp.adapters.metered import MeteredLanguageModel

        model = LANGUAGE_MODELS[self.settings.llm](self.settings)
        return MeteredLanguageModel(model) if model else None

    @lazily
    def reranker(self) -> "Reranker | None":
        from bio_mcp.adapters.metered import MeteredReranker

        model = reranker(self.settings)
        return MeteredReranker(model) if model else None

    @property
    def answer_tau(self) -> float:
        if not 0 <= (tau := self.settings.answer_tau) <= 1:
            raise Misconfigured(f"BIO_MCP_ANSWER_TAU is {tau}; it takes a number from 0 to 1")
        return tau

    @property
    def sync_max_records(self) -> int:
        return self.settings.sync_max_records

    @property
    def chunk_namespace(self) -> UUID:
        return self.settings.chunk_namespace

    def now(self) -> datetime:
        return utc_now()

    def today(self) -> date:
        return datetime.now(EASTERN).date()

    def close(self) -> None:
        """Close the files and connections that were opened; nothing may be used after it."""
        self._opened.close()

    @lazily
    def ncbi_key(self) -> "Callable[[], str] | None":
        """Returns the NCBI API key each time it is called; None where there is no key."""
        return secret_of(self.settings.ncbi_api_key)

    @property
    def _caches(self) -> bool:
        return self.settings.cache != "off"

    @lazily
    def _cache(self) -> "Cache":
        return self._make_cache()

    @lazily
    def _cached_pubmed(self) -> "CachedPubmed":
        return cached(self.entrez, self._cache, self.settings, self.today)
