"""PubMed XML to records. Parsing streams in constant memory, and the file is not trusted."""

from bio_mcp.literature.medline.archives import open_records
from bio_mcp.literature.medline.limits import OddRecord
from bio_mcp.literature.medline.stream import newest, parse

__all__ = ["OddRecord", "newest", "open_records", "parse"]
