"""The pages Reviews: a systematic review from its searches to its flow diagram, which several people screen apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.tokens import caller_of
from bio_mcp.doors.console.console import CONSOLE, Answer, Console, Form, Shown, form_error, see_other
from bio_mcp.doors.console.rendering import PRIVATE
from bio_mcp.doors.console.search import selected
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.files import decoded
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import ReviewRecord, Stage
from bio_mcp.screening.collecting import listed, possible_duplicates, repeatable
from bio_mcp.screening.deduplicating import pmid_of
from bio_mcp.screening.prisma import NOT_RETRIEVED, flow, prisma_svg, search_log
from bio_mcp.screening.reviews import (
    STAGES,
    Review,
    citation,
    decision,
    find_review,
    next_records,
    review_of,
    screener_name,
)
from bio_mcp.tool import Context, Resource, Tool, resource
from bio_mcp.tools.exports import export_papers
from bio_mcp.tools.screening import LARGEST, edit_review, label_papers, statuses

PATH = "/reviews"
SHOWN = 50  # records of a page
LARGE, RANKED = 500, 10  # records, beyond which so many are ranked at once: a ranking of 5,000 takes a second
MOST_SHOWN = 200  # merges, pairs that look alike and conflicts of a page
MOST_REASONS = 20  # that are offered
LONGEST_NAME = 64  # characters of a screener's
LONGEST_COUNT = 9  # digits
STATES = {
    "include": "Included",
    "exclude": "Excluded",
    "undecided": "Not decided",
    "awaiting": "Awaits another screener",
    "maybe": "Maybe",
    "conflict": "Conflict",
}
FORMATS = {"ris": "RIS", "csv": "CSV", "asreview": "ASReview (CSV)"}
"""What an export is called; ASReview reads the same table as spreadsheets do."""


def _title(name: str) -> str:
    """What a page calls the review: those of projects and topics are named after these."""
    kind, _, of = name.partition(":")
    return {"project": f"Project {of}", "query": f"Topic {of}"}.get(kind, name) if of else name


def _head(review: Review, screener: str | None) -> dict[str, Any]:
    """What every page of a review shows of it."""
    return {
        **review.summary(),
        "title": _title(review.name),
        "people": sorted({each.caller for each in review.labels if each.caller}),
        "screener": screener_name(screener),
    }


def _record(record: ReviewRecord) -> dict[str, Any]:
    return {**citation(record), "abstract": record.abstract}


def _stage(name: str) -> Stage:
    if name not in tuple(STAGES):
        raise InvalidInput("a stage is abstract or full_text", field="stage")
    return name


def _number(text: str, otherwise: int) -> int:
    """The number that an address or a form says; `otherwise` where it is none, or too long to be one."""
    return int(text) if text.isdecimal() and len(text) < LONGEST_COUNT else otherwise


@resource("console://reviews", name="reviews page", family=CONSOLE, scope="read", timeout=20)
def reviews_page(backends: Backends, context: Context) -> Shown:
    """The reviews, by name, and how far each is."""
    shown = []
    for name in sorted(backends.screenings.reviews()):
        context.deadline.check("reading the reviews")
        shown.append(_head(review_of(name, backends.screenings), context.subject))
    return Shown(reviews=shown)


@resource("console://reviews/names", name="names of reviews", family=CONSOLE, scope="read", timeout=5)
def review_names(backends: Backends) -> Shown:
    """The names of the reviews."""
    return Shown(names=[{"name": each, "title": _title(each)} for each in sorted(backends.screenings.reviews())])


@resource("console://reviews/{name}", name="review page", family=CONSOLE, scope="read", timeout=20)
def review_page(backends: Backends, context: Context, name: str) -> Shown:
    """How far a review is, its searches, and what it can be collected from."""
    review = find_review(name, backends)
    searches = backends.screenings.searches(name)
    return Shown(
        review=_head(review, context.subject),
        stages=[review.status(each) for each in STAGES],
        searches=[asdict(each) for each in search_log(searches, None, backends)],
        merged=len(review.merges),
        repeatable=any(repeatable(name, each) for each in searches),
        topics=sorted({each.query_key for each in backends.checkpoints.all()}),
        projects=[each.project_id for each in backends.projects.all()],
    )


@resource("console://reviews/{name}/screen", name="screening page", family=CONSOLE, scope="read", timeout=25)
def screening_page(
    backends: Backends, context: Context, name: str, stage: str = "abstract", paper: str = "", then: str = ""
) -> Shown:
    """The paper that the caller may decide next, or the one that is asked for, and how many remain.

    Of a large review several are ranked at once: `then` has the ids of those that come next, with blanks between them.
    """
    review, of, screener = find_review(name, backends), _stage(stage), context.subject
    eligible, left = review.eligible_for(of, screener), set(review.left_for(of, screener))
    queue = [each for each in then.split() if each in left]
    asked, ranked = review.by_id[paper] if paper in eligible else None, None
    if asked is None and left:
        ranked = next_records(review, of, screener, backends, most=RANKED if len(left) > LARGE else 1)
        asked, *others = (each.record for each in ranked.papers)
        queue = [each.record_id for each in others]
    return Shown(
        review=_head(review, screener),
        stage=of,
        paper=_shown_paper(asked, review, of, screener, backends) if asked else None,
        then=" ".join(queue),
        why=ranked.papers[0].why if ranked else (),
        newest=bool(ranked and ranked.method == "unordered"),
        left=len(left),
        records=len(eligible),
        **_decided_so_far(review, of, screener),
        stopping=review.stopping(of, screener).as_json(),
        warnings=ranked.warnings if ranked else (),
    )


def _shown_paper(
    record: ReviewRecord, review: Review, stage: Stage, screener: str | None, backends: Backends
) -> dict[str, Any]:
    """A paper with its retraction status and what the screener decided about it; `here`: it has a page."""
    status = statuses([record], backends)
    own = review.decisions(stage, screener).get(record.record_id)
    return {
        **_record(record),
        "retraction": status.get(pmid_of(record)),
        "here": bool(status),
        "decision": decision(own) if own else None,
    }


def _decided_so_far(review: Review, stage: Stage, screener: str | None) -> dict[str, Any]:
    """The screener's last decision, which can be taken back, and the reasons that they gave, the newest first."""
    own = [each for each in review.decisions(stage, screener).values() if not each.resolves]
    reasons = [each.reason for each in reversed(own) if each.reason] + [NOT_RETRIEVED] * (stage == "full_text")
    last = {**decision(own[-1]), **_record(review.by_id[own[-1].record_id])} if own else None
    return {"last": last, "reasons": list(dict.fromkeys(reasons))[:MOST_REASONS]}


