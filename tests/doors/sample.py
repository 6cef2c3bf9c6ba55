"""Tools and resources made for testing the doors: each shows one thing that a real tool may do."""

import threading

from pydantic import Field

from bio_mcp.deadline import Deadline
from bio_mcp.errors import BIO_MCP, InvalidInput, NotFound, StoreFailed
from bio_mcp.ports import Backends
from bio_mcp.tool import Context, Family, Request, Response, resource, tool

PLAIN = Family("plain", BIO_MCP)
AUDITED = Family("audited", BIO_MCP, prefix="tool.", audited=True)


class Echo(Request):
    text: str = Field(min_length=1)
    times: int = Field(default=1, ge=1, le=3)


class Echoed(Response):
    texts: list[str]
    nothing: str | None


@tool("sample.echo", family=PLAIN, scope="read", timeout=5, in_default_list=True)
def echo(request: Echo, backends: Backends) -> Echoed:
    """Say it again."""
    print("a tool must not print, but some library does", flush=True)  # stdio: this must not reach the client
    return Echoed(texts=[request.text] * request.times, nothing=None)


class Fail(Request):
    how: str = "store"


@tool("sample.fail", family=PLAIN, scope="sync", timeout=5, read_only=False, destructive=True, open_world=True)
def fail(request: Fail, backends: Backends) -> Echoed:
    """Fail, one way or another."""
    if request.how == "bug":
        raise KeyError("/secret/path")
    raise StoreFailed("the store is locked; try again", retry_after_s=2, table="documents")


class Steps(Request):
    steps: int = 3


class Stepped(Response):
    steps: int


@tool("sample.walk", family=PLAIN, scope="read", timeout=5)
def walk(request: Steps, backends: Backends, context: Context) -> Stepped:
    """Report progress at each step."""
    for step in range(request.steps):
        context.progress(step + 1, request.steps, f"step {step + 1}")
    return Stepped(steps=request.steps)


class Stranded:
    """Where `sample.wait` leaves its traces: `begun` when it runs, `deadlines` of the calls."""

    begun = threading.Event()
    deadlines: list[Deadline] = []  # noqa: RUF012  shared by every call on purpose


class Wait(Request):
    pass


@tool("sample.wait", family=PLAIN, scope="read", timeout=60)
def wait(request: Wait, backends: Backends, context: Context) -> Stepped:
    """Wait until there is no time left."""
    Stranded.deadlines.append(context.deadline)
    Stranded.begun.set()
    tick = threading.Event()
    while context.deadline.remaining > 0:
        tick.wait(0.01)
    context.progress(1, 1, "nobody hears this")
    context.deadline.check("waiting any longer")
    raise AssertionError("the deadline let us pass")


class Stalled:
    """`sample.stall` counts itself in `begun` and waits until `over`, as a call of a service that does not answer."""

    begun = threading.Semaphore(0)
    over = threading.Event()


@tool("sample.stall", family=PLAIN, scope="read", timeout=60, open_world=True)
def stall(request: Wait, backends: Backends) -> Stepped:
    """Wait for a service that is not ours."""
    Stalled.begun.release()
    Stalled.over.wait(30)
    return Stepped(steps=0)


@tool("kept", family=AUDITED, scope="read", timeout=5)
def kept(request: Echo, backends: Backends) -> Echoed:
    """Answer with the audit record in the body."""
    return Echoed(texts=[request.text], nothing=None)


class Paper(Response):
    pmid: str
    abstract: str | None


@resource("sample://paper/{pmid}", name="paper", family=PLAIN, scope="read", timeout=5)
def paper(backends: Backends, pmid: str) -> Paper:
    """One paper."""
    if not pmid.isdecimal():
        raise InvalidInput(f"{pmid} is not a PMID; a PMID is digits only, such as 12345")
    if pmid == "404":
        raise NotFound("there is no paper 404")
    if pmid == "500":
        raise StoreFailed("the store is locked; try again")
    return Paper(pmid=pmid, abstract=None)


@resource("sample://info", name="info", family=PLAIN, scope="read", timeout=5)
def info(backends: Backends) -> Stepped:
    """Something without parameters."""
    return Stepped(steps=1)
