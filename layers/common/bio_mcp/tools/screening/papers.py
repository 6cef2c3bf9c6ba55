"""A paper of a review, and the counts of one, as clients see them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bio_mcp.literature.addresses import doi_page, pubmed_page
from bio_mcp.literature.clock import instant
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.screening import ReviewRecord, ScreeningLabel
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.screening.prisma import PrismaFlow
from bio_mcp.tools.screening.shapes import Prisma, Reason, ScreenedPaper

if TYPE_CHECKING:
    from bio_mcp.screening.ranking import Ranked

ABSTRACT = 2_500  # characters of one that is to be decided
NOTEWORTHY = {RetractionStatus.RETRACTED, RetractionStatus.CONCERN, RetractionStatus.NOTICE}
Statuses = Mapping[str, RetractionStatus]


def statuses(record_ids: Sequence[str], backends: Backends) -> Statuses:
    """The retraction status of those that are in the corpus, as it is now."""
    found = backends.documents.get_many([each for each in record_ids if is_pmid(each)])
    return {pmid: each.article.retraction for pmid, each in found.items()}


def ranked_paper(ranked: "Ranked", status: Statuses) -> ScreenedPaper:
    """A paper to be decided."""
    more = {"score": ranked.score, "why": list(ranked.why), "abstract": cut(ranked.record.abstract, ABSTRACT)}
    return _paper(ranked.record, status, more)


def decided_paper(record: ReviewRecord, label: ScreeningLabel, status: Statuses) -> ScreenedPaper:
    """A paper that was decided."""
    more = {"decision": label.decision, "reason": label.reason, "decided_at": instant(label.at)}
    return _paper(record, status, more)


def _paper(record: ReviewRecord, status: Statuses, more: Mapping[str, Any]) -> ScreenedPaper:
    retraction = status.get(record.record_id)
    found = {
        "url": _url(record),
        "year": record.year,
        "retraction": retraction.value if retraction in NOTEWORTHY else None,
        **more,
    }
    given = {name: each for name, each in found.items() if each not in (None, "", [])}
    return ScreenedPaper(paper=record.record_id, title=record.title, **given)


def _url(record: ReviewRecord) -> str | None:
    if is_pmid(record.record_id):
        return pubmed_page(record.record_id)
    return doi_page(record.doi) if record.doi else None


def prisma_of(flow: PrismaFlow) -> Prisma:
    """The counts."""
    reasons = [Reason(reason=reason, count=count) for reason, count in flow.excluded_by_reason]
    return Prisma(**flow.counts, excluded_by_reason=reasons)
