"""The sync that updates the retraction status of every paper: of projects, and that no query finds any more, too."""

from bio_mcp.ports import Backends
from bio_mcp.tenants import of_all_tenants

QUERY_KEY = "bio-mcp/retractions"  # no query of a stack's may have a stroke in its key

# Publication type and the words that PubMed indexes for CommentsCorrections; what `retraction_status` reads.
TERM = (
    '"Retracted Publication"[pt] OR hasretractionin OR haspartialretractionin OR hasretractedandrepublishedin '
    "OR hasexpressionofconcernin"
)


def pmids_of_projects(backends: Backends) -> frozenset[str]:
    """PMIDs of the documents of all projects of every tenant.

    One that was retracted comes into the corpus, from where the hits of its project take their retraction status.
    """
    everything = of_all_tenants(backends)
    by_project = [everything.project_documents.all(each.project_id) for each in everything.projects.all()]
    return frozenset(each.work.pmid for documents in by_project for each in documents if each.work.pmid)
