"""The page of evaluations: how good answers are, how that moved from run to run, and how fast calls are answered."""

from collections.abc import Sequence
from datetime import datetime

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.responses import Response as Http

from bio_mcp.doors.console.console import Answer, Console
from bio_mcp.doors.console.headers import PRIVATE
from bio_mcp.doors.console.latencies import Latencies, latencies
from bio_mcp.doors.console.pages import CONSOLE, Page
from bio_mcp.doors.console.reading import Reading
from bio_mcp.doors.console.syncs import MOVING
from bio_mcp.evaluating.cursor import Cursor, Run
from bio_mcp.evaluating.figures import Result
from bio_mcp.evaluating.metrics import METRICS
from bio_mcp.evaluating.run import FOLDER, KIND
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.queries import state_of
from bio_mcp.tool import Response, resource

LOOKED_AT = 50  # evaluations, of any set
CALLS = 500  # whose latency is summed up
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"  # of a report
MEANINGS = {each.name: each.meaning for each in METRICS}


class FigureShown(Response):
    """A figure with its 95 % interval. `rising`: more is better."""

    name: str
    value: float
    low: float
    high: float
    questions: int
    rising: bool


class PointShown(Response):
    """A figure as a run of this day had it."""

    day: str
    result: FigureShown


class MetricShown(Response):
    """A figure of the newest run, what it says, how much it is above the run before, and how it was in every run."""

    figure: FigureShown
    meaning: str
    change: float | None
    runs: list[PointShown]


class RunShown(Response):
    """A run of a set; `report` names its report, "" where it has none."""

    job_id: str
    state: str
    updated_at: str
    report: str


class SetShown(Response):
    """A set of questions with the figures of its last whole run, and its newest job with those before it."""

    name: str
    job_id: str
    state: str
    moving: bool
    updated_at: str
    done: int
    expected: int
    runs: list[RunShown]
    version: str | None
    model: str | None
    metrics: list[MetricShown]
    warnings: list[str]
    error: str | None


class EvaluationPage(Response):
    """Sets that were evaluated, the one evaluated last first, and how long calls took; None where a store does not
    answer, which `problems` tell of."""

    sets: list[SetShown] | None
    latencies: Latencies | None
    problems: list[str]


class Report(Response):
    """A report, HTML."""

    html: str


@resource("console://evaluation", name="evaluation page", family=CONSOLE, scope="read", timeout=10)
def evaluation_page(backends: Backends) -> EvaluationPage:
    """The newest evaluation of each set, with its history."""
    reading = Reading()
    return EvaluationPage(
        sets=reading.of(lambda: _sets(backends)),
        latencies=reading.of(lambda: latencies(backends.calls.latest(CALLS))),
        problems=reading.problems,
    )


@resource("console://evaluation/reports/{name}", name="report page", family=CONSOLE, scope="read", timeout=5)
def report_page(backends: Backends, name: str) -> Report:
    """The report of a run."""
    return Report(html=backends.blobs.get(f"{FOLDER}/{name}").decode())


def _sets(backends: Backends) -> list[SetShown]:
    now = backends.now()
    by_set: dict[str, list[Job]] = {}
    for job in backends.jobs.newest(KIND, LOOKED_AT):
        by_set.setdefault(job.request["query_key"], []).append(job)
    return [_set(jobs, now) for jobs in by_set.values()]


def _set(jobs: Sequence[Job], now: datetime) -> SetShown:
    job = jobs[0]
    cursor, state = Cursor.from_json(job.cursor), state_of(job, now)
    name, _, place = job.request["query_key"].partition(" ")
    last = cursor.history[-1] if cursor.history else None
    return SetShown(
        name=f"{name} {place[:6]}".strip(),
        job_id=job.job_id,
        state=state,
        moving=state in MOVING,
        updated_at=instant(job.updated),
        done=cursor.done,
        expected=cursor.expected,
        runs=[_run(each, now) for each in jobs],
        version=last.version if last else None,
        model=last.model if last else None,
        metrics=[_metric(each, cursor.history) for each in last.results] if last else [],
        warnings=list(cursor.warnings),
        error=job.progress.get("error"),
    )


def _run(job: Job, now: datetime) -> RunShown:
    report = job.cursor["report_key"].rpartition("/")[2]  # all of the cursor would take long for many runs
    return RunShown(job_id=job.job_id, state=state_of(job, now), updated_at=instant(job.updated), report=report)


def _metric(result: Result, history: list[Run]) -> MetricShown:
    points = [(run, each) for run in history for each in run.results if each.name == result.name]
    before = [each for run, each in points[:-1] if run.version == history[-1].version]
    return MetricShown(
        figure=_figure(result),
        meaning=MEANINGS.get(result.name, ""),
        change=result.value - before[-1].value if before else None,
        runs=[PointShown(day=run.ended[:10], result=_figure(each)) for run, each in points],
    )


def _figure(result: Result) -> FigureShown:
    return FigureShown(
        name=result.name,
        value=result.value,
        low=result.low,
        high=result.high,
        questions=result.questions,
        rising=result.rising,
    )


PAGE = Page("/evaluation", "evaluation.html", evaluation_page, "Evaluation")


def report(console: Console) -> Answer:
    """The report of a run, as it was written. It has its own style and nothing else, and may do nothing."""

    async def show(request: Request) -> Http:
        outcome = await console.ask(report_page, request.path_params, request)
        if outcome.failed:
            return console.failure(request, outcome)
        return HTMLResponse(outcome.body["html"], headers={**PRIVATE, "content-security-policy": POLICY})

    return show
