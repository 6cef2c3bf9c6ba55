"""The papers that a project or a query key has, for its review."""

from collections.abc import Sequence
from hashlib import sha256

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.ports import Backends
from bio_mcp.ports.screening import ReviewRecord
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.screening.collecting import Collected, Origin, check_room, collect, search_pubmed, store_search


def collect_query(review: str, query_key: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add what PubMed finds by the term that the query key was synced by last. Raises `InvalidInput` without one."""
    term = backends.checkpoints.get(query_key).term
    if term is None:
        raise InvalidInput(f"query_key {query_key!r} was never synced: sync it, or give a term")
    return search_pubmed(review, term, backends, deadline)


def collect_project(review: str, project_id: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add the documents of the project; one that is not in PubMed has its title alone."""
    works = [each.work for each in backends.project_documents.all(project_id)]
    pmids = _pmids(works, backends)
    origin = Origin("documents of the project", None, len(works), "other")
    done = collect(review, list(pmids.values()), origin, backends, deadline)
    known = {each.record_id for each in backends.screenings.records(review)}
    others = {name: each for each in works if each.doc_id not in pmids and (name := _name(each)) not in known}
    check_room(len(known), len(others))
    if others:
        backends.screenings.put_records(review, [_record(name, each) for name, each in others.items()])
        store_search(review, origin, others, backends)
    done.new += len(others)
    return done


def _pmids(works: Sequence[Work], backends: Backends) -> dict[str, str]:
    """The PMIDs of those works that have one, or whose DOI is a paper's in the corpus, by document."""
    by_doi = backends.documents.resolve([f"doi:{each.doi}" for each in works if each.doi and not each.pmid])
    found = {each.doc_id: each.pmid or by_doi.get(f"doi:{each.doi}") for each in works}
    return {doc_id: pmid for doc_id, pmid in found.items() if pmid}


def _name(work: Work) -> str:
    return f"doi:{work.doi}" if work.doi else f"document:{sha256(work.doc_id.encode()).hexdigest()[:24]}"


def _record(name: str, work: Work) -> ReviewRecord:
    return ReviewRecord(name, work.title or work.source or work.doc_id, "", work.year, work.doi)
