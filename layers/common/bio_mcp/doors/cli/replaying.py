"""`bio-mcp replay`: repeats a recorded call, and says which of its inputs moved."""

from collections.abc import Mapping
from typing import Any

import click
from pydantic import Field

from bio_mcp.call import excerpt
from bio_mcp.catalog import TOOLS
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.ports import Backends
from bio_mcp.ports.calls import CallRecord
from bio_mcp.replaying.replay import UNKNOWN, replay
from bio_mcp.tool import Request, Response, tool
from bio_mcp.tools.families import BIO_MCP

NEWEST = 20
SHOWN = 10  # PMIDs
MEANINGS = {
    "corpus": "the corpus: papers were revised, came or went",
    "model": "the embedding model",
    "reranker": "the model that orders the best hits anew",
    "language_model": "the language model",
    "graph": "the graph",
    "projects": "the projects, whose state is not recorded",
    "rules": "the rules: tables, coefficients or the least confidence of an answer",
    "code": "the code",
    UNKNOWN: "nothing that is recorded: the call does not give the same answer twice",
}


class Recorded(Response):
    """A recorded call."""

    correlation_id: str
    tool: str
    arguments: dict[str, Any]
    at: str
    out_hash: str


class Papers(Response):
    """How the papers that the call saw differ from those of today, by PMID."""

    revised: list[str]
    new: list[str]
    gone: list[str]
    rescored: int


class Replay(Response):
    """The result. `as_then`: on what the call read then; null: that is no longer stored, `because` says why."""

    call: Recorded
    equal: bool
    as_then: bool | None
    today: bool
    moved: list[str]
    papers: Papers
    because: str | None = None


class Calls(Response):
    """The newest calls, the newest first."""

    calls: list[Recorded]


class Which(Request):
    """The call."""

    correlation_id: str = Field(min_length=1)


class Newest(Request):
    """No arguments."""


@tool("calls.replay", family=BIO_MCP, scope="admin", timeout=600, read_only=False)
def replay_call(request: Which, backends: Backends) -> Replay:
    """Repeat a recorded call on the corpus of then and of now, and compare the answers."""
    found = replay(request.correlation_id, backends, TOOLS)
    moved = found.papers
    papers = Papers(revised=list(moved.revised), new=list(moved.new), gone=list(moved.gone), rescored=moved.rescored)
    return Replay(
        call=_recorded(found.recorded),
        equal=found.equal,
        as_then=found.as_then,
        today=found.today,
        moved=list(found.moved),
        papers=papers,
        because=found.because,
    )


@tool("calls.list", family=BIO_MCP, scope="admin", timeout=30, read_only=False)
def list_calls(request: Newest, backends: Backends) -> Calls:  # noqa: ARG001  a tool's form
    """List the newest recorded calls."""
    return Calls(calls=[_recorded(each) for each in backends.calls.latest(NEWEST)])


@click.command("replay")
@click.argument("correlation_id", required=False)
@click.option("--tenant", default="", help="Whose calls: a tenant's, as its access tokens name it.")
@answering
def replay_command(session: Session, correlation_id: str | None, tenant: str) -> None:
    """Repeat the call CORRELATION_ID, and say whether its answer is the same or which input moved.

    The id is in `_meta.audit` of each answer. Without one, the newest recorded calls are listed. The exit code is 1
    where the answer is another one.
    """
    session.tenant = tenant
    if correlation_id is None:
        session.answer(session.ask(list_calls, {}), render_calls)
        return
    body = session.ask(replay_call, {"correlation_id": correlation_id})
    session.answer(body, render)
    session.code = 0 if body["equal"] else 1


def render_calls(body: Mapping[str, Any]) -> None:
    """Print a row per call."""
    rows = [
        (each["correlation_id"], each["at"][:19], each["tool"], excerpt(str(each["arguments"]), 60))
        for each in body["calls"]
    ]
    terminal.show(terminal.table(("correlation id", "at (UTC)", "tool", "arguments"), rows))
    if not rows:
        terminal.say("No call is recorded yet.")


def render(body: Mapping[str, Any]) -> None:
    """Print the verdict, then what moved."""
    then = {True: "the same answer", False: "another answer", None: "cannot be repeated"}[body["as_then"]]
    because = f" ({body['because']})" if body["because"] else ""
    terminal.say(f"On the corpus of then: {then}{because}.")
    terminal.say(f"On the corpus of today: {'the same' if body['today'] else 'another'} answer.")
    terminal.say("Equal." if body["equal"] else "It differs by:")
    for each in body["moved"]:
        terminal.say(f"- {MEANINGS[each]}")
    papers = body["papers"]
    for name, meaning in (("revised", "Revised since"), ("new", "Found now only"), ("gone", "Found then only")):
        if papers[name]:
            more = f" and {len(papers[name]) - SHOWN} more" if len(papers[name]) > SHOWN else ""
            terminal.say(f"{meaning}: PMID {', '.join(papers[name][:SHOWN])}{more}.")
    if papers["rescored"] and not body["today"]:
        terminal.say(f"Scored differently: {terminal.counted(papers['rescored'], 'paper')}.")


def _recorded(call: CallRecord) -> Recorded:
    return Recorded(
        correlation_id=call.correlation_id,
        tool=call.tool,
        arguments=dict(call.arguments),
        at=call.at.isoformat(),
        out_hash=call.out_hash,
    )
