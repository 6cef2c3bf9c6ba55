"""What the corpus knows of the papers that an answer names: read when it is asked for, never stored with a project."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.project_chunks import Work

FLAGGED = {
    RetractionStatus.RETRACTED: "was retracted",
    RetractionStatus.NOTICE: "is a notice of retraction",
    RetractionStatus.CONCERN: "has an expression of concern",
}


class Known(NamedTuple):
    """The PMID of a work and its retraction status; None for a work that the corpus does not have."""

    pmid: str | None
    retraction: RetractionStatus | None


def known(works: Sequence[Work], backends: Backends) -> list[Known]:
    """What the corpus knows of each work, by its PMID or else its DOI."""
    dois = sorted({f"doi:{work.doi}" for work in works if work.doi and not work.pmid})
    by_doi = backends.documents.resolve(dois) if dois else {}
    pmids = [work.pmid or by_doi.get(f"doi:{work.doi}") for work in works]
    stored = sorted({pmid for pmid in pmids if pmid})
    documents = backends.documents.get_many(stored) if stored else {}
    status = {pmid: document.article.retraction for pmid, document in documents.items()}
    return [Known(pmid, status.get(pmid or "")) for pmid in pmids]


def warnings(papers: Iterable[tuple[Work, Known]]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on."""
    flagged = {paper.pmid: (work, paper) for work, paper in papers if paper.retraction in FLAGGED}
    for pmid, (work, paper) in flagged.items():
        named = work.citekey or work.title or work.doc_id
        yield f"{named} (PMID {pmid}) {FLAGGED[RetractionStatus(paper.retraction or '')]}: say so where you cite it."


def flagged(pmids: Collection[str], backends: Backends) -> dict[str, RetractionStatus]:
    """Those of these papers that should not be relied on, as far as the corpus has them, by PMID."""
    documents = backends.documents.get_many(sorted(set(pmids))) if pmids else {}
    status = {pmid: document.article.retraction for pmid, document in documents.items()}
    return {pmid: each for pmid, each in status.items() if each in FLAGGED}


def flag_warnings(papers: Mapping[str, RetractionStatus]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on."""
    for pmid, status in sorted(papers.items()):
        yield f"PMID {pmid} {FLAGGED[status]}: say so where you cite it."
