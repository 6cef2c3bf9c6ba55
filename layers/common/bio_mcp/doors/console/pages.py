"""The pages that show one resource each: a paper with its history, what the corpus holds, syncs, and how good and how
fast answers are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.responses import Response as Http

from bio_mcp.doors.console.console import CONSOLE, Console, Page, Shown
from bio_mcp.doors.console.plots import latencies
from bio_mcp.doors.console.rendering import PRIVATE
from bio_mcp.doors.console.search import STYLES
from bio_mcp.errors import Failure, NotFound
from bio_mcp.evaluating.figures import METRICS, Result, Run
from bio_mcp.evaluating.run import FOLDER, EvaluationCursor
from bio_mcp.evaluating.run import KIND as EVALUATE
from bio_mcp.jobs.runner import state_of
from bio_mcp.literature.citing import cite
from bio_mcp.literature.clock import instant
from bio_mcp.literature.differences import differences
from bio_mcp.literature.identifiers import pubmed_page
from bio_mcp.literature.records import Article, Document
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.ports.stores import StoredDay
from bio_mcp.syncing.cursor import SyncCursor
from bio_mcp.syncing.delta import KIND as SYNC
from bio_mcp.syncing.queries import FollowedQuery, list_queries, report_on
from bio_mcp.tool import resource
from bio_mcp.tools.get_doc import links_of, paper_of, stored_document

DAYS = 90  # that are shown
MOST_QUERIES = 100
MOST_SYNCS = 50
MOST_NAMED = 200  # records that could not be fetched
EVALUATIONS = 50  # that are looked at, of any set
CALLS = 500  # whose latency is summed up
OLD_VERSIONS = 5  # that the corpus stores of a paper
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"  # of a report
MEANINGS = {each.name: each.meaning for each in METRICS}
MOVING = {"running", "waiting"}  # states of which a page shows the progress

T = TypeVar("T")


def part(read: Callable[[], T], problems: list[str]) -> T | None:
    """What `read` returns; None where its store fails, which is added to `problems`: other parts are shown all the
    same."""
    try:
        return read()
    except Failure as failure:
        if str(failure) not in problems:
            problems.append(str(failure))
        return None


def facts_of(job: Job, now: datetime) -> dict[str, Any]:
    """What pages show of a job of any kind."""
    state = state_of(job, now)
    return {
        "job_id": job.job_id,
        "state": state,
        "moving": state in MOVING,
        "started_at": instant(job.created),
        "updated_at": instant(job.updated),
        "error": job.progress.get("error"),
    }


@resource("console://corpora", name="corpora page", family=CONSOLE, scope="read", timeout=10)
def corpora_page(backends: Backends) -> Shown:
    """What the corpus holds, and how fresh it is. What a store does not answer is None, and among the `problems`."""
    problems: list[str] = []
    followed = part(lambda: list_queries(None, MOST_QUERIES, backends), problems)
    counted = part(lambda: backends.passages.count(), problems)
    stored = part(lambda: backends.documents.stored_by_day(DAYS), problems)
    now = backends.now()
    return Shown(
        papers=part(lambda: backends.documents.count(), problems),
        passages=counted and counted[1],
        queries=followed and [_query(each, now) for each in followed[0]],
        left_out=followed[1] if followed else 0,
        days=None if stored is None else _days(stored, now.astimezone(UTC).date()),
        years=part(lambda: list(backends.passages.by_year()), problems),
        problems=problems,
    )


def _query(query: FollowedQuery, now: datetime) -> dict[str, Any]:
    """A followed query. All that it matches is here up to the day `settled_to`."""
    return {
        "query_key": query.checkpoint.query_key,
        "term": query.checkpoint.term,
        "settled_to": query.settled_to,
        "sync": facts_of(query.job, now) if query.job else None,
    }


def _days(stored: Sequence[StoredDay], today: date) -> list[StoredDay]:
    """Every day from the first one to today."""
    if not stored:
        return []
    by_day = {each.day: each for each in stored}
    every = map(date.fromordinal, range(stored[0].day.toordinal(), today.toordinal() + 1))
    return [by_day.get(day, StoredDay(day)) for day in every]


@resource("console://syncs", name="syncs page", family=CONSOLE, scope="read", timeout=8)
def syncs_page(backends: Backends) -> Shown:
    """The newest syncs and how far they are."""
    now = backends.now()
    jobs = backends.jobs.newest(SYNC, MOST_SYNCS)
    syncs = [{**each.request, **facts_of(each, now), **asdict(report_on(each, now))} for each in jobs]
    return Shown(syncs=syncs, moving=any(each["moving"] for each in syncs))


@resource("console://syncs/{job_id}", name="sync page", family=CONSOLE, scope="read", timeout=5)
def sync_page(backends: Backends, job_id: str) -> Shown:
    """One sync, with the PMIDs that were not fetched, and those that PubMed lists and withholds."""
    job = backends.jobs.get(job_id)
    if job.kind != SYNC:
        raise NotFound(f"There is no sync {job_id!r}")
    cursor = SyncCursor.from_json(job.cursor)
    failed, missing = sorted(cursor.failed, key=int), sorted(cursor.missing, key=int)
    now = backends.now()
    return Shown(
        sync={**job.request, **facts_of(job, now), **asdict(report_on(job, now))},
        failed=failed[:MOST_NAMED],
        missing=missing[:MOST_NAMED],
        unnamed=sum(max(0, len(each) - MOST_NAMED) for each in (failed, missing)),
    )


@resource("console://papers/{pmid}", name="paper page", family=CONSOLE, scope="read", timeout=8)
def paper_page(backends: Backends, pmid: str, quote: str = "") -> Shown:
    """A paper of the corpus with its history, the newest version first, and a quote that is marked in it."""
    document = stored_document(pmid, backends)
    article = document.article
    return Shown(
        paper=paper_of(document, backends),
        links=links_of(article),
        abstract=article.abstract,
        quote=quote,
        headings=[each.name for each in article.mesh],
        notices=list(_notices(article, backends)),
        citations=[{"style": name, "text": cite(article, style)} for style, name in STYLES.items()],
        versions=list(_versions(document, backends))[::-1],
    )


def _notices(article: Article, backends: Backends) -> Iterator[dict[str, Any]]:
    """Records that correct, retract or comment on the paper, or on which it does, each with the address of its page
    here, or in PubMed where the corpus does not have it."""
    here = backends.documents.get_many([each.pmid for each in article.corrections if each.pmid])
    for each in article.corrections:
        elsewhere = pubmed_page(each.pmid) if each.pmid else None
        address = f"/papers/{each.pmid}" if each.pmid in here else elsewhere
        yield {"kind": each.relation, "citation": each.citation, "pmid": each.pmid, "address": address}


def _versions(newest: Document, backends: Backends) -> Iterator[dict[str, Any]]:
    """The stored versions, and what each changed of the stored one before it; None: none before it is stored."""
    before: Document | None = None
    for version in range(max(1, newest.version - OLD_VERSIONS), newest.version + 1):
        try:
            stored = (
                newest if version == newest.version else backends.documents.at_version(newest.article.pmid, version)
            )
        except NotFound:
            continue
        changes = differences(before.article, stored.article) if before else None
        yield {"version": version, "revised": stored.article.date_revised, "changes": changes}
        before = stored


@resource("console://evaluation", name="evaluation page", family=CONSOLE, scope="read", timeout=10)
def evaluation_page(backends: Backends) -> Shown:
    """Sets that were evaluated, the one evaluated last first, and how long calls took; None where a store does not
    answer, which `problems` tell of."""
    problems: list[str] = []

    def sets() -> list[dict[str, Any]]:
        by_set: dict[str, list[Job]] = {}
        for job in backends.jobs.newest(EVALUATE, EVALUATIONS):
            by_set.setdefault(job.request["query_key"], []).append(job)
        return [_set(jobs, backends.now()) for jobs in by_set.values()]

    return Shown(
        sets=part(sets, problems),
        latencies=part(lambda: latencies(backends.calls.latest(CALLS)), problems),
        problems=problems,
    )


@resource("console://evaluation/reports/{name}", name="report page", family=CONSOLE, scope="read", timeout=5)
def report_page(backends: Backends, name: str) -> Shown:
    """The report of a run."""
    return Shown(html=backends.blobs.get(f"{FOLDER}/{name}").decode())


def _set(jobs: Sequence[Job], now: datetime) -> dict[str, Any]:
    """A set of questions with the figures of its last whole run, and its newest job with those before it."""
    cursor = EvaluationCursor.from_json(jobs[0].cursor)
    name, _, place = jobs[0].request["query_key"].partition(" ")
    last = cursor.history[-1].results if cursor.history else ()
    return {
        **facts_of(jobs[0], now),
        "name": f"{name} {place[:6]}".strip(),
        "done": cursor.done,
        "expected": cursor.expected,
        "runs": [
            {**facts_of(each, now), "report": each.cursor["report_key"].rpartition("/")[2]}
            for each in jobs  # not all of the cursor, which would take long for many runs
        ],
        "metrics": [_metric(each, cursor.history) for each in last],
        "warnings": cursor.warnings,
    }


def _metric(result: Result, history: list[Run]) -> dict[str, Any]:
    """A figure of the newest run, what it says, how much it is above the run before, and how it was in every run."""
    points = [(run, each) for run in history for each in run.results if each.name == result.name]
    before = [each for run, each in points[:-1] if run.version == history[-1].version]
    return {
        "figure": result,
        "meaning": MEANINGS.get(result.name, ""),
        "change": result.value - before[-1].value if before else None,
        "runs": [{"day": run.ended[:10], "result": each} for run, each in points],
    }


PAGES = (
    Page("/papers/{pmid}", "paper.html", paper_page, takes=("quote",)),
    Page("/admin/corpora", "corpora.html", corpora_page),
    Page("/admin/syncs", "syncs.html", syncs_page),
    Page("/admin/syncs/{job_id}", "sync.html", sync_page),
    Page("/admin/evaluation", "evaluation.html", evaluation_page),
)


async def report(console: Console, request: Request) -> Http:
    """The report of a run, as it was written. It has its own style and nothing else, and may do nothing."""
    outcome = await console.ask(report_page, request.path_params, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return HTMLResponse(outcome.body["html"], headers={**PRIVATE, "content-security-policy": POLICY})