@resource("console://reviews/{name}/conflicts", name="conflicts page", family=CONSOLE, scope="read", timeout=20)
def conflicts_page(backends: Backends, context: Context, name: str) -> Shown:
    """What screeners differ about once all have decided, how far they agree, and what was settled."""
    review = find_review(name, backends)

    def rows(stage: Stage, names: list[str]) -> list[dict[str, Any]]:
        return [
            {**review.shown(each, stage, context.subject), "abstract": review.by_id[each].abstract}
            for each in names[:MOST_SHOWN]
        ]

    stages = [
        {
            **review.status(stage),
            "open": rows(stage, review.conflicts(stage)),
            "settled": rows(stage, [name for name, each in review.outcomes[stage].items() if each.resolved]),
        }
        for stage in STAGES
    ]
    return Shown(review=_head(review, context.subject), stages=stages)


@resource("console://reviews/{name}/prisma", name="PRISMA page", family=CONSOLE, scope="read", timeout=20)
def prisma_page(backends: Backends, context: Context, name: str) -> Shown:
    """The flow diagram of PRISMA 2020, as a picture and in numbers."""
    review = find_review(name, backends)
    counted = flow(review, backends.screenings.searches(name))
    return Shown(
        review=_head(review, context.subject),
        flow={**asdict(counted), "identified": counted.identified},
        picture=prisma_svg(counted, _title(name), backends.today()),
    )


