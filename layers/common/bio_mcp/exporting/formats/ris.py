"""RIS with abstract, subjects and the note by which ASReview knows what a screening decided."""

from collections.abc import Iterator

from bio_mcp.exporting.records import Record
from bio_mcp.literature.citing import ris
from bio_mcp.literature.citing.works import work

INCLUDED, EXCLUDED = "ASReview_relevant", "ASReview_irrelevant"


def render(record: Record) -> str:
    """The citation as RIS, with what a screening needs."""
    return ris.render(work(record.article), _more(record))


def _more(record: Record) -> Iterator[tuple[str, str]]:
    yield "AB", record.abstract
    yield from (("KW", each) for each in record.subjects)
    if record.included is not None:
        yield "N1", INCLUDED if record.included else EXCLUDED
