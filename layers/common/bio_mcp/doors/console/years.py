"""Papers by the year of their publication and their study design, to be drawn."""

from collections import Counter

from bio_mcp.doors.console.pages import CONSOLE
from bio_mcp.literature.quality import design, year
from bio_mcp.ports import Backends
from bio_mcp.tool import Response, resource


class YearShown(Response):
    """Papers of a year with these points for study design, 0 to 3; None: the record does not say."""

    year: int | None
    design: int | None
    documents: int


class HitsByYear(Response):
    """The papers of a search."""

    years: list[YearShown]


@resource("console://years/{pmids}", name="hits by year", family=CONSOLE, scope="read", timeout=5)
def hits_by_year(backends: Backends, pmids: str) -> HitsByYear:
    """Papers, named by their PMIDs with commas between them, by year and study design."""
    found = backends.documents.get_many(pmids.split(",")).values()
    counts = Counter((year(each.article), design(each.article)) for each in found)
    return HitsByYear(years=[YearShown(year=of[0], design=of[1], documents=count) for of, count in counts.items()])
