"""What the pubmed tools ask of their backends: the real client, over a local NCBI, and the time."""

from datetime import UTC, datetime

from bio_mcp.adapters.entrez.client import ConverterTransport, EntrezLookup, Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.call import call
from bio_mcp.errors import Misconfigured
from bio_mcp.tools import pubmed
from tests.adapters.clocks import Clock

KEY = "0123456789abcdef0123456789abcdef0123"
IDENTITY = {"tool": "bio-mcp-tests", "email": "secret.admin@example.org"}


def unhurried(wire, tries):
    """A client that neither spreads requests out nor pauses: time between tries is played."""
    clock = Clock()
    backoff = Backoff(tries=tries, rng=lambda: 0.5, sleep=clock.sleep)
    return Eutils(wire, pacer=LocalRateLimiter(0.0, clock, clock.sleep), backoff=backoff)


class Live:
    """PubMed at `base_url`."""

    def __init__(self, base_url, tries=6):
        self.wire = HttpTransport(base_url, identity=IDENTITY, key=lambda: KEY)
        self.pubmed = unhurried(self.wire, tries)

    def now(self):
        return datetime.now(UTC)

    def search(self, term, **more):
        return call(pubmed.search_pubmed, {"queryTerm": term, **more}, self).body

    def fetch(self, *pmids, **more):
        return call(pubmed.fetch_details, {"pmids": [str(pmid) for pmid in pmids], **more}, self).body

    def call(self, **arguments):
        return call(pubmed.relate, arguments, self).body

    def related(self, pmid, kind="pubmed_similar_articles", **more):
        return self.call(sourcePmid=str(pmid), relationshipType=kind, **more)


class LiveDesk:
    """PubMed and its lookup at a local NCBI, and no other service."""

    def __init__(self, ncbi, tries=3):
        self.pubmed = unhurried(HttpTransport(ncbi.base_url, identity=IDENTITY, key=lambda: KEY), tries)
        self.converter = unhurried(ConverterTransport(ncbi.converter_url, identity=IDENTITY), tries)
        self.lookup = EntrezLookup(self.pubmed, self.converter)

    def ask(self, tool, **arguments):
        return call(tool, arguments, self).body

    @property
    def europe_pmc(self):
        raise Misconfigured("no other service is asked here")

    open_access = europe_pmc

    def close(self):
        self.pubmed.close()
        self.converter.close()
