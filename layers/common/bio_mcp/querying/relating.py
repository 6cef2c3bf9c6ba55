"""Articles that PubMed relates to an article: similar, citing and cited ones."""

from dataclasses import dataclass
from typing import Literal

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiQueryRejected, NotFound, UpstreamFailed
from bio_mcp.ports.pubmed import SIMILAR, DocSummary, Link, Pubmed, Summaries
from bio_mcp.querying.partial import missing_summaries, optional, required

ScoreKind = Literal["relative", "order", "none"]
SCORING_S = 8.0  # of a call's time, at most, for scores: NCBI fails at them for the best-known papers
_NONE_KNOWN = {
    "pubmed_pubmed_refs": "PubMed knows the references of a part of its records only, so none here does not mean none",
    "pubmed_pubmed_citedin": "PubMed counts citations by articles in PubMed Central only; others may cite it",
    "pubmed_pubmed": "PubMed has not yet worked out similar articles for this record, or it has no abstract",
}


@dataclass(frozen=True, slots=True)
class Related:
    """Related articles.

    `links` are in NCBI's order, the first of `total`. `scores` maps a PMID to a similarity in [0, 1], where known.
    `score_kind` relative: scores are shares of the source's own; order: only the order counts; none: unordered.
    `command` is the ELink command that succeeded.
    """

    links: tuple[str, ...]
    total: int
    scores: dict[str, float]
    score_kind: ScoreKind
    command: str
    summaries: dict[str, DocSummary]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


def related(pmid: str, link_name: str, most: int, pubmed: Pubmed, deadline: Deadline) -> Related:
    """Find at most `most` related articles, the source excluded, with a summary of each and of the source.

    Raises `NotFound` for a PMID that PubMed does not have. Links that cannot be read fail the call; titles that cannot
    be read are a reason.
    """
    warnings: list[str] = []
    with required():
        links = _links(pmid, link_name, pubmed, deadline, warnings)
    others = [link for link in links if link.uid != pmid]
    shown = tuple(link.uid for link in others[:most])
    reasons: list[str] = []
    known = optional(
        lambda: pubmed.esummary([pmid, *shown], deadline=deadline),
        Summaries((), {}),
        "the PMIDs are right, their titles and authors are missing",
        reasons,
    )
    if pmid in known.missing and not others:
        raise NotFound(f"PubMed has no record {pmid}; look for it with searchPubMedArticles", pmid=pmid)
    reasons += missing_summaries(known.missing)
    if not others:
        warnings.append(_NONE_KNOWN[link_name])
    scores = _scores(pmid, links)
    kind: ScoreKind = "relative" if scores else "order" if link_name == SIMILAR else "none"
    summaries = {summary.pmid: summary for summary in known.found}
    return Related(
        shown,
        len(others),
        scores,
        kind,
        "neighbor_score" if scores else "neighbor",
        summaries,
        tuple(reasons),
        tuple(warnings),
    )


def _links(pmid: str, link_name: str, pubmed: Pubmed, deadline: Deadline, warnings: list[str]) -> tuple[Link, ...]:
    """ELink's answer. Similar articles come with scores if NCBI gives them within `SCORING_S`, else in its order."""
    if link_name == SIMILAR:
        try:
            share = deadline.share(min(SCORING_S, deadline.remaining / 3))
            [linked] = pubmed.elink([pmid], link_name=link_name, command="neighbor_score", deadline=share)
        except NcbiQueryRejected:
            raise
        except (UpstreamFailed, DeadlineExceeded):
            warnings.append("NCBI gave no scores this time; the articles are in its order, most similar first")
        else:
            return tuple(sorted(linked.links, key=lambda link: -(link.score or 0)))
    [linked] = pubmed.elink([pmid], link_name=link_name, command="neighbor", deadline=deadline)
    return linked.links


def _scores(pmid: str, links: tuple[Link, ...]) -> dict[str, float]:
    """Each raw score divided by the source's own, its similarity to itself; empty without that one."""
    own = next((link.score for link in links if link.uid == pmid), None)
    if not own:
        return {}
    return {link.uid: round(min(1.0, link.score / own), 4) for link in links if link.score is not None}
