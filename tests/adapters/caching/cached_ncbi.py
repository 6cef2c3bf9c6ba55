"""A cache for tests, and PubMed behind it."""

from contextlib import contextmanager
from datetime import date

from bio_mcp.adapters.caching import CachedPubmed, Lifetimes
from bio_mcp.adapters.embedded.side_files import SqliteCache
from bio_mcp.deadline import Deadline
from bio_mcp.errors import StoreFailed
from tests.adapters.clocks import Clock
from tests.tools.live import Live

LIFETIMES = Lifetimes(record_s=600, search_s=60, link_s=1_200, info_s=300)
DAY = date(2025, 8, 17)


class CachedNcbi:
    """PubMed at `base_url` behind a cache in `directory`, with a clock for the cache and a day for NCBI."""

    def __init__(self, base_url, directory, cache=None, lifetimes=LIFETIMES):
        self.live = Live(base_url, tries=2)
        self.clock, self.day = Clock(1_000_000.0), DAY
        self.cache = cache or SqliteCache(directory, 8, self.clock)
        self.pubmed = self.again(lifetimes)

    def again(self, lifetimes=LIFETIMES, source="http://ncbi/"):
        """The same as another process has it."""
        return CachedPubmed(self.live.pubmed, self.cache, lifetimes, source, today=lambda: self.day)

    @property
    def deadline(self):
        return Deadline(30)


@contextmanager
def cached_at(base_url, directory, **more):
    cached = CachedNcbi(base_url, directory, **more)
    try:
        yield cached
    finally:
        cached.live.wire.close()
        cached.cache.close()


class Broken:
    """A cache that fails at everything; `asked` counts how often somebody tried."""

    asked = 0

    def get(self, _keys):
        self.asked += 1
        raise StoreFailed("the disk is gone")

    put = get

    def close(self):
        """There is nothing to close."""
