"""The page of a paper: its record, what became of it, how to cite it, and its stored versions."""

from collections.abc import Iterator, Sequence

from bio_mcp.doors.console.pages import CONSOLE, Page
from bio_mcp.errors import NotFound
from bio_mcp.literature.addresses import pubmed_page
from bio_mcp.literature.citing import cite
from bio_mcp.literature.differences import Difference, differences
from bio_mcp.literature.records import Article, Document
from bio_mcp.ports import Backends
from bio_mcp.tool import Response, resource
from bio_mcp.tools.get_doc import Paper, links_of, paper_of, stored_document

OLD_VERSIONS = 5  # that the corpus stores of a paper
NAMES = {
    "vancouver": "Vancouver",
    "apa_string": "APA",
    "mla_string": "MLA",
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl_json": "CSL-JSON",
}


class PieceShown(Response):
    """A part of a text: `same`, `removed` or `added`."""

    kind: str
    text: str


class DifferenceShown(Response):
    """A field that a version changed."""

    field: str
    pieces: list[PieceShown]


class VersionShown(Response):
    """A stored version, and what it changed of the stored one before it; None: none before it is stored."""

    version: int
    revised: str | None
    changes: list[DifferenceShown] | None


class CitationShown(Response):
    """A citation in one style."""

    style: str
    text: str


class SectionShown(Response):
    """A section of the abstract; `label` is as printed."""

    label: str | None
    text: str


class NoticeShown(Response):
    """A record that corrects, retracts or comments on the paper, or on which it does. `kind` is MEDLINE's, in words.

    `address`: of its page here, or in PubMed where the corpus does not have it.
    """

    kind: str
    citation: str | None
    pmid: str | None
    address: str | None


class PaperPage(Response):
    """All that the page shows. Versions: the newest first."""

    paper: Paper
    links: list[str]
    abstract: list[SectionShown]
    headings: list[str]
    notices: list[NoticeShown]
    citations: list[CitationShown]
    versions: list[VersionShown]


@resource("console://papers/{pmid}", name="paper page", family=CONSOLE, scope="read", timeout=8)
def paper_page(backends: Backends, pmid: str) -> PaperPage:
    """A paper of the corpus with its history."""
    document = stored_document(pmid, backends)
    article = document.article
    return PaperPage(
        paper=paper_of(document, backends),
        links=links_of(article),
        abstract=[SectionShown(label=each.label, text=each.text) for each in article.abstract],
        headings=[each.name for each in article.mesh],
        notices=list(_notices(article, backends)),
        citations=[CitationShown(style=name, text=cite(article, style)) for style, name in NAMES.items()],
        versions=_history(list(_stored(document, backends))),
    )


def _notices(article: Article, backends: Backends) -> Iterator[NoticeShown]:
    here = backends.documents.get_many([each.pmid for each in article.corrections if each.pmid])
    for each in article.corrections:
        elsewhere = pubmed_page(each.pmid) if each.pmid else None
        address = f"/papers/{each.pmid}" if each.pmid in here else elsewhere
        yield NoticeShown(kind=each.relation, citation=each.citation, pmid=each.pmid, address=address)


def _stored(newest: Document, backends: Backends) -> Iterator[Document]:
    """The versions that the corpus has, the oldest first."""
    for version in range(max(1, newest.version - OLD_VERSIONS), newest.version):
        try:
            yield backends.documents.at_version(newest.article.pmid, version)
        except NotFound:
            continue
    yield newest


def _history(stored: Sequence[Document]) -> list[VersionShown]:
    earlier = [None, *stored[:-1]]
    return [_version(each, before) for each, before in reversed(list(zip(stored, earlier, strict=True)))]


def _version(document: Document, before: Document | None) -> VersionShown:
    revised = document.article.date_revised
    changed = None if before is None else differences(before.article, document.article)
    return VersionShown(
        version=document.version,
        revised=revised.isoformat() if revised else None,
        changes=None if changed is None else [_shown(each) for each in changed],
    )


def _shown(difference: Difference) -> DifferenceShown:
    pieces = [PieceShown(kind=each.kind, text=each.text) for each in difference.pieces]
    return DifferenceShown(field=difference.field, pieces=pieces)


PAGE = Page("/papers/{pmid}", "paper.html", paper_page)
