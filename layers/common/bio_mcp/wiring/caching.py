"""PubMed and the lookup services behind a cache, by the settings."""

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
    """`pubmed` behind `cache`. `today` returns the date at NCBI."""
    from bio_mcp.adapters.caching.pubmed import CachedPubmed, Lifetimes

    lifetimes = Lifetimes(
        record_s=settings.cache_records_s,
        search_s=settings.cache_searches_s,
        link_s=settings.cache_links_s,
        info_s=settings.cache_info_s,
    )
    return CachedPubmed(pubmed, cache, lifetimes, source=settings.ncbi_base_url, today=today)


def cached_lookup(lookup: "NcbiLookup", cache: "Cache", settings: Settings) -> "NcbiLookup":
    """`lookup` behind `cache`."""
    from bio_mcp.adapters.caching.lookup import CachedLookup

    source = f"{settings.ncbi_base_url} {settings.converter_url}"
    return CachedLookup(
        lookup, cache, lifetime_s=settings.cache_links_s, text_s=settings.cache_records_s, source=source
    )


def invalidating(announcements: "Announcements", cached_pubmed: "Callable[[], CachedPubmed]") -> "Announcements":
    """`announcements` that first invalidate what is cached of the changed papers."""
    from bio_mcp.adapters.caching.invalidation import InvalidatingAnnouncements

    return InvalidatingAnnouncements(announcements, cached_pubmed)
