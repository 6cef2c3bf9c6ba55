"""A small real corpus: records of the package's sample, in a store of its own, with PubMed played by those records."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path

from bio_mcp.literature.documents import FullText, Licence, TextSection
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article, Book
from bio_mcp.ports.ncbi import (
    ArticleIds,
    Citation,
    CitationMatch,
    ConnectionStatus,
    DocSummary,
    EntrezDatabase,
    Link,
    LinkName,
    LinkSet,
    MeshPage,
    MeshRecord,
    SearchField,
    SearchPage,
    Spelling,
    Summaries,
)
from bio_mcp.ports.scholarly import Copies, EuropePmcPage, EuropePmcRecord, Metrics, RegisteredWork, Version
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.wiring.embedded import Embedded
from tests.support.sample_graph import add_graph
from tests.support.sample_job import add_job
from tests.support.sample_project import add_project
from tests.support.sample_review import add_review

RECORDS = 24
ROOT = Path(__file__).parents[2]  # whose pages are documents to ingest
BOOK = Article("20301577", title="A chapter", book=Book("GeneReviews", accession="NBK1347"))


class TheseRecords:
    """PubMed, if it held nothing but these: every search finds them all."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = {each.pmid: each for each in articles}

    def esearch(self, term: str, *, retstart: int = 0, **_: object) -> SearchPage:
        ids = tuple(self._articles)
        return SearchPage(len(ids), ids[retstart:], term)

    def efetch(self, pmids: Sequence[str], **_: object) -> Iterator[Article]:
        return (self._articles[pmid] for pmid in pmids if pmid in self._articles)

    def efetch_text(self, pmids: Sequence[str], **_: object) -> str:
        return "\n".join(
            f"PMID- {pmid}\nTI  - {self._articles[pmid].title}" for pmid in pmids if pmid in self._articles
        )

    def esummary(self, pmids: Sequence[str], **_: object) -> Summaries:
        found = tuple(DocSummary(pmid, self._articles[pmid].title) for pmid in pmids if pmid in self._articles)
        return Summaries(found, {pmid: "PubMed has no summary of it" for pmid in pmids if pmid not in self._articles})

    def summaries_of(self, page: SearchPage, many: int, **_: object) -> Summaries:
        return self.esummary(page.ids[:many])

    def elink(self, pmids: Sequence[str], **_: object) -> tuple[LinkSet, ...]:
        links = tuple(Link(pmid, 1_000 - place) for place, pmid in enumerate(self._articles))
        return tuple(
            LinkSet(pmid, (Link(pmid, 1_000), *(each for each in links if each.uid != pmid))) for pmid in pmids
        )

    def einfo(self, **_: object) -> EntrezDatabase:
        tag = SearchField("TIAB", "Title/Abstract", "Words of both", False, False, False, 7)
        links = (LinkName("pubmed_pubmed", "Similar articles", "pubmed"),)
        return EntrezDatabase("pubmed", "PubMed", "These", len(self._articles), "2025/06/25 07:12", (tag,), links)

    def check(self, **_: object) -> None:
        """It answers."""

    def contact(self) -> ConnectionStatus:
        return ConnectionStatus("bio-mcp", "test@example.org", keyed=False, limit=3)

    def espell(self, term: str, **_: object) -> Spelling:
        return Spelling(term, "newborn")


