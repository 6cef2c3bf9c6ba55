"""BibTeX with abstract and keywords."""

from collections.abc import Iterator

from bio_mcp.exporting.records import Record
from bio_mcp.literature.citing import bibtex
from bio_mcp.literature.citing.latex import latex
from bio_mcp.literature.citing.works import work


def render(record: Record) -> str:
    """The citation as an entry of BibTeX. Keywords are joined by semicolons, since MeSH headings have commas."""
    return bibtex.render(work(record.article), _more(record))


def _more(record: Record) -> Iterator[tuple[str, str]]:
    yield "abstract", latex(record.abstract)
    yield "keywords", latex("; ".join(record.subjects))
