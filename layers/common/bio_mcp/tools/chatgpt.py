"""What `search` and `fetch` take and give: the shapes that deep research of ChatGPT reads, and no others.

It cites a result by its address, and shows its reader a title alone.
"""

from pydantic import Field

from bio_mcp.literature.identifiers import pubmed_page
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.tool import Request, Response
from bio_mcp.tools.fields import DOC_ID, DocId

LONGEST_TITLE = 500  # characters
MOST_AUTHORS = 20  # of a source
RETRACTED = "RETRACTED: "
NO_ABSTRACT = "The record has no abstract."


class AnyQuery(Request):
    query: str = Field(min_length=1, description="a question or key terms")


class Source(Response):
    """A paper that can be cited by its address."""

    id: str = Field(pattern=DOC_ID, description="for fetch")
    title: str = Field(description="marked where the paper is retracted")
    url: str = Field(description="of the paper in PubMed")


class Sources(Response):
    results: list[Source] = Field(description="best first")


class AnyId(Request):
    id: DocId = Field(description="of a result of search, as pmid:384001")


class WholeSource(Response):
    """A paper with its text. `metadata` has what the record says, as texts."""

    id: str = Field(pattern=DOC_ID)
    title: str = Field(description="marked where the paper is retracted")
    text: str = Field(description="the abstract")
    url: str = Field(description="of the paper in PubMed")
    metadata: dict[str, str] = Field(description="authors, journal, year, doi, pmcid, publication_types, retraction")


def source(doc_id: str, title: str | None, retraction: RetractionStatus) -> Source:
    """A paper that is retracted says so before its title."""
    mark = RETRACTED if retraction is RetractionStatus.RETRACTED else ""
    return Source(
        id=doc_id, title=cut(f"{mark}{title or doc_id}", LONGEST_TITLE), url=pubmed_page(doc_id.removeprefix("pmid:"))
    )