@resource("console://reviews/{name}/duplicates", name="duplicates page", family=CONSOLE, scope="read", timeout=20)
def duplicates_page(backends: Backends, context: Context, name: str) -> Shown:
    """What was taken for one record, and why; what looks alike and is apart, and why."""
    review = find_review(name, backends)
    searches = {each.search_id: each.database for each in backends.screenings.searches(name)}
    merged = [
        {
            "id": each.merge_id,
            "entry": citation(each.entry),
            "into": citation(review.by_id[each.into]),
            "found": searches.get(each.search_id),
            "why": each.why,
        }
        for each in review.merges
        if each.into in review.by_id
    ]
    apart = [
        {"one": citation(one), "other": citation(other), "why": why} for one, other, why in possible_duplicates(review)
    ]
    return Shown(
        review=_head(review, context.subject),
        merged=merged[:MOST_SHOWN],
        apart=apart[:MOST_SHOWN],
        left_out=max(0, len(merged) - MOST_SHOWN) + max(0, len(apart) - MOST_SHOWN),
    )


@resource("console://reviews/{name}/records", name="records page", family=CONSOLE, scope="read", timeout=20)
def records_page(
    backends: Backends,
    context: Context,
    name: str,
    stage: str = "abstract",
    state: str = "",
    since: str = "",
    page: str = "1",
) -> Shown:
    """The records at a stage with what the caller may see of their decisions; those that are so, or new since a day."""
    review, of, screener = find_review(name, backends), _stage(stage), context.subject
    try:
        day = date.fromisoformat(since) if since else None
    except ValueError:
        raise InvalidInput("give the day as YYYY-MM-DD", field="since") from None
    names = listed(review, of, screener, backends, state, day)
    number = max(1, _number(page, 1))
    first = SHOWN * (number - 1)
    return Shown(
        review=_head(review, screener),
        stage=of,
        state=state,
        since=since,
        records=[review.shown(each, of, screener) for each in names[first : first + SHOWN]],
        first=first + 1,
        count=len(names),
        following=number + 1 if first + SHOWN < len(names) else None,
    )


VIEWS: Mapping[str, tuple[Resource, str, tuple[str, ...]]] = {
    "screen": (screening_page, "review_screen.html", ("stage", "paper", "then")),
    "conflicts": (conflicts_page, "review_conflicts.html", ()),
    "prisma": (prisma_page, "review_prisma.html", ()),
    "records": (records_page, "review_records.html", ("stage", "state", "since", "page")),
    "duplicates": (duplicates_page, "review_duplicates.html", ()),
    "": (review_page, "review.html", ()),
}
"""The pages of a review by what their addresses end in: what is read, the template, and what the query may say."""
CHANGES = ("added", "merged", "unreadable", "unknown", "left")
"""Numbers that the page says after records came in."""


def routes(console: Console) -> list[tuple[str, str, Answer]]:
    """The pages of reviews, and the forms on them."""
    one = f"{PATH}/{{name:path}}"
    forms: Mapping[str, Callable[..., Any]] = {
        "import": _import,
        "collect": _collect,
        "decide": _decide,
        "split": _split,
        "export": _export,
    }
    return [
        (PATH, "GET", partial(_reviews, console)),
        (PATH, "POST", partial(_edit, console)),
        (f"{PATH}/add", "POST", partial(_add, console)),
        *((f"{one}/{page}", "POST", partial(answer, console)) for page, answer in forms.items()),
        (f"{one}/prisma.svg", "GET", partial(_picture, console)),
        (f"{one}/export", "GET", partial(_export, console)),
        *((f"{one}/{page}" if page else one, "GET", partial(_view, console, page)) for page in VIEWS),
    ]


def _screener(given: QueryParams | Form) -> str:
    """Whom the field "Screening as" names."""
    name = given.get("as", "")
    return name.strip()[:LONGEST_NAME] if name.isprintable() else ""


