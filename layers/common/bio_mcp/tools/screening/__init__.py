"""Screen papers for a review: which to look at next, decisions, counts and searches."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.ports import Backends
from bio_mcp.ports.screening import review_of_project, review_of_query
from bio_mcp.screening.collecting import Collected, Origin, collect, search_pubmed
from bio_mcp.screening.labelling import Changes, Decided, label
from bio_mcp.screening.members import collect_project, collect_query
from bio_mcp.screening.prisma import flow
from bio_mcp.screening.reviews import Review, review_of
from bio_mcp.screening.search_log import search_log
from bio_mcp.tool import Context, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import REVIEW
from bio_mcp.tools.screening.papers import decided_paper, prisma_of, ranked_paper, statuses
from bio_mcp.tools.screening.shapes import (
    Counts,
    Labelled,
    LabelPapers,
    OfReview,
    Screen,
    Screened,
    Search,
    StoppingEstimate,
)

if TYPE_CHECKING:
    from bio_mcp.screening.ranking import Ranking

ASSUMES = (
    "that the papers decided last were no less likely to be relevant than those left, as in the order of this ranking"
)
RANKED_BY = {
    "learned": "what was included and excluded so far",
    "similar": "likeness to what was decided or to the criteria; include one paper and exclude one to learn more",
    "unordered": "nothing yet, the newest first: give criteria, or decide some",
}
EMPTY = "The review has no papers at this stage: add some by labelPapers."


@tool(
    "screenPapers",
    family=REVIEW,
    scope="read",
    timeout=25,
    output_listed=False,
    longest=budget.DEFAULT,
    beyond="a systematic review asks which of thousands of papers to look at next, and when to stop",
    also_uses=("projects.get", "jobs.latest"),
)
def screen_papers(request: Screen, backends: Backends) -> Screened:
    """Show which papers of a review (of a project or query key) to decide next, ranked by what was decided so far.

    Also how many may still be missed, papers by decision, or PRISMA counts with the searches. Begin with labelPapers.
    """
    review = review_of(_name(request, backends), backends.screenings)
    show = _report if request.show == "report" else _shown
    fields = {"papers": [], "left_out": 0, "warnings": [], **show(request, review, backends)}
    if not review.eligible(request.stage):
        fields["warnings"] = [EMPTY]
    answer = Screened(
        stage=request.stage, counts=_counts(request, review), stopping=_stopping(request, review), **fields
    )
    left_out = answer.left_out
    listed = "searches" if request.show == "report" else "papers"
    return budget.within(answer, listed, budget.DEFAULT, lambda rest: {"left_out": left_out + len(rest)})


@tool(
    "labelPapers",
    family=REVIEW,
    scope="ingest",
    timeout=25,
    read_only=False,
    destructive=True,
    open_world=True,
    output_listed=False,
    beyond="decisions of a review outlast a conversation, and teach what to look at next",
    also_uses=(
        *("projects.get", "project_documents.all", "documents.resolve", "screenings.remove_labels", "audit.record"),
        *("checkpoints.get", "pubmed.esearch", "pubmed.efetch"),
    ),
)
def label_papers(request: LabelPapers, backends: Backends, context: Context) -> Labelled:
    """Add papers to a review, and include or exclude papers by abstract or full text. Safe to repeat.

    At the full text the reason "not retrieved" counts apart.
    """
    name = _name(request, backends)
    done = [*_added(request, name, backends, context)]
    decisions = [Decided(each.paper, each.decision, each.reason) for each in request.labels or ()]
    review = review_of(name, backends.screenings)
    chosen = [each.record_id for each in decisions if is_pmid(each.record_id) and each.record_id not in review.by_id]
    if chosen:
        by_hand = Origin("chosen by hand", None, len(chosen), "other")
        done.append(collect(name, chosen, by_hand, backends, context.deadline))
        review = review_of(name, backends.screenings)
    changes = label(review, request.stage, decisions, context.subject, backends)
    return _labelled(request, review_of(name, backends.screenings), done, changes)


def _name(request: OfReview, backends: Backends) -> str:
    """The name of the review. Raises `InvalidInput` unless there is one, `NotFound` for an unknown project."""
    if bool(request.project) == bool(request.query_key):
        raise InvalidInput("give either project or query_key")
    if request.query_key:
        return review_of_query(request.query_key)
    backends.projects.get(request.project)
    return review_of_project(request.project)


def _shown(request: Screen, review: Review, backends: Backends) -> dict[str, Any]:
    """The papers, how many more there are, and what they are ranked by."""
    if request.show != "next":
        return _decided(request, review, backends)
    ranking, undecided, warnings = _ranking(request, review, backends)
    status = statuses([each.record.record_id for each in ranking.papers], backends)
    papers = [ranked_paper(each, status) for each in ranking.papers]
    return {
        "papers": papers,
        "left_out": undecided - len(papers),
        "ranked_by": RANKED_BY[ranking.method],
        "warnings": warnings,
    }


def _ranking(request: Screen, review: Review, backends: Backends) -> "tuple[Ranking, int, list[str]]":
    """The first undecided papers of the stage, how many there are in all, and warnings."""
    from bio_mcp.screening.ranking import rank  # these load numpy, which a report does not need
    from bio_mcp.screening.vectors import vectors_of

    at_stage = review.settled(request.stage)
    open_ = {each.record_id for each in review.eligible(request.stage) if each.record_id not in at_stage}
    settled = review.settled("abstract") | at_stage
    vectors, warnings = vectors_of(review.records, backends)
    ranking = rank(
        review.records,
        {name: included for name, included in settled.items() if name not in open_},
        open_,
        last=frozenset(review.of(request.stage, "maybe")),
        most=request.top_k,
        criteria=request.criteria or "",
        vectors=vectors,
    )
    return ranking, len(open_), warnings


def _decided(request: Screen, review: Review, backends: Backends) -> dict[str, Any]:
    """The papers that were decided so, after one that was shown before, and how many more there are."""
    labels = [each for each in review.decisions(request.stage).values() if each.decision == request.show]
    names = [each.record_id for each in labels]
    if request.after and request.after not in names:
        raise InvalidInput(f"after: {request.after!r} is not among the papers with the decision {request.show}")
    start = names.index(request.after) + 1 if request.after else 0
    shown = labels[start : start + request.top_k]
    status = statuses([each.record_id for each in shown], backends)
    papers = [decided_paper(review.by_id[each.record_id], each, status) for each in shown]
    return {"papers": papers, "left_out": len(labels) - start - len(shown)}


def _report(request: Screen, review: Review, backends: Backends) -> dict[str, Any]:
    searches = backends.screenings.searches(review.name)
    logged = search_log(searches, request.query_key, backends)
    return {"prisma": prisma_of(flow(review, searches)), "searches": [Search(**asdict(each)) for each in logged]}


def _counts(request: OfReview, review: Review) -> Counts:
    records = len(review.eligible(request.stage))
    include, exclude, maybe = (len(review.of(request.stage, each)) for each in ("include", "exclude", "maybe"))
    return Counts(records=records, include=include, exclude=exclude, maybe=maybe, undecided=records - include - exclude)


def _stopping(request: OfReview, review: Review) -> StoppingEstimate:
    found = review.stopping(request.stage)
    recall = None if found.recall_at_least is None else round(found.recall_at_least, 3)
    return StoppingEstimate(
        may_stop=found.reached,
        recall_at_least=recall,
        missed_at_most=found.missed_at_most,
        p_value=round(found.p_value, 4),
        assumes=ASSUMES,
    )


def _added(request: LabelPapers, name: str, backends: Backends, context: Context) -> list[Collected]:
    """What was added, one for each of the ways that were asked for."""
    done = []
    if request.pmids:
        given = Origin("chosen by hand", None, len(request.pmids), "other")
        done.append(collect(name, request.pmids, given, backends, context.deadline))
    if request.term:
        done.append(search_pubmed(name, request.term, backends, context.deadline))
    if request.collect and request.project:
        done.append(collect_project(name, request.project, backends, context.deadline))
    if request.collect and request.query_key:
        done.append(collect_query(name, request.query_key, backends, context.deadline))
    return done


def _labelled(request: LabelPapers, review: Review, done: Sequence[Collected], changes: Changes) -> Labelled:
    unknown = dict.fromkeys([*(each for some in done for each in some.unknown), *changes.unknown])
    early = len(changes.not_at_stage)
    warning = f"{early} papers have no decision at the full text: include their abstracts first"
    return Labelled(
        added=sum(each.new for each in done),
        known=sum(each.known for each in done),
        labelled=changes.labelled,
        unchanged=changes.unchanged,
        unknown=list(unknown),
        left=sum(each.left for each in done),
        counts=_counts(request, review),
        warnings=[warning] if early else [],
    )
