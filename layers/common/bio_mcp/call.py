"""Run a tool: validate the input, run it, audit it, and turn any failure into an error envelope.

Every call of every door passes here exactly once, and nothing raised by a tool gets past it.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

import rfc8785
from pydantic import BaseModel

from bio_mcp.arguments import read_arguments
from bio_mcp.callers import Caller, forbidden, may, who
from bio_mcp.deadline import Deadline, Progress, silent
from bio_mcp.errors import UNKNOWN, Dialect, Failure, InvalidInput, code_for
from bio_mcp.ports import Backends
from bio_mcp.ports.state import CallRecord, Recorder
from bio_mcp.recording import Reads
from bio_mcp.scope import CacheUse, Meter, entered, spend
from bio_mcp.tenants import CallBackends
from bio_mcp.tool import Context, Resource, Tool
from bio_mcp.tracing import call_span
from bio_mcp.untrusted import excerpt, sanitized

log = logging.getLogger("bio_mcp.call")

LONGEST = 3_000  # characters of an error's message


@dataclass(frozen=True)
class Outcome:
    """The result of a call: the body that goes on the wire, its audit record, and the failure, if the body is one.

    `failure` is None for a bug, which has a body with the code UNKNOWN and no failure. `budgets`: what is left of the
    caller's, by unit; empty without a caller.
    """

    body: dict[str, Any]
    audit: dict[str, Any]
    failure: Failure | None = None
    budgets: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the body is an error envelope."""
        return "error" in self.body

    @cached_property
    def text(self) -> str:
        """The body as JSON: the text content of an MCP result, equal to its structured content."""
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":"))


def call(
    what: Tool | Resource,
    arguments: Mapping[str, Any],
    backends: Backends,
    *,
    deadline: Deadline | None = None,
    correlation_id: str | None = None,
    progress: Progress | None = None,
    unattended: bool = False,
    caller: Caller | None = None,
    local: bool = False,
) -> Outcome:
    """Call a tool with JSON `arguments`, or read a resource with the parameters of its address; never raises.

    Without a `deadline` its own time-out holds. `unattended`: nobody reads the answer, as for a queued call.
    `caller` is whom the access token names, None where none is needed; one who lacks the tool's scope is refused, and
    none sees the projects of another tenant.
    `local`: the user of this machine calls.
    """
    deadline = deadline or Deadline(what.timeout)
    context = Context(correlation_id or uuid4().hex, deadline, progress or silent, unattended, caller, local)
    return perform(what, arguments, context, backends=backends)


read = call


def perform(
    what: Tool | Resource, arguments: Mapping[str, Any], context: Context, *, backends: Backends, local: bool = False
) -> Outcome:
    """Call a tool or read a resource in `context`; never raises. `local`: whatever the context says, the user of this
    machine calls.

    A call of a tool that only reads is recorded, where the backends have a recorder.
    """
    started, given = time.perf_counter(), dict(arguments)
    context = replace(context, local=context.local or local)
    recorder: Recorder | None = None
    if isinstance(what, Tool) and what.read_only:
        try:
            recorder = getattr(backends, "recorder", None)
        except Failure as problem:  # which fails no call
            log.info("no call is recorded: %s", problem)
    trace = Reads() if recorder else None
    caller = context.caller
    meter = Meter(caller, lambda: getattr(backends, "limits", None)) if caller and not context.local else None
    own = CallBackends(backends, caller, local=context.local, trace=trace)
    running = replace(context, meter=meter, cache_use=CacheUse(), found={})
    failure: Exception | None = None
    body: dict[str, Any] = {}
    with entered(running), call_span(what.name, context.correlation_id) as failed:
        try:
            if not may(caller, what.scope):
                raise forbidden(what.name, what.scope)
            if not context.unattended:
                spend("calls")
            body = _answer(what, given, own, running)
            if isinstance(what, Tool) and what.next_step and (step := what.next_step(body)):
                body["next_step"] = step
        except Exception as problem:  # noqa: BLE001  everything is answered, and logged below
            failure = problem
            failed(type(problem).__name__)
        outcome = _outcome(what, given, body, failure, running, started)
        if recorder and not outcome.failed:
            recorder.record(partial(_record, what, given, outcome, own), trace, backends)
    return outcome


def _record(what: Tool | Resource, given: dict[str, Any], outcome: Outcome, own: CallBackends) -> CallRecord:
    """The call for the log, by its name among those of all tenants."""
    audit = outcome.audit
    taken = {name: audit[name] for name in ("in_hash", "out_hash", "status", "latency_ms")}
    return CallRecord(own.names.stored(audit["correlation_id"]), what.name, given, at=own.now(), **taken)


def _answer(what: Tool | Resource, given: dict[str, Any], backends: Backends, context: Context) -> dict[str, Any]:
    """The body of the answer. Its warnings begin with what was read as another value than it was sent as."""
    if isinstance(what, Tool):
        request, read_otherwise = read_arguments(what, given, backends, context.deadline)
        body = _body(what.run(request, backends, *((context,) if what.wants_context else ())))
        return {**body, "warnings": [*read_otherwise, *body.get("warnings", ())]} if read_otherwise else body
    if any(re.search("[\ud800-\udfff]", each) for each in given.values()):
        raise InvalidInput("the address of the resource is no text; it has half a character")
    return _body(what.run(backends, **given, **({"context": context} if what.wants_context else {})))


