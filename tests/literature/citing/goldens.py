"""Two hundred real records in every style. `python -m tests.literature.citing.goldens` writes the expected citations
anew, for a reader to review line by line with `git diff --text` or `--show PMID`: a golden is what a person has read.

The records are PubMed's, without the parts that no citation has (abstracts, MeSH, affiliations, references).
"""

import gzip
import io
import json
import lzma
import sys
from functools import lru_cache
from pathlib import Path

from bio_mcp.literature.citing import STYLES, cite
from bio_mcp.literature.medline import parse

HERE = Path(__file__).parents[2] / "data" / "citations"
GOLDENS = HERE / "goldens.jsonl.gz"


@lru_cache
def articles():
    """PMID -> article."""
    return {article.pmid: article for article in parse(io.BytesIO(content()))}


@lru_cache
def content():
    return lzma.decompress((HERE / "records.xml.xz").read_bytes())


@lru_cache
def goldens():
    """PMID -> style -> citation."""
    rows = [json.loads(line) for line in gzip.decompress(GOLDENS.read_bytes()).decode().splitlines()]
    return {row["pmid"]: row["citations"] for row in rows}


def cited(article):
    return {style: cite(article, style) for style in STYLES}


def write():
    rows = [{"pmid": pmid, "citations": cited(article)} for pmid, article in articles().items()]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    GOLDENS.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--show"]:
        for pmid in sys.argv[2:]:
            print("\n".join(cited(articles()[pmid]).values()), "\n")
    else:
        write()