def _caller(request: Request, screener: str) -> Caller | None:
    """Who decides: whoever is signed in. On a laptop, where nobody signs in, that is who the page says it is."""
    return caller_of(request) or (Caller(screener) if screener else None)


def _address(name: str, screener: str, page: str = "", /, **more: Any) -> str:
    """The address of a page of a review, which keeps who is screening."""
    path = f"{PATH}/{quote(name)}/{page}".rstrip("/")
    query = urlencode({key: value for key, value in {**more, "as": screener}.items() if value not in ("", None)})
    return f"{path}?{query}" if query else path


async def _reviews(console: Console, request: Request, error: Mapping[str, Any] | None = None) -> Response:
    """The list of reviews."""
    outcome = await console.ask(reviews_page, {}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return console.page(request, "reviews.html", data=outcome.body, error=error)


async def _view(console: Console, page: str, request: Request) -> Response:
    """A page of a review."""
    query = request.query_params
    changes = {each: _number(query.get(each, ""), 0) for each in CHANGES} if "added" in query else {}
    return await _shown(console, request, request.path_params["name"], page, _screener(query), changes=changes)


async def _shown(
    console: Console,
    request: Request,
    name: str,
    page: str,
    screener: str,
    *,
    error: Mapping[str, Any] | None = None,
    changes: Mapping[str, int] | None = None,
    warnings: Sequence[str] = (),
) -> Response:
    """A page of a review, with what became of a form: the error, or how many records came in, and warnings."""
    query = request.query_params
    reads, template, takes = VIEWS[page]
    given = {"name": name, **{each: query[each] for each in takes if query.get(each)}}
    outcome = await console.ask(reads, given, request, caller=_caller(request, screener))
    if outcome.failed:
        return console.failure(request, outcome)
    return console.page(
        request,
        template,
        data=outcome.body,
        error=error,
        warnings=warnings,
        page=page,
        at=partial(_address, name, screener),
        screener=screener,
        asks_who=caller_of(request) is None,
        changes=changes,
        largest_mb=_largest(console) // 1_000_000,
        stages=STAGES,
        states=STATES,
        formats=FORMATS,
    )


async def _picture(console: Console, request: Request) -> Response:
    """The flow diagram as a file."""
    outcome = await console.ask(prisma_page, {"name": request.path_params["name"]}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return Response(outcome.body["picture"], headers=dict(PRIVATE), media_type="image/svg+xml")


async def _edit(console: Console, request: Request) -> Response:
    """Make a review, or change how one is screened."""
    form = await console.form(request)
    name = form.text("name")
    if not form.text("known"):
        outcome = await console.ask(review_names, {}, request)
        if any(each["name"] == name for each in outcome.body.get("names", ())):
            return await _reviews(console, request, form_error(f"There is a review of the name {name} already."))
    given = {"review": name, "criteria": form.text("criteria"), "screeners": _number(form.text("screeners"), 2)}
    outcome = await console.ask(edit_review, given, request)
    if outcome.failed:
        return await _reviews(console, request, outcome.body["error"])
    return see_other(_address(outcome.body["review"], _screener(form)))


async def _bring_in(
    console: Console, request: Request, name: str, screener: str, what: Tool, given: Mapping[str, Any]
) -> Response:
    """Let records come in, and lead to the review's page, which says how many did, or what went wrong."""
    outcome = await console.ask(what, {"review": name, **given}, request, caller=_caller(request, screener))
    if outcome.failed:
        return await _shown(console, request, name, "", screener, error=outcome.body["error"])
    counted = {each: outcome.body.get(each, 0) for each in CHANGES}
    changes = {each: len(count) if isinstance(count, list) else count for each, count in counted.items()}
    if warnings := outcome.body.get("warnings"):
        return await _shown(console, request, name, "", screener, changes=changes, warnings=warnings)
    return see_other(_address(name, screener, **changes))


def _largest(console: Console) -> int:
    """The bytes of a file, at most."""
    return min(LARGEST, console.largest)


async def _import(console: Console, request: Request) -> Response:
    """Add the records of a file."""
    form = await console.form(request, most := _largest(console))
    name, screener = request.path_params["name"], _screener(form)
    if not form.files or not form.files[0].content:
        error = form_error(f"Choose a file of at most {most // 1_000_000} MB.")
        return await _shown(console, request, name, "", screener, error=error)
    given = {
        "records": decoded(form.files[0].content),
        "file": form.files[0].name[:LONGEST_NAME],
        "database": form.text("database"),
        "term": form.text("term"),
    }
    return await _bring_in(console, request, name, screener, edit_review, given)


async def _collect(console: Console, request: Request) -> Response:
    """Add what a search, question, topic or project finds; without one, what all of them find now."""
    form = await console.form(request)
    names = ("term", "query", "query_key", "project")
    given: dict[str, Any] = {each: text for each in names if (text := form.text(each))}
    given["collect"] = not given.keys() & {"term", "query"}
    return await _bring_in(console, request, request.path_params["name"], _screener(form), label_papers, given)


async def _split(console: Console, request: Request) -> Response:
    """Take a merge back."""
    form = await console.form(request)
    name, screener = request.path_params["name"], _screener(form)
    given = {"review": name, "split": form.text("merge") or "none"}
    outcome = await console.ask(edit_review, given, request, caller=_caller(request, screener))
    return console.failure(request, outcome) if outcome.failed else see_other(_address(name, screener, "duplicates"))


async def _decide(console: Console, request: Request) -> Response:
    """Decide about a paper, or settle what screeners differ about; "none" takes a decision back."""
    form = await console.form(request)
    name, screener, stage = request.path_params["name"], _screener(form), form.text("stage")
    settles = form.text("back") == "conflicts"
    made = {each: text for each in ("paper", "decision", "reason") if (text := form.text(each))}
    given = {"review": name, "stage": stage, "labels": [made], "resolve": settles}
    outcome = await console.ask(label_papers, given, request, caller=_caller(request, screener))
    if outcome.failed:
        return console.failure(request, outcome)
    if settles:
        return see_other(_address(name, screener, "conflicts"))
    then = form.text("then").split()
    if made["decision"] == "none":  # it is shown again
        then.insert(0, made["paper"])
    following = {"stage": stage, "paper": " ".join(then[:1]), "then": " ".join(then[1:])}
    return see_other(_address(name, screener, "screen", **following))


async def _add(console: Console, request: Request) -> Response:
    """Add the papers that are ticked to a review that is chosen, or made."""
    form = await console.form(request)
    if not (pmids := selected(form)):
        return console.nothing_selected(request)
    new, chosen = form.text("name"), form.text("review")
    if not (new or chosen):
        outcome = await console.ask(review_names, {}, request)
        if outcome.failed:
            return console.failure(request, outcome)
        return console.page(request, "review_add.html", data=outcome.body, pmids=pmids)
    if new:
        outcome = await console.ask(edit_review, {"review": new}, request)
        if outcome.failed:
            return console.failure(request, outcome)
    return await _bring_in(console, request, new or chosen, "", label_papers, {"pmids": pmids})


async def _export(console: Console, request: Request) -> Response:
    """Export all records with their decisions, and lead to the file, or show how far a long export is."""
    form = await console.form(request) if request.method == "POST" else Form(request.query_params.multi_items())
    name, screener, job_id = request.path_params["name"], _screener(form), form.text("job")
    chosen = form.text("format")
    given = {"review": name, "format": "csv" if chosen == "asreview" else chosen}
    given |= {"job_id": job_id} if job_id else {}
    outcome = await console.ask(export_papers, given, request, caller=_caller(request, screener))
    if outcome.failed:
        return console.failure(request, outcome)
    job_id = outcome.body["job_id"]
    if outcome.body.get("file") and request.method == "POST":
        return see_other(f"/exports/{job_id}")
    here = _address(name, screener, "export", format=chosen, job=job_id)
    if request.method == "POST":
        return see_other(here)
    return console.page(
        request, "review_export.html", data=outcome.body, here=here, back=_address(name, screener), title=_title(name)
    )