def _body(answer: BaseModel) -> dict[str, Any]:
    return answer.model_dump(mode="json", exclude_unset=True)


def failed_outcome(
    what: Tool | Resource, given: Mapping[str, Any], problem: Exception, context: Context, started: float | None = None
) -> Outcome:
    """The outcome of a call that never reached its tool, audited like any other.

    `started` is when it began, by `time.perf_counter`.
    """
    with entered(context):
        return _outcome(what, dict(given), {}, problem, context, time.perf_counter() if started is None else started)


def _outcome(
    what: Tool | Resource,
    given: dict[str, Any],
    body: dict[str, Any],
    problem: Exception | None,
    context: Context,
    started: float,
) -> Outcome:
    """Audit and log a call. A bug is logged with its traceback and answered with `bug`."""
    failure = problem if isinstance(problem, Failure) else None
    if failure:
        body = envelope(failure, what.family.dialect)
    elif problem:
        log.error("%s failed", what.name, exc_info=problem, extra={"correlation_id": context.correlation_id})
        body = bug(context.correlation_id)
    outcome = Outcome(body, {}, failure, context.meter.summary if context.meter else {})
    if (seen := sanitized(body, outcome.text)) is not body:
        outcome = replace(outcome, body=(body := seen))
    code = body["error"].get("code") if "error" in body else None
    audit = outcome.audit
    audit |= _audit(given, body, context, round((time.perf_counter() - started) * 1000))
    if what.family.audited and isinstance(what, Tool):  # a resource's payload is the contract's, and no more
        more = {key: audit[key] for key in ("in_hash", "out_hash", "latency_ms", "seed", "status")}
        outcome = replace(outcome, body={**body, "audit": more})
    why = {"failure": type(failure).__name__} if "error" in body else {}  # NoneType for a bug
    log.info("call", extra={"tool": what.name, "code": code, **why, **audit})
    return outcome


def envelope(failure: Failure, dialect: Dialect) -> dict[str, Any]:
    """The error envelope of `failure`, in the codes of a family."""
    brief = {name: excerpt(each) if isinstance(each, str) else each for name, each in failure.details.items()}
    details = {"retryable": failure.retryable, **brief}
    if failure.retry_after_s is not None:
        details["retry_after_s"] = failure.retry_after_s
    return {
        "error": {"code": code_for(failure, dialect), "message": excerpt(str(failure), LONGEST), "details": details}
    }


def bug(correlation_id: str) -> dict[str, Any]:
    """The error envelope of a bug: where to look in the log, and nothing else."""
    message = f"internal error; the log has it under correlation id {correlation_id}"
    return {"error": {"code": UNKNOWN, "message": message, "details": {"retryable": False}}}


def _audit(given: Any, body: Any, context: Context, latency_ms: int) -> dict[str, Any]:
    """The audit record: hashes of input and output, never their text.

    `seed` is the first 8 bytes of `in_hash` as an integer. It may exceed 2^53, which JSON readers round, hence
    `seed_text`.
    """
    in_hash = _sha256(given)
    seed = int(in_hash[:16], 16)
    return {
        "correlation_id": context.correlation_id,
        "in_hash": in_hash,
        "out_hash": _sha256(body),
        "seed": seed,
        "seed_text": str(seed),
        "latency_ms": latency_ms,
        "status": "error" if "error" in body else "ok",
        **who(context.caller),
        **(context.cache_use.summary if context.cache_use else {}),
    }


def _sha256(value: Any) -> str:
    """SHA-256, in hex, of canonical JSON (RFC 8785).

    Values without a canonical form (2^53 + 1, an unpaired surrogate) are hashed as sorted JSON. All values nested
    deeper than the interpreter can follow have the same hash.
    """
    try:
        plain = _as_python_writes_it(value)
        if plain is not _OTHERWISE:
            canonical = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
        else:
            canonical = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError):
        canonical = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:
        canonical = b"nested too deep"
    return hashlib.sha256(canonical).hexdigest()


_OTHERWISE = object()


def _as_python_writes_it(value: Any) -> Any:
    """The value, where Python's own encoder writes it in canonical form, several times as fast; else `_OTHERWISE`.

    It writes 1.0 for 1, small and large floats with another exponent, and sorts keys beyond ASCII in another order.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if -(2**53) < value < 2**53 else _OTHERWISE
    if kind is float:
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
        return value if 1e-4 <= abs(value) < 1e15 else _OTHERWISE
    if kind is list:
        items = [_as_python_writes_it(each) for each in value]
        return _OTHERWISE if _OTHERWISE in items else items
    if kind is dict and "".join(value).isascii():
        fields = {key: _as_python_writes_it(each) for key, each in value.items()}
        return _OTHERWISE if _OTHERWISE in fields.values() else fields
    return _OTHERWISE
