"""The contract families."""

from bio_mcp import dialects
from bio_mcp.tool import Family

BIO_MCP = Family("rag", dialects.BIO_MCP)
PUBMED = Family("pubmed", dialects.PUBMED)
TTM = Family("ttm", dialects.TTM, prefix="tool.", audited=True)
