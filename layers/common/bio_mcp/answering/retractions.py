"""What the corpus knows of the papers that an answer names: read when it is asked for, never stored with a project."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bio_mcp.literature.notices import status_of
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


def known(works: Sequence[Work], backends: Backends, projects: Sequence[str] = ()) -> list[Known]:
    """What the corpus knows of each work, by its PMID or else its DOI.

    `projects` are those that the works are documents of, in order: one that the corpus does not have then has the
    status that notices about its DOI give it, if any are stored.
    """
    dois = sorted({f"doi:{work.doi}" for work in works if work.doi and not work.pmid})
    by_doi = backends.documents.resolve(dois) if dois else {}
    pmids = [work.pmid or by_doi.get(f"doi:{work.doi}") for work in works]
    stored = sorted({pmid for pmid in pmids if pmid})
    documents = backends.documents.get_many(stored) if stored else {}
    status = {pmid: document.article.retraction for pmid, document in documents.items()}
    papers = [Known(pmid, status.get(pmid or "")) for pmid in pmids]
    if not projects:
        return papers
    rest = [(place, work) for place, work in enumerate(works) if papers[place].retraction is None and work.doi]
    for project in sorted({projects[place] for place, _ in rest}):
        dois = sorted({f"doi:{work.doi}" for place, work in rest if projects[place] == project})
        noted = _noted(project, dois, backends)
        for place, work in rest:
            if projects[place] == project:
                papers[place] = Known(papers[place].pmid, noted.get(f"doi:{work.doi}"))
    return papers


def _noted(project: str, dois: Sequence[str], backends: Backends) -> dict[str, RetractionStatus]:
    """The status by DOI that stored notices give documents of the project."""
    found = [each for each in backends.project_documents.find(project, dois) if each.notices]
    return {name: status_of(each.notices) for each in found for name in each.identifiers if name in dois}


def warnings(papers: Iterable[tuple[Work, Known]]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on."""
    flagged = {paper.pmid or work.doi: (work, paper) for work, paper in papers if paper.retraction in FLAGGED}
    for work, paper in flagged.values():
        named = work.citekey or work.title or work.doc_id
        number = f"PMID {paper.pmid}" if paper.pmid else f"DOI {work.doi}"
        yield f"{named} ({number}) {FLAGGED[RetractionStatus(paper.retraction or '')]}: say so where you cite it."


def flagged(pmids: Collection[str], backends: Backends) -> dict[str, RetractionStatus]:
    """Those of these papers that should not be relied on, as far as the corpus has them, by PMID."""
    documents = backends.documents.get_many(sorted(set(pmids))) if pmids else {}
    status = {pmid: document.article.retraction for pmid, document in documents.items()}
    return {pmid: each for pmid, each in status.items() if each in FLAGGED}


def flag_warnings(papers: Mapping[str, RetractionStatus]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on."""
    for pmid, status in sorted(papers.items()):
        yield f"PMID {pmid} {FLAGGED[status]}: say so where you cite it."
