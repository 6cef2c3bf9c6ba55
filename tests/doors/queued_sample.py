"""A tool that does what a queued call may do. `MADE` keeps what was done."""

from typing import Any

from bio_mcp.errors import BudgetSpent, Conflict, InvalidInput, NcbiRateLimited, StoreFailed
from bio_mcp.ports import Backends
from bio_mcp.tool import Context, Request, Response, tool
from tests.doors.sample import PLAIN

MADE: list[Any] = []


class Work(Request):
    what: str


class Worked(Response):
    state: str = "complete"


FAILURES = {
    "outage": StoreFailed("the store is locked; try again"),
    "slow down": NcbiRateLimited("NCBI asked us to slow down", retry_after_s=77),
    "wrong": InvalidInput("there is no such thing"),
    "spent": BudgetSpent("the budget is used up", retry_after_s=40_000),
    "taken": Conflict("another run took over"),
    "bug": KeyError("/secret/path"),
}


@tool("work", family=PLAIN, scope="read", timeout=5, read_only=False)
def work(request: Work, backends: Backends, context: Context) -> Worked:
    """Do it."""
    noted: dict[str, Any] = {"time": context.deadline.remaining, "id": context.correlation_id}
    noted["caller"] = context.caller and (context.caller.subject, context.caller.tenant)
    MADE.append(noted.get(request.what, request.what))
    if request.what in FAILURES:
        raise FAILURES[request.what]
    return Worked(state="running") if request.what == "busy" else Worked()


class Ingest(Request):
    project: str
    source: str


@tool("ingest_from_source", family=PLAIN, scope="read", timeout=5, read_only=False)
def ingest(request: Ingest, backends: Backends) -> Worked:
    """Note what was to be read."""
    MADE.append((request.project, request.source))
    return Worked()
