"""`bio-mcp doctor`, and for whoever looks after the installation any tool by its name: `tools`, `call` and `replay`."""

import json
import platform
import sqlite3
import sys
from dataclasses import asdict, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import click

from bio_mcp import __version__
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.render import View, render
from bio_mcp.doors.cli.session import Session
from bio_mcp.health import FAIL, OK, WARN, Finding, examine
from bio_mcp.ports import Backends
from bio_mcp.ports.models import Role
from bio_mcp.ports.state import CallRecord
from bio_mcp.replaying import UNKNOWN, replay
from bio_mcp.retrieval.relevance import is_fitted_to
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.syncing.windows import future_warning
from bio_mcp.tool import Resource, Tool, by_any_name

NCBI_S = 9  # for all tries
FLAGGED_SHOWN = 5  # answers, at most
OTHER_MODEL = (
    "The index decides. Run `bio-mcp admin reindex` to embed all by the model of the settings, or set "
    "BIO_MCP_EMBEDDING_MODEL to that of the index."
)
TWO_INDEXES = (
    "Every paper is written to both, until `bio-mcp admin reindex remove`; `bio-mcp admin reindex status` compares "
    "them."
)
NO_ADDRESS = Finding(
    WARN,
    "readable; no NCBI_ADMIN_EMAIL",
    "Set it to your address: NCBI writes there before it blocks anyone.",
    "settings",
)
NOT_ASKED = Finding(OK, "not asked; `bio-mcp doctor --ncbi` asks it", check="ncbi")
VERDICTS = {
    "ok": "Everything is in order.",
    "warn": "Nothing is broken; see the rows marked warn.",
    "fail": "Something is broken; follow the advice beside FAIL.",
}

CHECKS = View(hidden=frozenset({"ok"}), tables={"checks": ("state", "check", "found", "remedy")})
TOOLS_LISTED = View(
    hidden=frozenset({"name", "input_schema", "output_schema"}), titles=("portable_name", "uri"), labels={"uri": "uri"}
)
CALLS = View(
    tables={"calls": ("correlation_id", "at", "tool", "arguments")},
    labels={"at": "at (UTC)"},
    empty="No call is recorded yet.",
)

REPLAYED = View(
    hidden=frozenset({"call", "equal"}),
    labels={
        "as_then": "same on the corpus of then",
        "today": "same on the corpus of today",
        "revised": "revised since",
        "new": "found now only",
        "gone": "found then only",
        "rescored": "scored differently",
    },
)


def model(backends: Backends) -> Finding:
    """The embedding model gives vectors of its dimension; says whether the probabilities were fitted to it."""
    vectors = backends.embeddings.embed(["Is the embedding model at work?"])
    if vectors.shape != (1, backends.embeddings.dim):
        found = f"gives vectors of {vectors.shape[1]} dimensions"
        return Finding(FAIL, found, "Delete the model and run `bio-mcp setup`.")
    fingerprint, configured = backends.embeddings.fingerprint, backends.models.named("").fingerprint
    fitted = is_fitted_to(fingerprint)
    found = fingerprint if fitted else f"{fingerprint}; probabilities of relevance, fitted to another, are rough"
    if fingerprint == configured:
        return Finding(OK, found)
    return Finding(WARN, f"{found}; the settings name {configured}", OTHER_MODEL)


def index(backends: Backends) -> Finding:
    """Every paper is indexed, by the configured model."""
    size = corpus_size(backends)
    if not size.documents:
        return Finding(WARN, "the corpus is empty", "Run `bio-mcp import --sample` or `bio-mcp sync`.")
    backends.passages.check_model(backends.embeddings.fingerprint, backends.embeddings.dim)
    found = f"{size.documents:,} papers, {size.indexed:,} of them indexed as {size.chunks:,} passages"
    if size.documents != size.indexed:
        return Finding(WARN, found, "Run the interrupted import or sync again, or `bio-mcp admin reindex`.")
    if others := [each.role for each in backends.indexes.all() if each.role is not Role.SEARCHED]:
        return Finding(WARN, f"{found}; a {others[0]} index beside it", TWO_INDEXES)
    return Finding(OK, found)


def queries(backends: Backends) -> Finding:
    """No watermark is in the future."""
    checkpoints, today = backends.checkpoints.all(), backends.today()
    problems = {f"{each.query_key}: {reason}": None for each in checkpoints if (reason := future_warning(each, today))}
    if problems:
        return Finding(WARN, "; ".join(problems), "Correct the clock and run the sync again.")
    return Finding(OK, f"{len({each.query_key for each in checkpoints})} followed")


def answers(backends: Backends) -> Finding:
    """No paper that an answer cites was retracted since."""
    flagged = backends.answers.flagged(FLAGGED_SHOWN)
    if not flagged:
        return Finding(OK, "none cites a paper that was retracted since")
    of_each = (f"{each.answer_id} (PMID {', '.join(each.flagged)})" for each in flagged)
    found = f"cite papers that were retracted since: {', '.join(of_each)}"
    return Finding(WARN, found, "Read them with `bio-mcp answer --show ID`, and ask again.")


def ncbi(backends: Backends) -> Finding:
    """NCBI answers a search."""
    page = backends.entrez.esearch("all[sb]", retmax=1, deadline=Deadline(NCBI_S))
    return Finding(OK, f"answers; PubMed holds {page.count:,} records")


CORPUS = {"embedding model": model, "corpus": index, "queries": queries, "answers": answers}


