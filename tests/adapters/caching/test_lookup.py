"""NCBI's lookup behind a cache, over the local NCBI: what is asked again, and what never."""

import pytest

from bio_mcp.adapters.caching import CachedLookup
from bio_mcp.adapters.embedded.side_files import SqliteCache
from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.errors import NotFound
from bio_mcp.ports.ncbi import Citation
from bio_mcp.tools import lookup as tools
from tests.adapters.caching.cached_ncbi import LIFETIMES
from tests.adapters.clocks import Clock
from tests.tools.live import LiveDesk


class CachedLookupSetup:
    """The lookup of a local NCBI behind a cache in `directory`, with a clock for it."""

    def __init__(self, ncbi, directory):
        self.ncbi, self.live, self.clock = ncbi, LiveDesk(ncbi), Clock(1_000_000.0)
        self.pubmed = self.live.pubmed
        self.cache = SqliteCache(directory, 8, self.clock)
        self.lookup = CachedLookup(self.live.lookup, self.cache, LIFETIMES, "http://ncbi/")
        articles = self.pubmed.efetch([str(pmid) for pmid in ncbi.control.pmids()[-200:]])
        known = [each for each in articles if each.pmcid and each.abstract and each.journal.volume and each.pages]
        self.shown, self.withheld = (next(a for a in known if int(a.pmid) % 2 == odd) for odd in (0, 1))
        self.references = [
            Citation(
                a.journal.medline_abbreviation, str(a.publication_date.year), a.journal.volume, a.pages.split("-")[0]
            )
            for a in known[:2]
        ]
        ncbi.control.clear_requests()

    def ask(self, name, lookup=None):
        """One question of each kind, as something that can be compared."""
        lookup, deadline = lookup or self.lookup, Deadline(30)
        match name:
            case "mesh":
                return lookup.mesh("humans", 3, deadline=deadline)
            case "ecitmatch":
                return lookup.ecitmatch(self.references, deadline=deadline)
            case "convert":
                return lookup.convert([self.shown.pmid, self.withheld.pmid], "pmid", deadline=deadline)
            case "full_text":
                return lookup.full_text(self.shown.pmcid, deadline=deadline)

    @property
    def asked(self):
        return len(self.ncbi.control.requests())


@pytest.fixture
def cached(ncbi, tmp_path):
    made = CachedLookupSetup(ncbi, tmp_path)
    yield made
    made.live.close()
    made.cache.close()


LIVES = {name: LIFETIMES.link_s for name in ("mesh", "ecitmatch", "convert")} | {"full_text": LIFETIMES.record_s}


@pytest.mark.parametrize("name", LIVES)
def test_the_same_is_asked_once_until_its_lifetime_is_over(cached, name):
    first, asked = cached.ask(name), cached.asked
    assert first == cached.ask(name, cached.live.lookup)
    cached.ncbi.control.clear_requests()
    cached.clock.now += LIVES[name] - 1
    assert (cached.ask(name), cached.asked) == (first, 0)
    cached.clock.now += 1
    assert (cached.ask(name), cached.asked) == (first, asked)


def twice(cached, ask):
    """The answers to one question asked twice, of which nothing was kept."""
    first, asked = ask(), cached.asked
    second = ask()
    assert cached.asked == 2 * asked > 0
    return first, second


def test_what_is_not_there_is_asked_for_each_time(cached):
    deadline = Deadline(60)
    first, second = twice(cached, lambda: cached.lookup.mesh("zzzqqq", 3, deadline=deadline))
    assert first.records == second.records == ()
    cached.ncbi.control.clear_requests()
    unknown = Citation("fake journal", "1999", "1", "1")
    [[first], [second]] = twice(cached, lambda: cached.lookup.ecitmatch([unknown], deadline=deadline))
    assert first.pmid is second.pmid is None
    cached.ncbi.control.clear_requests()
    assert twice(cached, lambda: cached.lookup.convert(["99999999"], "pmid", deadline=deadline)) == ({}, {})
    for _ in range(2):
        with pytest.raises(NotFound):
            cached.lookup.full_text("PMC99999999", deadline=deadline)


def test_a_text_that_is_withheld_is_asked_for_each_time(cached):
    first, second = twice(cached, lambda: cached.lookup.full_text(cached.withheld.pmcid, deadline=Deadline(30)))
    assert first == second
    assert first.withheld


def test_only_what_is_not_cached_is_asked_for(cached):
    deadline, one, both = Deadline(30), cached.references[:1], cached.references
    cached.lookup.ecitmatch(one, deadline=deadline)
    cached.lookup.convert([cached.shown.pmid], "pmid", deadline=deadline)
    cached.ncbi.control.clear_requests()
    again = [both[1], both[0], both[1]]
    assert [each.citation for each in cached.lookup.ecitmatch(again, deadline=deadline)] == again
    assert cached.ask("convert") == cached.ask("convert", cached.live.lookup)
    matched, converted, _ = (each["params"] for each in cached.ncbi.control.requests())
    assert matched["bdata"].count("\r") == 0
    assert converted["ids"] == cached.withheld.pmid


def test_a_text_is_fetched_once_for_all_its_sections(cached):
    def read(section):
        return call(tools.get_full_text, {"id": cached.shown.pmcid, "sections": [section]}, cached)

    titles = [each.title for each in cached.ask("full_text", cached.live.lookup).sections if each.level == 1]
    first = read(titles[0])
    assert first.audit["cache"]["status"] == "miss"
    cached.ncbi.control.clear_requests()
    second = read(titles[-1])
    assert second.audit["cache"]["status"] == "hit"
    assert not [each for each in cached.ncbi.control.requests() if each["params"].get("db") == "pmc"]
    assert first.body["title"] == second.body["title"]
