"""PubMed XML to records. Parsing streams in constant memory, and the file is not trusted."""

from bio_mcp.literature.medline.article import OddRecord
from bio_mcp.literature.medline.stream import newest, open_records, parse

__all__ = ["OddRecord", "newest", "open_records", "parse"]