@click.command("doctor")
@click.option("--ncbi", "ask_ncbi", is_flag=True, help="Ask NCBI too, within 10 seconds.")
@click.option("--upstreams", is_flag=True, help="Ask every service that is configured, each within 10 seconds.")
@answering
def doctor_command(session: Session, ask_ncbi: bool, upstreams: bool) -> None:
    """Check this installation and its corpus, with advice on every problem.

    --upstreams asks NCBI's E-utilities and its ID converter, and where they are configured the language model (for a
    few tokens), the issuer of access tokens and the OpenTelemetry collector.
    """

    def examine_all(backends: Backends, _context: object) -> dict[str, Any]:
        versions = f"bio-mcp {__version__} on Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
        found = [
            Finding(OK, versions, check="versions"),
            Finding(OK, "readable", check="settings") if session.settings.ncbi_admin_email else NO_ADDRESS,
            *backends.checks(),
            *(examine(name, partial(check, backends)) for name, check in CORPUS.items()),
            examine("ncbi", partial(ncbi, backends)) if ask_ncbi or upstreams else NOT_ASKED,
            *(backends.upstreams() if upstreams else ()),
        ]
        return {"ok": all(each.state != FAIL for each in found), "checks": [asdict(each) for each in found]}

    body = session.do("corpus.doctor", examine_all)
    worst = max((each["state"] for each in body["checks"]), key=list(VERDICTS).index)
    session.answer(body, replace(CHECKS, foot=VERDICTS[worst]))
    session.code = 0 if body["ok"] else 1


NEWEST = 20
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


@click.command("tools")
@answering
def tools_command(session: Session) -> None:
    """List the tools and resources that MCP clients see, by family."""
    tools = [
        {
            "name": each.name,
            "portable_name": each.portable_name,
            "family": each.family.name,
            "summary": summary(each),
            "read_only": each.read_only,
            "timeout_s": each.timeout,
            "input_schema": each.input_schema,
            "output_schema": each.output_schema,
        }
        for each in TOOLS.values()
    ]
    resources = [
        {"uri": each.uri, "name": each.name, "family": each.family.name, "summary": summary(each)}
        for each in RESOURCES.values()
    ]
    session.answer({"tools": tools, "resources": resources}, TOOLS_LISTED)


def summary(each: Tool | Resource) -> str:
    """The first sentence of its description."""
    sentence, stop, _ = f"{' '.join(each.description.split())} ".partition(". ")
    return sentence + stop.rstrip()


@click.command("call")
@click.argument("name", metavar="TOOL")
@click.argument("given", metavar="[JSON]", default="{}")
@answering
def call_command(session: Session, name: str, given: str) -> None:
    """Call TOOL with the arguments in JSON, and print its answer as JSON.

    TOOL is a name that `bio-mcp admin tools` lists. JSON is an object, such as '{"query": "migraine"}'; @FILE reads it
    from a file and - from standard input; without it there are no arguments. docs/tools.md has the arguments of each
    tool.
    """
    known = by_any_name(TOOLS.values())
    if name not in known:
        alike = get_close_matches(name, [each.portable_name for each in TOOLS.values()], n=1, cutoff=0.5)
        hint = f"did you mean {alike[0]}?" if alike else "`bio-mcp admin tools` lists them."
        raise click.UsageError(f"There is no tool {name[:100]!r}; {hint}")
    session.answer(session.ask(known[name], _arguments(given)), terminal.print_json)


def _arguments(given: str) -> dict[str, Any]:
    """The JSON object from the command line, a file or standard input. Raises `UsageError`."""
    try:
        if given == "-":
            given = sys.stdin.buffer.read().decode()
        elif given.startswith("@"):
            given = Path(given[1:]).read_bytes().decode()
        arguments = json.loads(given)
    except OSError as error:
        raise click.UsageError(f"{given[1:]} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise click.UsageError("JSON is not UTF-8.") from None
    except RecursionError:
        raise click.UsageError("JSON is nested too deep.") from None
    except json.JSONDecodeError as wrong:
        place = f"line {wrong.lineno}, column {wrong.colno}"
        raise click.UsageError(f"JSON cannot be read: {wrong.msg} at {place}.") from None
    if not isinstance(arguments, dict):
        raise click.UsageError('JSON is not an object of arguments, such as {"query": "migraine"}.')
    return arguments


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

    def repeat(backends: Backends, _context: object) -> dict[str, Any]:
        found = replay(correlation_id or "", backends, TOOLS)
        papers = asdict(found.papers)
        verdict = {each: getattr(found, each) for each in ("as_then", "today", "moved", "because")}
        return {"call": _recorded(found.recorded), "equal": found.equal, **verdict, "papers": papers}

    if not correlation_id:
        latest = session.do(
            "calls.list", lambda backends, _: {"calls": [*map(_recorded, backends.calls.latest(NEWEST))]}
        )
        session.answer(latest, CALLS)
        return
    body = session.do("calls.replay", repeat)
    moved = [MEANINGS[each] for each in body["moved"]]
    view = replace(REPLAYED, foot="Equal." if body["equal"] else "It is not equal.")
    session.answer(body, lambda shown: render({**shown, "moved": moved}, view))
    session.code = 0 if body["equal"] else 1


def _recorded(call: CallRecord) -> dict[str, Any]:
    fields = {each: getattr(call, each) for each in ("correlation_id", "tool", "out_hash")}
    return {**fields, "arguments": dict(call.arguments), "at": call.at.isoformat()}
