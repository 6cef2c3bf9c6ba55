"""PubMed with its answers kept for a while, as the settings say."""

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.caching.pubmed import CachedPubmed
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.ncbi import NcbiLookup
    from bio_mcp.ports.pubmed import Pubmed


def cached(pubmed: "Pubmed", cache: "Cache", settings: Settings, today: Callable[[], date]) -> "CachedPubmed":
    """`pubmed` over `cache`. `today` is the day at NCBI."""
    from bio_mcp.adapters.caching.pubmed import CachedPubmed, Lifetimes

    lifetimes = Lifetimes(
        record_s=settings.cache_records_s,
        search_s=settings.cache_searches_s,
        link_s=settings.cache_links_s,
        info_s=settings.cache_info_s,
    )
    return CachedPubmed(pubmed, cache, lifetimes, source=settings.ncbi_base_url, today=today)


def cached_lookup(lookup: "NcbiLookup", cache: "Cache", settings: Settings) -> "NcbiLookup":
    """`lookup` over `cache`."""
    from bio_mcp.adapters.caching.lookup import CachedLookup

    source = f"{settings.ncbi_base_url} {settings.converter_url}"
    return CachedLookup(
        lookup, cache, lifetime_s=settings.cache_links_s, text_s=settings.cache_records_s, source=source
    )


def forgetting(announcements: "Announcements", kept: "Callable[[], CachedPubmed]") -> "Announcements":
    """`announcements` that end what is kept of the papers that they tell of."""
    from bio_mcp.adapters.caching.invalidation import InvalidatingAnnouncements

    return InvalidatingAnnouncements(announcements, kept)
