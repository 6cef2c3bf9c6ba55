"""Records of PubMed as it published them: those of the repository, and of the machine's shared data where there are
any."""

import gzip
import lzma
from pathlib import Path

from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import Article

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/data/pubmed"
FILES = sorted([*(ROOT / "tests/data/pubmed").glob("*.xml.xz"), *SHARED.glob("quick600*.xml.gz")])


def records(path):
    with (gzip.open if path.suffix == ".gz" else lzma.open)(path) as stream:
        return [each for each in parse(stream) if isinstance(each, Article)]
