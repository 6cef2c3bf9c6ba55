"""Real papers to export: a daily update file, and the oddities of the parser's fixtures."""

import gzip
import io
import lzma
from functools import cache
from itertools import islice
from pathlib import Path

from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import Article

FIXTURES = Path(__file__).parents[1] / "data" / "pubmed"
MOST = 60


@cache
def papers() -> dict[str, Article]:
    """PMID -> article: some with abstracts, headings and notices, and every odd one."""
    daily = parse(io.BytesIO(gzip.decompress((FIXTURES / "quick600.dev.xml.gz").read_bytes())))
    odd = parse(io.BytesIO(lzma.decompress((FIXTURES / "edges.xml.xz").read_bytes())))
    return {each.pmid: each for each in [*islice(daily, MOST), *odd] if isinstance(each, Article)}
