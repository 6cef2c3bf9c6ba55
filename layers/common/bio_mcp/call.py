"""Run a tool: validate the input, run it, audit it, and turn any failure into an error envelope.

Every call of every door passes here exactly once, and nothing raised by a tool gets past it.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args
from uuid import uuid4

import rfc8785
from pydantic import BaseModel, ValidationError

from bio_mcp import tenants
from bio_mcp.cache_use import CacheUse, counting
from bio_mcp.callers import Caller, forbidden, may, on_behalf_of, who
from bio_mcp.deadline import Deadline, bounded_by
from bio_mcp.dialects import UNKNOWN, Dialect, code_for
from bio_mcp.errors import Failure, InvalidInput
from bio_mcp.metering import Meter, metered, spend
from bio_mcp.one_index import one_index
from bio_mcp.ports import Backends
from bio_mcp.ports.calls import Recorder
from bio_mcp.progress import Progress, silent
from bio_mcp.tool import Context, Resource, Tool
from bio_mcp.untrusted import neutral

log = logging.getLogger("bio_mcp.call")

PROBLEMS = 10  # at most in the error about bad input
ECHOED = 200  # characters of what a client sent, at most, in an error
LONGEST = 3_000  # characters of an error's message


@dataclass(frozen=True, slots=True)
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

    @property
    def text(self) -> str:
        """The body as JSON: the text content of an MCP result, equal to its structured content."""
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":"))


def call(
    tool: Tool,
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
    """Call `tool` with JSON `arguments`; never raises.

    Without a `deadline` the tool's own time-out holds. `unattended`: nobody reads the answer, as for a queued call.
    `caller` is whom the access token names, None where none is needed; one who lacks the tool's scope is refused, and
    none sees the projects of another tenant.
    `local`: the user of this machine calls.
    """
    deadline = deadline or Deadline(tool.timeout)
    context = Context(correlation_id or uuid4().hex, deadline, progress or silent, unattended, caller, local)
    recorder = _recorder_of(backends) if tool.read_only else None
    seen = tenants.view(backends, caller, local=local)
    watch = recorder.watch(seen) if recorder else None
    read_from = watch.backends if watch else seen

    def run() -> BaseModel:
        if not unattended:
            spend("calls")
        request = _parse(tool, arguments)
        with one_index():
            return tool.run(request, read_from, context) if tool.wants_context else tool.run(request, read_from)

    outcome = _account(tool, run, dict(arguments), context, meter=_meter(backends, None if local else caller))
    if watch:
        watch.record(tool.name, arguments, outcome.audit)
    return outcome


def _recorder_of(backends: Backends) -> Recorder | None:
    """Who records calls; nobody where none is, or where it cannot be had: that fails no call."""
    try:
        return getattr(backends, "recorder", None)
    except Failure as failure:
        log.info("no call is recorded: %s", failure)
        return None


def read(
    resource: Resource,
    parameters: Mapping[str, str],
    backends: Backends,
    *,
    correlation_id: str | None = None,
    caller: Caller | None = None,
    local: bool = False,
) -> Outcome:
    """Read `resource`; never raises. `caller` and `local` are as of `call`."""
    context = Context(correlation_id or uuid4().hex, Deadline(resource.timeout), caller=caller, local=local)
    wanted = {**parameters, "context": context} if resource.wants_context else parameters
    seen = tenants.view(backends, caller)

    def run() -> BaseModel:
        spend("calls")
        if any(re.search("[\ud800-\udfff]", each) for each in parameters.values()):
            raise InvalidInput("the address of the resource is no text; it has half a character")
        return resource.run(seen, **wanted)

    return _account(resource, run, dict(parameters), context, meter=_meter(backends, caller))


def _meter(backends: Backends, caller: Caller | None) -> Meter | None:
    """Charges what the call uses; nothing does without a caller."""
    return Meter(caller, lambda: getattr(backends, "limits", None)) if caller else None


def failed_outcome(
    what: Tool | Resource,
    given: Mapping[str, Any],
    problem: Exception,
    *,
    correlation_id: str,
    started: float | None = None,
    caller: Caller | None = None,
) -> Outcome:
    """The outcome of a call that never reached its tool, audited like any other.

    `started` is when it began, by `time.perf_counter`.
    """

    def run() -> BaseModel:
        raise problem

    context = Context(correlation_id, Deadline(what.timeout), caller=caller)
    return _account(what, run, dict(given), context, started)


def _account(
    what: Tool | Resource,
    run: Callable[[], BaseModel],
    given: Any,
    context: Context,
    started: float | None = None,
    meter: Meter | None = None,
) -> Outcome:
    """Run, audit and log a call. A bug is logged with its traceback and answered with `bug`."""
    started = time.perf_counter() if started is None else started
    failed: Failure | None = None
    with counting() as cache_use, bounded_by(context.deadline), on_behalf_of(context.caller), metered(meter):
        try:
            if not may(context.caller, what.scope):
                raise forbidden(what.name, what.scope)
            body = run().model_dump(mode="json", exclude_unset=True)
        except Failure as failure:
            failed, body = failure, envelope(failure, what.family.dialect)
        except Exception:
            log.exception("%s failed", what.name, extra={"correlation_id": context.correlation_id})
            body = bug(context.correlation_id)
    body = neutral(body)
    audit = _audit(given, body, context, round((time.perf_counter() - started) * 1000)) | _cached(cache_use)
    if what.family.audited and isinstance(what, Tool):  # a resource's payload is the contract's, and no more
        body["audit"] = {key: audit[key] for key in ("in_hash", "out_hash", "latency_ms", "seed", "status")}
    why = {"failure": type(failed).__name__} if "error" in body else {}  # NoneType for a bug
    log.info("call", extra={"tool": what.name, "code": body.get("error", {}).get("code"), **why, **audit})
    return Outcome(body, audit, failed, meter.summary if meter else {})


def _parse(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """The request as a model. Raises `InvalidInput` with one sentence per problem, at most `PROBLEMS` of them."""
    try:
        return tool.input.model_validate(dict(arguments))
    except ValidationError as error:
        problems = [
            _located(each) for each in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        shown = problems[:PROBLEMS]
        sentences = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {_plain(each, tool)}" for each in shown]
        more = [f"and {len(problems) - PROBLEMS} more"] if len(problems) > PROBLEMS else []
        raise InvalidInput("; ".join(dict.fromkeys(sentences + more)), problems=shown) from None


def _located(problem: Mapping[str, Any]) -> dict[str, Any]:
    """The problem with long names cut, since a client may give an unknown parameter any name."""
    loc = tuple(excerpt(each, 50) if isinstance(each, str) else each for each in problem["loc"])
    return {**problem, "loc": loc, "msg": excerpt(problem["msg"].removeprefix("Value error, "))}


def excerpt(text: str, most: int = ECHOED) -> str:
    """Cut `text` to `most` characters: long input is not echoed in full."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text)} characters)"


