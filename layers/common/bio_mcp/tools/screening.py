"""Screen papers for a review: which to look at next, decisions, counts and searches."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from bio_mcp.arguments import PaperId
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.clock import instant
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Decision, ReviewRecord, Stage
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.screening.collecting import BY_HAND, Collected, collect, collect_from, import_records, split
from bio_mcp.screening.deduplicating import pmid_of
from bio_mcp.screening.prisma import flow, search_log
from bio_mcp.screening.reviews import (
    Decided,
    Review,
    create_review,
    decide,
    next_records,
    page_of,
    review_name,
    review_of,
)
from bio_mcp.tool import ABSENT, Context, Request, Response, tool, unpublished
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.fields import BY_OTHER_IDS, REVIEW, AnsweredPmid, Pmid, ProjectId, QueryKey, ReviewName, reading_tool

RecordId = Annotated[str, Field(min_length=1, max_length=600, json_schema_extra=unpublished), PaperId(keeps_doi=True)]
Shown = Literal["next", "include", "exclude", "maybe", "report"]


class OfReview(Request):
    """Which review: that of a project, of what a query key follows, or one that was made by name."""

    project: ProjectId = ABSENT
    query_key: QueryKey = ABSENT
    review: ReviewName = ABSENT
    stage: Stage = "abstract"


class Screen(OfReview):
    show: Shown = Field(default="next", description="next to decide, those decided so, or PRISMA counts and searches")
    top_k: int = Field(default=10, ge=1, le=100)
    criteria: str = Field(default=ABSENT, min_length=1, description="inclusion criteria, while few are decided")
    after: RecordId = Field(default=ABSENT, description="with include, exclude, maybe: go on after this paper")


class PaperLabel(Request):
    paper: RecordId = Field(description="PMID, or the id that screenPapers gives")
    decision: Literal["include", "exclude", "maybe", "none"] = Field(description="none takes it back")
    reason: str = Field(default=ABSENT, min_length=1, max_length=500, json_schema_extra=unpublished)


class LabelPapers(OfReview):
    labels: list[PaperLabel] = ABSENT
    pmids: list[Pmid] = Field(default=ABSENT, description="papers to add")
    term: str = Field(default=ABSENT, min_length=1, description="add what PubMed finds")
    query: str = Field(default=ABSENT, min_length=1, description="add what the corpus has")
    collect: bool = Field(
        default=False,
        description="add the project's papers, what the key's term or a review's searches find",
    )
    resolve: bool = Field(default=False, description="labels settle conflicts")


LARGEST = 20_000_000  # characters of an exported file


class EditReview(Request):
    """A review by its name, and what to do: make it or change how it is screened, add a file, whose `database` was
    searched by `term`, take a merge back."""

    review: ReviewName
    screeners: int = Field(default=ABSENT, ge=1, le=9)
    criteria: str = Field(default=ABSENT, description="words that speak for a record")
    records: str = Field(
        default=ABSENT,
        min_length=1,
        max_length=LARGEST,
        json_schema_extra=unpublished,
        description="a file to add: RIS, NBIB, BibTeX, CSV",
    )
    file: str = Field(default="records", min_length=1, max_length=200, json_schema_extra=unpublished)
    database: str = ""
    term: str = ""
    split: str = Field(default=ABSENT, min_length=1, description="id of a merge")


class EditedReview(Response):
    review: str
    created: bool
    screeners: int
    records: int
    added: int
    merged: int
    unreadable: int


class Counts(Response):
    records: int
    include: int
    exclude: int
    maybe: int
    undecided: int


class StoppingEstimate(Response):
    """Whether enough was found; with 95 % confidence where the assumption holds."""

    may_stop: bool = Field(description="at least 95 % of the relevant papers were found")
    recall_at_least: float | None
    missed_at_most: int
    p_value: float
    assumes: str


class ScreenedPaper(Response):
    paper: str
    title: str
    url: str | None = None
    year: int | None = None
    abstract: str | None = None
    score: float | None = None
    why: list[str] = Field(default_factory=list)
    retraction: str | None = None
    decision: str | None = None
    reason: str | None = None
    decided_at: str | None = None


class Reason(Response):
    reason: str
    count: int


class Prisma(Response):
    """The counts of a PRISMA 2020 flow diagram."""

    identified: int
    from_databases: int
    from_other_methods: int
    duplicates_removed: int
    screened: int
    excluded: int
    sought: int
    not_retrieved: int
    assessed: int
    excluded_by_reason: list[Reason]
    included: int
    undecided: int
    not_delivered: int = Field(description="found, and not to be had")
    unassessed: int = Field(description="full texts that are not decided yet")


class Search(Response):
    """A search, as PRISMA-S reports it."""

    at: str
    database: str
    platform: str | None
    term: str | None
    found: int
    new: int | None = Field(description="that no search before had")
    method: str
    note: str | None = None


class Screened(Response):
    stage: Stage
    papers: list[ScreenedPaper]
    counts: Counts
    stopping: StoppingEstimate
    ranked_by: str | None = None
    left_out: int = 0
    prisma: Prisma | None = None
    searches: list[Search] | None = None
    warnings: list[str] = Field(default_factory=list)


class Labelled(Response):
    added: int
    known: int = Field(description="papers to add that were there")
    labelled: int
    unchanged: int
    unknown: list[AnsweredPmid | str] = Field(description="neither in the review nor in PubMed")
    left: int = Field(description="papers not read in time: the same call again goes on")
    counts: Counts
    warnings: list[str] = Field(default_factory=list)


ABSTRACT = 2_500  # characters of one that is to be decided
NOTEWORTHY = {RetractionStatus.RETRACTED, RetractionStatus.CONCERN, RetractionStatus.NOTICE}
Statuses = Mapping[str, RetractionStatus]


def statuses(records: Sequence[ReviewRecord], backends: Backends) -> Statuses:
    """The retraction status of those that are in the corpus, as it is now, by PMID."""
    found = backends.documents.get_many([pmid for each in records if (pmid := pmid_of(each))])
    return {pmid: each.article.retraction for pmid, each in found.items()}


def _paper(record: ReviewRecord, status: Statuses, **more: Any) -> ScreenedPaper:
    """A paper with `more` of it; what is empty is left out."""
    retraction = status.get(pmid_of(record))
    more |= {"year": record.year, "retraction": retraction.value if retraction in NOTEWORTHY else None}
    given = {name: each for name, each in more.items() if each not in (None, "", [])}
    return ScreenedPaper(paper=record.record_id, title=record.title, url=page_of(record), **given)


RANKED_BY = {
    "learned": "what was included and excluded so far",
    "similar": "likeness to what was decided or to the criteria; include one paper and exclude one to learn more",
    "unordered": "nothing yet, the newest first: give criteria, or decide some",
}
EMPTY = "The review has no papers at this stage: add some by labelPapers."


@reading_tool(
    "screenPapers",
    family=REVIEW,
    timeout=25,
    beyond="a systematic review asks which of thousands of papers to look at next, and when to stop",
    also_uses=("projects.get", "jobs.latest", "documents.resolve", "screenings.reviews"),
    next_step=next_steps.after_screening,
)
def screen_papers(request: Screen, backends: Backends, context: Context) -> Screened:
    """Show which papers of a review (of a project or query key) to decide next, ranked by what was decided so far.

    Also how many may still be missed, papers by decision, or PRISMA counts with the searches. Begin with labelPapers.
    """
    review = review_of(_name(request, backends), backends.screenings)
    show = {"next": _next, "report": _report}.get(request.show, _decided)
    caller = context.subject
    fields = {"papers": [], "left_out": 0, "warnings": [], **show(request, review, caller, backends)}
    if not review.eligible_for(request.stage, caller):
        fields["warnings"] = [EMPTY]
    found = review.stopping(request.stage, caller)
    stopping = StoppingEstimate.of(
        found,
        may_stop=found.may_stop,
        recall_at_least=None if found.recall_at_least is None else round(found.recall_at_least, 3),
        p_value=round(found.p_value, 4),
    )
    answer = Screened(stage=request.stage, counts=_counts(request, review, caller), stopping=stopping, **fields)
    return answer_size.within(answer, "searches" if request.show == "report" else "papers")


@tool(
    "labelPapers",
    family=REVIEW,
    scope="ingest",
    timeout=25,
    read_only=False,
    destructive=True,
    open_world=True,
    next_step=next_steps.after_labels,
    beyond="decisions of a review outlast a conversation, and teach what to look at next",
    also_uses=(
        *("projects.get", "project_documents.all", "screenings.remove_labels", "audit.record"),
        *("screenings.reviews", "checkpoints.get", "pubmed.efetch"),
        *BY_OTHER_IDS,
        "pubmed.esummary",
    ),
)
def label_papers(request: LabelPapers, backends: Backends, context: Context) -> Labelled:
    """Add papers to a review; include or exclude them by abstract or full text. Safe to repeat.

    At the full text the reason "not retrieved" counts apart.
    """
    name = _name(request, backends)
    done = _added(request, name, backends, context)
    review = review_of(name, backends.screenings)
    papers = _record_ids([each.paper for each in request.labels or ()], review, backends)
    decisions = [Decided(papers[each.paper], each.decision, each.reason) for each in request.labels or ()]
    chosen = [each.record_id for each in decisions if is_pmid(each.record_id) and each.record_id not in review.by_id]
    if chosen:
        done.append(collect(name, chosen, BY_HAND, backends, context.deadline))
        review = review_of(name, backends.screenings)
    changes = decide(review, request.stage, decisions, context.subject, backends, resolves=request.resolve)
    unknown = dict.fromkeys([*(each for some in done for each in some.unknown), *changes.unknown])
    early = len(changes.not_at_stage)
    warning = f"{early} papers have no decision at the full text: include their abstracts first"
    if request.resolve:
        warning = f"{early} of the papers need no third decision: screeners do not differ about them"
    return Labelled.of(
        changes,
        added=sum(each.new for each in done),
        known=sum(each.known for each in done),
        unknown=list(unknown),
        left=sum(each.left for each in done),
        counts=_counts(request, review_of(name, backends.screenings), context.subject),
        warnings=[*(said for each in done for said in each.warnings), *([warning] if early else [])],
    )


def _record_ids(papers: Sequence[str], review: Review, backends: Backends) -> dict[str, str]:
    """The id in the review, by what each was called, also by the DOI of a paper of the corpus."""
    others = [each for each in papers if each.startswith("doi:") and each not in review.ids]
    known = backends.documents.resolve(others) if others else {}
    named = {each: known.get(each, each) for each in papers}
    return {each: review.ids.get(name, name) for each, name in named.items()}


def _name(request: OfReview, backends: Backends) -> str:
    """The name of the review. Raises what `review_name` does, and `InvalidInput` where none is given."""
    collects = isinstance(request, LabelPapers) and request.collect
    if name := review_name(request.project, request.query_key, request.review, backends, collects=collects):
        return name
    raise InvalidInput("give either project, query_key or review")


def _next(request: Screen, review: Review, caller: str | None, backends: Backends) -> dict[str, Any]:
    """The papers to decide next, how many more there are, and what they are ranked by."""
    found = next_records(review, request.stage, caller, backends, most=request.top_k, criteria=request.criteria or "")
    status = statuses([each.record for each in found.papers], backends)
    papers = [
        _paper(each.record, status, score=each.score, why=list(each.why), abstract=cut(each.record.abstract, ABSTRACT))
        for each in found.papers
    ]
    ranked_by = RANKED_BY[found.method]
    return {"papers": papers, "left_out": found.left_out, "ranked_by": ranked_by, "warnings": list(found.warnings)}


def _decided(request: Screen, review: Review, caller: str | None, backends: Backends) -> dict[str, Any]:
    """The papers that were decided so, after one that was shown before, and how many more there are."""
    labels = [each for each in review.decisions(request.stage, caller).values() if each.decision == request.show]
    names = [each.record_id for each in labels]
    after = _record_ids([request.after], review, backends)[request.after] if request.after else None
    if after and after not in names:
        raise InvalidInput(f"{request.after!r} is not among the papers with the decision {request.show}", field="after")
    start = names.index(after) + 1 if after else 0
    shown = labels[start : start + request.top_k]
    status = statuses([review.by_id[each.record_id] for each in shown], backends)
    papers = [
        _paper(review.by_id[of.record_id], status, decision=of.decision, reason=of.reason, decided_at=instant(of.at))
        for of in shown
    ]
    return {"papers": papers, "left_out": len(labels) - start - len(shown)}


def _report(request: Screen, review: Review, _caller: str | None, backends: Backends) -> dict[str, Any]:
    searches = backends.screenings.searches(review.name)
    logged = search_log(searches, request.query_key, backends)
    found = flow(review, searches)
    prisma = Prisma.of(
        found,
        identified=found.identified,
        from_databases=found.identified_by("database"),
        from_other_methods=found.identified_by("other"),
        excluded_by_reason=[Reason(reason=reason, count=count) for reason, count in found.excluded_by_reason],
    )
    return {"prisma": prisma, "searches": [Search.of(each) for each in logged]}


def _counts(request: OfReview, review: Review, caller: str | None) -> Counts:
    """Of one of several screeners, their own."""
    names = set(review.eligible_for(request.stage, caller))
    decided = review.decisions(request.stage, caller).items()
    made = Counter(label.decision for name, label in decided if name in names)
    undecided = len(names) - made["include"] - made["exclude"]
    return Counts(records=len(names), undecided=undecided, **{each: made[each] for each in get_args(Decision)})


def _added(request: LabelPapers, name: str, backends: Backends, context: Context) -> list[Collected]:
    ways = {"term": request.term, "question": request.query}
    if request.collect:
        ways |= {"topic": request.query_key, "project": request.project}
    given = {way: [what] for way, what in ways.items() if what}
    pmids = request.pmids or ()
    done = collect_from(name, given, pmids, backends, context.deadline) if given or pmids else []
    if request.collect and not (request.project or request.query_key):
        done += collect_from(name, {}, (), backends, context.deadline)
    return done


@tool(
    "editReview",
    family=REVIEW,
    scope="ingest",
    timeout=25,
    read_only=False,
    destructive=True,
    beyond="a review is made, and gets the exports of other databases, before anybody screens it",
    also_uses=("screenings.reviews", "screenings.remove_merge", "audit.record"),
)
def edit_review(request: EditReview, backends: Backends) -> EditedReview:
    """Make a review or change how it is screened, add an exported file, take a merge back. Safe to repeat."""
    name = request.review.strip()
    before = review_of(name, backends.screenings)
    created = not (before.plan or before.records)
    if created or {"screeners", "criteria"} & request.model_fields_set:
        create_review(name, backends, request.screeners, request.criteria)
    done = Collected()
    if request.records:
        content = request.records.encode()
        done = import_records(name, content, backends, file=request.file, database=request.database, term=request.term)
    if request.split:
        split(review_of(name, backends.screenings), request.split, backends)
    after = review_of(name, backends.screenings)
    return EditedReview(
        review=name,
        created=created,
        screeners=after.screeners,
        records=len(after.records),
        added=done.new,
        merged=len(done.merged),
        unreadable=done.unreadable,
    )
