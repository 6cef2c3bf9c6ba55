"""The page of evaluations: how good answers are, how that moved from run to run, and how fast calls are answered."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.responses import Response as Http

from bio_mcp.doors.console.console import CONSOLE, Console, Page, Reading, Shown, facts_of
from bio_mcp.doors.console.plots import latencies
from bio_mcp.doors.console.rendering import PRIVATE
from bio_mcp.evaluating.figures import METRICS, Result, Run
from bio_mcp.evaluating.run import FOLDER, KIND, EvaluationCursor
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.tool import resource

LOOKED_AT = 50  # evaluations, of any set
CALLS = 500  # whose latency is summed up
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"  # of a report
MEANINGS = {each.name: each.meaning for each in METRICS}


@resource("console://evaluation", name="evaluation page", family=CONSOLE, scope="read", timeout=10)
def evaluation_page(backends: Backends) -> Shown:
    """Sets that were evaluated, the one evaluated last first, and how long calls took; None where a store does not
    answer, which `problems` tell of."""
    reading = Reading()
    return Shown(
        sets=reading.of(lambda: _sets(backends)),
        latencies=reading.of(lambda: latencies(backends.calls.latest(CALLS))),
        problems=reading.problems,
    )


@resource("console://evaluation/reports/{name}", name="report page", family=CONSOLE, scope="read", timeout=5)
def report_page(backends: Backends, name: str) -> Shown:
    """The report of a run."""
    return Shown(html=backends.blobs.get(f"{FOLDER}/{name}").decode())


def _sets(backends: Backends) -> list[dict[str, Any]]:
    by_set: dict[str, list[Job]] = {}
    for job in backends.jobs.newest(KIND, LOOKED_AT):
        by_set.setdefault(job.request["query_key"], []).append(job)
    return [_set(jobs, backends.now()) for jobs in by_set.values()]


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
        "runs": [_run(each, now) for each in jobs],
        "metrics": [_metric(each, cursor.history) for each in last],
        "warnings": cursor.warnings,
    }


def _run(job: Job, now: datetime) -> dict[str, Any]:
    report = job.cursor["report_key"].rpartition("/")[2]  # all of the cursor would take long for many runs
    return {**facts_of(job, now), "report": report}


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


PAGE = Page("/evaluation", "evaluation.html", evaluation_page, "Evaluation")


async def report(console: Console, request: Request) -> Http:
    """The report of a run, as it was written. It has its own style and nothing else, and may do nothing."""
    outcome = await console.ask(report_page, request.path_params, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return HTMLResponse(outcome.body["html"], headers={**PRIVATE, "content-security-policy": POLICY})
