"""Tools that the conformance suite's scenarios of tasks call, as jobs of a server that is the product's in all else."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from bio_mcp.errors import BIO_MCP, NotFound, UpstreamFailed
from bio_mcp.tool import Family, Request, Response, resource, tool
from bio_mcp.tools.jobs import JobCancel, JobStatus

FIXTURE = Family("fixture", BIO_MCP)


@dataclass
class Slow:
    """A job that ends by itself at an instant. `tool` is who reports its result."""

    tool: str
    seconds: float
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    job_id: str = field(default_factory=lambda: uuid4().hex)
    cancelled: bool = False

    @property
    def state(self) -> str:
        if self.cancelled:
            return "cancelled"
        return "succeeded" if datetime.now(UTC) - self.began >= timedelta(seconds=self.seconds) else "running"


JOBS: dict[str, Slow] = {}


class Named(Request):
    name: str = "you"


class Compute(Request):
    seconds: float = 1
    label: str = ""
    job_id: str = ""


class Deletion(Request):
    filename: str


class Computed(Response):
    job_id: str
    state: str


class Greeting(Response):
    text: str


def goes_on(named: str, seconds: float) -> Computed:
    """A job that was begun, with the tool that reports its result."""
    begun = Slow(named, seconds)
    JOBS[begun.job_id] = begun
    return Computed(job_id=begun.job_id, state="running")


@tool("greet", family=FIXTURE, scope="read", timeout=5)
def greet(request: Named, backends: Any) -> Greeting:
    """Greet."""
    return Greeting(text=f"Hello, {request.name}!")


@tool("slow_compute", family=FIXTURE, scope="read", timeout=30, read_only=False)
def slow_compute(request: Compute, backends: Any) -> Computed:
    """Compute for so many seconds: as a job, but at once for none."""
    if request.job_id or not request.seconds:
        return Computed(job_id=request.job_id or "none", state="complete")
    return goes_on("slow_compute", request.seconds)


@tool("failing_job", family=FIXTURE, scope="read", timeout=30, read_only=False)
def failing_job(request: Compute, backends: Any) -> Computed:
    """Fail after a second."""
    if request.job_id:
        raise UpstreamFailed("it failed, as it should")
    return goes_on("failing_job", 1)


@tool("protocol_error_job", family=FIXTURE, scope="read", timeout=30, read_only=False)
def protocol_error_job(request: Compute, backends: Any) -> Computed:
    """End as a job whose result no tool reports."""
    return goes_on("no_such_tool", 0.5)


@tool("confirm_delete", family=FIXTURE, scope="read", timeout=30, read_only=False)
def confirm_delete(request: Deletion, backends: Any) -> Computed:
    """Go on as a job. It would ask its caller back, which no tool of the product does."""
    return goes_on("slow_compute", 1)


@resource("job://{job_id}", name="job", family=FIXTURE, scope="read", timeout=5)
def job(backends: Any, job_id: str) -> JobStatus:
    """How far a job is."""
    found = JOBS.get(job_id)
    if found is None:
        raise NotFound("there is no such job")
    when = f"{found.began:%Y-%m-%dT%H:%M:%SZ}"
    return JobStatus(
        job_id=job_id,
        state=found.state,
        processed=0,
        expected=1,
        problem=None,
        created_at=when,
        updated_at=when,
        tool=found.tool,
        arguments={"job_id": job_id},
    )


@tool("jobs.cancel", family=FIXTURE, scope="read", timeout=5, read_only=False)
def cancel(request: JobCancel, backends: Any) -> Computed:
    """End a job."""
    found = JOBS[request.job_id]
    found.cancelled = found.state == "running" or found.cancelled
    return Computed(job_id=found.job_id, state=found.state)


TOOLS = (greet, slow_compute, failing_job, protocol_error_job, confirm_delete, cancel)


def served(server: Server[Any]) -> Server[Any]:
    """`server`, whose tool `greet` answers in plain text as the suite wants it; ours is always JSON."""
    own = server.get_request_handler("tools/call")
    assert own is not None

    async def call_tool(asked: Any, given: Any) -> Any:
        if given.name == "greet":
            return CallToolResult(content=[TextContent(text=f"Hello, {given.arguments['name']}!")])
        return await own.handler(asked, given)

    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    return server
