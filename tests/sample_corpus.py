"""A small real corpus: records of the package's sample, in a store of its own, with PubMed played by those records."""

import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path

from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article
from bio_mcp.ports import SearchPage
from bio_mcp.settings import Settings
from bio_mcp.syncing.importing import import_records
from bio_mcp.wiring import Embedded

RECORDS = 24


class TheseRecords:
    """PubMed, if it held nothing but these: every search finds them all."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = {each.pmid: each for each in articles}

    def esearch(self, term: str, *, retstart: int = 0, **_: object) -> SearchPage:
        ids = tuple(self._articles)
        return SearchPage(len(ids), ids[retstart:], term)

    def efetch(self, pmids: Sequence[str], **_: object) -> Iterator[Article]:
        return (self._articles[pmid] for pmid in pmids if pmid in self._articles)


class Corpus(Embedded):
    """The embedded mode over `home`, with `articles` for PubMed."""

    def __init__(self, home: Path, articles: Sequence[Article]) -> None:
        super().__init__(Settings(home=home))
        self.articles = articles

    @property
    def entrez(self) -> TheseRecords:
        return TheseRecords(self.articles)


def articles() -> list[Article]:
    """The first records of the sample."""
    with as_file(files("bio_mcp") / "samples/pubmed.xml.gz") as sample:
        return [each for each in islice(open_records(sample), RECORDS) if isinstance(each, Article)]


@cache
def corpus() -> Corpus:
    """The corpus of this test process, made once."""
    made = Corpus(Path(tempfile.mkdtemp(prefix="bio-mcp-corpus-")), articles())
    import_records(made.articles, made)
    return made
