"""Contract families, the families of other tools, and fields that inputs of several modules share."""

from typing import Annotated

from pydantic import Field

from bio_mcp import dialects
from bio_mcp.retrieval.analysis import ANALYSIS_VERSION
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Family

QueryKey = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]
ProjectId = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]

BIO_MCP = Family("rag", dialects.BIO_MCP)
PUBMED = Family("pubmed", dialects.PUBMED)
CITELOOM = Family("projects", dialects.CITELOOM)
REVIEW = Family("review", dialects.BIO_MCP)
CHATGPT = Family("chatgpt", dialects.BIO_MCP, by_name_only=True)  # `search` and `fetch`, as its deep research wants
TTM = Family("ttm", dialects.TTM, prefix="tool.", audited=True)

SPARSE_MODEL = f"bio-mcp/bm25-{ANALYSIS_VERSION}"  # what a project searches words by
