"""Services about papers beside NCBI, each at its own pace, behind the cache."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Misconfigured
from bio_mcp.health import OK, Finding
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.scholarly.rest import RestApi
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.europe_pmc import EuropePmc
    from bio_mcp.ports.metrics import CitationMetrics
    from bio_mcp.ports.ncbi import RateLimiter
    from bio_mcp.ports.notices import Notices
    from bio_mcp.ports.open_access import OpenAccess

NAMES = {"icite": "NIH iCite", "crossref": "Crossref", "europepmc": "Europe PMC", "unpaywall": "Unpaywall"}
NONE = "none"
PAPER, DOI = "27599104", "10.1371/journal.pbio.1002541"  # the paper about iCite's figures
WAIT_S = 9.0


class Scholarly:
    """Makes the ports. `turns` makes the rate limiter of a budget with that many seconds between two requests;
    `cache` gives the cache, None where answers are not stored. Connections are closed with `opened`."""

    def __init__(
        self,
        settings: Settings,
        turns: "Callable[[str, float], RateLimiter]",
        cache: "Callable[[], Cache | None]",
        opened: ExitStack,
    ) -> None:
        self._settings, self._turns, self._cache, self._opened = settings, turns, cache, opened

    def metrics(self) -> "CitationMetrics":
        """iCite states no limit; two requests a second are few."""
        from bio_mcp.adapters.caching.scholarly import CachedMetrics
        from bio_mcp.adapters.scholarly.icite import Icite

        to = self._settings
        made = Icite(self._service("icite", to.icite_url, "BIO_MCP_ICITE_URL", gap_s=0.5))
        cache = self._cache()
        return CachedMetrics(made, cache, lifetime_s=to.cache_links_s, source=to.icite_url) if cache else made

    def notices(self) -> "Notices":
        """Crossref allows one list a second, and three with an e-mail. A retraction is seen as late as PubMed's."""
        from bio_mcp.adapters.caching.scholarly import CachedNotices
        from bio_mcp.adapters.scholarly.crossref import Crossref

        to = self._settings
        gap_s = 0.37 if to.sources_email else 1.1
        made = Crossref(self._service("crossref", to.crossref_url, "BIO_MCP_CROSSREF_URL", gap_s=gap_s), DOI)
        cache = self._cache()
        return CachedNotices(made, cache, lifetime_s=to.cache_records_s, source=to.crossref_url) if cache else made

    def europe_pmc(self) -> "EuropePmc":
        """Europe PMC states no limit; five requests a second are few."""
        from bio_mcp.adapters.caching.scholarly import CachedEuropePmc
        from bio_mcp.adapters.scholarly.europe_pmc import EuropePmcClient

        to = self._settings
        made = EuropePmcClient(self._service("europepmc", to.europe_pmc_url, "BIO_MCP_EUROPE_PMC_URL", gap_s=0.2))
        if not (cache := self._cache()):
            return made
        return CachedEuropePmc(
            made,
            cache,
            lifetime_s=to.cache_links_s,
            search_s=to.cache_searches_s,
            text_s=to.cache_records_s,
            source=to.europe_pmc_url,
        )

    def open_access(self) -> "OpenAccess":
        """Unpaywall asks for an e-mail, and for at most 100,000 requests a day, which is one in 0.9 s."""
        from bio_mcp.adapters.caching.scholarly import CachedOpenAccess
        from bio_mcp.adapters.scholarly.unpaywall import Unpaywall

        to = self._settings
        if "unpaywall" in self._chosen() and not to.sources_email:
            raise Misconfigured("Unpaywall is asked with an e-mail alone; set BIO_MCP_SOURCES_EMAIL")
        made = Unpaywall(self._service("unpaywall", to.unpaywall_url, "BIO_MCP_UNPAYWALL_URL", gap_s=0.9))
        cache = self._cache()
        return CachedOpenAccess(made, cache, lifetime_s=to.cache_links_s, source=to.unpaywall_url) if cache else made

    def checks(self) -> dict[str, Callable[[], Finding]]:
        """By name, what asks each service that may be asked once, past the cache."""
        uncached = Scholarly(self._settings, self._turns, lambda: None, self._opened)
        asked: dict[str, Callable[[], int]] = {
            "icite": lambda: len(uncached.metrics().of([PAPER], deadline=Deadline(WAIT_S))),
            "crossref": lambda: len(uncached.notices().of([DOI], deadline=Deadline(WAIT_S))),
            "europepmc": lambda: len(uncached.europe_pmc().articles([PAPER], deadline=Deadline(WAIT_S))),
            "unpaywall": lambda: bool(uncached.open_access().copies(DOI, deadline=Deadline(WAIT_S)).copies),
        }
        unasked = () if self._settings.sources_email else ("unpaywall",)
        return {NAMES[name]: partial(_finding, asked[name]) for name in self._chosen() if name not in unasked}

    def _service(self, name: str, url: str, setting: str, *, gap_s: float) -> "RestApi":
        """Raises `Misconfigured` for a service that may not be asked."""
        if name not in self._chosen():
            raise Misconfigured(f"{NAMES[name]} is not asked here; BIO_MCP_SOURCES names the services that may be")
        from bio_mcp.adapters.scholarly.rest import RestApi
        from bio_mcp.adapters.scholarly.turns import ServiceTurns

        email, named = self._settings.sources_email, {"crossref": "mailto", "unpaywall": "email"}
        service = RestApi(
            NAMES[name],
            url,
            setting,
            pacer=ServiceTurns(NAMES[name], self._turns(name, gap_s)),
            user_agent=self._settings.ncbi_tool,
            always={named[name]: email} if email and name in named else {},
        )
        self._opened.callback(service.close)
        return service

    def _chosen(self) -> tuple[str, ...]:
        """The services that may be asked. Raises `Misconfigured` for an unknown name."""
        named = self._settings.literature_sources
        if unknown := [each for each in named if each not in NAMES and named != (NONE,)]:
            raise Misconfigured(f"BIO_MCP_SOURCES names {unknown[0]!r}; it takes none, or some of {', '.join(NAMES)}")
        return () if named == (NONE,) else named


def _finding(ask: Callable[[], int]) -> Finding:
    return Finding(OK, f"answers; it knows {ask()} of 1 paper")