def _plain(problem: Mapping[str, Any], tool: Tool) -> str:
    """Describe a validation problem in a sentence that names the parameters and their meaning."""
    model, description = _place(tool.input, problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"not a parameter of {tool.portable_name}; it takes {', '.join(model.model_fields)}"
    if problem["type"] == "model_type":
        return f"should be an object with {', '.join(model.model_fields)}"
    message = "should be a string, in quotes" if problem["type"] == "string_type" else problem["msg"]
    return f"{message}; it is {description}" if description else str(message)


def _place(model: type[BaseModel], loc: Sequence[str | int]) -> tuple[type[BaseModel], str | None]:
    """The innermost model on the path `loc`, and the description of the innermost field that has one."""
    description = None
    for name in loc:
        if field := model.model_fields.get(str(name)):
            description = field.description or description
            model = next((each for each in _inside(field.annotation) if issubclass(each, BaseModel)), model)
    return model, description


def _inside(annotation: Any) -> tuple[type, ...]:
    """The classes in a field's annotation; `list[X]` includes X."""
    inner = tuple(each for given in get_args(annotation) for each in _inside(given))
    return (annotation, *inner) if isinstance(annotation, type) and not get_args(annotation) else inner


def envelope(failure: Failure, dialect: Dialect) -> dict[str, Any]:
    """The error envelope of `failure`, in the codes of a family."""
    details = {"retryable": failure.retryable, **{name: _brief(each) for name, each in failure.details.items()}}
    if failure.retry_after_s is not None:
        details["retry_after_s"] = failure.retry_after_s
    return {
        "error": {"code": code_for(failure, dialect), "message": excerpt(str(failure), LONGEST), "details": details}
    }


def _brief(value: Any) -> Any:
    return excerpt(value) if isinstance(value, str) else value


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
    }


def _cached(cache_use: CacheUse) -> dict[str, Any]:
    """How much of the answer came from a cache, and as of when the index is; empty where none was asked."""
    return ({"cache": summary} if (summary := cache_use.summary) else {}) | cache_use.index


def _sha256(value: Any) -> str:
    """SHA-256, in hex, of canonical JSON (RFC 8785).

    Values without a canonical form (2^53 + 1, an unpaired surrogate) are hashed as sorted JSON. All values nested
    deeper than the interpreter can follow have the same hash.
    """
    try:
        canonical = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError):
        canonical = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:
        canonical = b"nested too deep"
    return hashlib.sha256(canonical).hexdigest()