class ThisLookup:
    """NCBI's other services, if they knew nothing but these records."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = {each.pmid: each for each in articles}

    def mesh(self, _term: str, most: int, **_: object) -> MeshPage:
        headings = {each.ui: each for article in self._articles.values() for each in article.mesh}
        return MeshPage(
            len(headings), tuple(MeshRecord(each.ui, (each.name,)) for each in list(headings.values())[:most])
        )

    def ecitmatch(self, citations: Sequence[Citation], **_: object) -> list[CitationMatch]:
        return [CitationMatch(each, next(iter(self._articles))) for each in citations]

    def convert(self, ids: Sequence[str], kind: str, **_: object) -> dict[str, ArticleIds]:
        return {each: ArticleIds(each, "PMC1", "10.1/x") for each in ids if kind == "pmid" and each in self._articles}

    def full_text(self, pmcid: str, **_: object) -> FullText:
        sections = (TextSection("Introduction", 1, "Why. " * 500), TextSection("Results", 1, "What."))
        return FullText(pmcid, None, None, "A paper", "A journal", Licence("CC BY 4.0"), sections, withheld=False)


class TheseMetrics:
    """iCite, if it knew nothing but these: each cites the next one, and the last cites the first."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._pmids = [each.pmid for each in articles]

    def of(self, pmids: Sequence[str], **_: object) -> dict[str, Metrics]:
        following = dict(zip(self._pmids, [*self._pmids[1:], *self._pmids[:1]], strict=True))
        before = {cited: citing for citing, cited in following.items()}
        return {
            each: Metrics(each, year=2020, citation_count=1, references=(following[each],), cited_by=(before[each],))
            for each in pmids
            if each in following
        }


class TheseNotices:
    """Crossref, if it knew nothing but these, and nobody had said anything about them."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = {each.doi: each for each in articles if each.doi}

    def of(self, dois: Sequence[str], **_: object) -> dict[str, RegisteredWork]:
        return {each: RegisteredWork(each, self._articles[each].title) for each in dois if each in self._articles}


class TheseInEuropePmc:
    """Europe PMC, if it knew nothing but these, each as a preprint that became the paper of that PMID."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._records = {each.pmid: self._record(each) for each in articles}

    def search(self, _query: str, most: int, **_: object) -> EuropePmcPage:
        return EuropePmcPage(len(self._records), tuple(self._records.values())[:most])

    def articles(self, ids: Sequence[str], **_: object) -> dict[str, EuropePmcRecord]:
        return {each: self._records[each] for each in ids if each in self._records}

    def full_text(self, text_id: str, **_: object) -> FullText:
        return FullText(None, None, None, f"The preprint {text_id}", "", Licence(), (), withheld=False)

    def _record(self, article: Article) -> EuropePmcRecord:
        became = (Version("MED", article.pmid, "Link created based on a title-first author match"),)
        return EuropePmcRecord("PPR", f"PPR{article.pmid}", article.title, doi=article.doi, articles=became)


class NoCopies:
    """Unpaywall, if it knew no copy."""

    def copies(self, doi: str, **_: object) -> Copies:
        return Copies(doi)


class Corpus(Embedded):
    """The embedded mode over `home`, with `articles` for PubMed."""

    def __init__(self, home: Path, articles: Sequence[Article]) -> None:
        super().__init__(Settings(home=home, ingest_roots=(str(ROOT),)))
        self.articles = articles

    @property
    def entrez(self) -> TheseRecords:
        return TheseRecords([*self.articles, BOOK])

    @property
    def lookup(self) -> ThisLookup:
        return ThisLookup(self.articles)

    @property
    def metrics(self) -> TheseMetrics:
        return TheseMetrics(self.articles)

    @property
    def europe_pmc(self) -> TheseInEuropePmc:
        return TheseInEuropePmc(self.articles)

    @property
    def open_access(self) -> NoCopies:
        return NoCopies()

    @property
    def notices(self) -> TheseNotices:
        return TheseNotices(self.articles)


def articles() -> list[Article]:
    """The first records of the sample."""
    with as_file(files("bio_mcp") / "samples/pubmed.xml.gz") as sample:
        return [each for each in islice(open_records(sample), RECORDS) if isinstance(each, Article)]


@cache
def corpus() -> Corpus:
    """The corpus of this test process, made once and removed at its end."""
    home = Path(tempfile.mkdtemp(prefix="bio-mcp-corpus-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    made = Corpus(home, articles())
    apply_records(made.articles, made)
    add_project(made)
    add_graph(made)
    add_job(made)
    add_review(made)
    return made
