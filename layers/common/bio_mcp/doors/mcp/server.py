"""MCP, whatever carries it: one server over the tools and resources.

Names are listed in the portable form (`pubmed_sync_delta`), since several clients failed_outcome a whole server for one
dot; the contract's name stands in `title` and `_meta`, and a call may use either. A tool's failure is a result with
`isError`, so that the model reads it; only what is not there at all is a JSON-RPC error.
"""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from bio_mcp import __version__
from bio_mcp.call import Outcome, call, excerpt, failed_outcome, read
from bio_mcp.deadline import Deadline
from bio_mcp.doors.auth.permissions import permission_of
from bio_mcp.doors.mcp.listing import META, Asked, Listing
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress
from bio_mcp.tool import Context, Resource, Tool, by_any_name

INSTRUCTIONS = (
    "Biomedical literature from PubMed, held in a local index, perhaps of few papers. Search with rag_search (a "
    "question or key terms; each hit names a paper by doc_id, such as pmid:12345; scores order one answer only, and "
    "match weak marks what does not fit), then read a paper with rag_get before citing it: give its PMID, and never "
    "rest a claim on one whose retraction status is retracted. If the corpus lacks a topic, "
    "pubmed_sync_delta brings in what PubMed has on it; running it again only adds what is new. "
    "searchPubMedArticles, fetchArticleDetails and getArticleRelationships ask PubMed itself, live. "
    "An error's message says what to change; details.retryable says whether the same call may work later."
)
CALLERS_FAULT = {"VALIDATION", "NOT_FOUND", "INVALID_ARG", "INVALID_PROJECT"}
PATIENCE_S = 1.0  # with a client that asked for progress and does not read it
THREADS = 40  # of each kind: tools that wait for NCBI, and tools of the corpus, which must not wait for those
LIST_FOR = CacheHint(ttl_ms=300_000, scope="public")

Invoke = Callable[[Tool | Resource, Mapping[str, Any], Context], Outcome]


def in_process(backends: Backends) -> Invoke:
    """Run tools and resources here, over `backends`."""

    def invoke(what: Tool | Resource, arguments: Mapping[str, Any], context: Context) -> Outcome:
        if isinstance(what, Resource):
            return read(what, arguments, backends, correlation_id=context.correlation_id, caller=context.caller)
        return call(
            what,
            arguments,
            backends,
            deadline=context.deadline,
            correlation_id=context.correlation_id,
            progress=context.progress,
            caller=context.caller,
        )

    return invoke


def server(
    tools: Iterable[Tool],
    resources: Iterable[Resource],
    invoke: Invoke,
    *,
    names: str = "portable",
    families: Sequence[str] = (),
) -> Server[Any]:
    """An MCP server, without a transport. `names` (portable or contract) and `families` are what is listed unless the
    endpoint's query says otherwise. Raises `Misconfigured` when a family does not exist."""
    listing = Listing(tuple(tools), names, tuple(families))
    running = Running(invoke)
    reading = Reading(tuple(resources), running)
    calling = Calling(by_any_name(listing.tools), running)
    return Server(
        "bio-mcp",
        version=__version__,
        title="bio-mcp: biomedical literature",
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": LIST_FOR,
            "resources/list": LIST_FOR,
            "resources/templates/list": LIST_FOR,
            "server/discover": LIST_FOR,
        },
        get_tool_input_schema=calling.input_schema,
        on_list_tools=listing.list_tools,
        on_call_tool=calling.call_tool,
        on_list_resources=reading.list_resources,
        on_list_resource_templates=reading.list_templates,
        on_read_resource=reading.read_resource,
    )


class Running:
    """Invokes in worker threads, those that wait for services that are not ours apart from the others."""

    def __init__(self, invoke: Invoke) -> None:
        self._invoke = invoke
        self._threads = {open_world: anyio.CapacityLimiter(THREADS) for open_world in (False, True)}

    async def run(self, what: Tool | Resource, arguments: Mapping[str, Any], asked: Asked) -> Outcome:
        """The outcome, which is a refusal where the caller's token does not allow the call. When the caller goes away,
        the call's deadline is over at once."""
        deadline, permission = Deadline(what.timeout), permission_of(asked.request)
        context = Context(uuid4().hex, deadline, _progress(asked, deadline), caller=permission.subject)
        if not permission.may_write and isinstance(what, Tool) and not what.read_only:
            call_id, caller = context.correlation_id, context.caller
            return failed_outcome(what, arguments, permission.problem(what.name), correlation_id=call_id, caller=caller)
        invoke, threads = partial(self._invoke, what, arguments, context), self._threads[what.open_world]
        try:
            return await anyio.to_thread.run_sync(invoke, abandon_on_cancel=True, limiter=threads)
        except anyio.get_cancelled_exc_class():
            deadline.expire()
            raise


@dataclass(frozen=True)
class Calling:
    """`tools/call`, in a worker thread."""

    tools: Mapping[str, Tool]
    running: Running

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        return self.tools[name].input_schema if name in self.tools else None

    async def call_tool(self, asked: Asked, params: types.CallToolRequestParams) -> types.CallToolResult:
        if (tool := self.tools.get(params.name)) is None:
            known = list(dict.fromkeys(each.portable_name for each in self.tools.values()))
            name = excerpt(params.name)
            message = f"Unknown tool: {name}. Available tools: {', '.join(known)}"
            raise MCPError(types.INVALID_PARAMS, message, {"tool": name, "available": known})
        outcome = await self.running.run(tool, params.arguments or {}, asked)
        return types.CallToolResult(
            content=[types.TextContent(text=outcome.text)],
            structured_content=outcome.body,
            is_error=outcome.failed,
            _meta={META + "audit": outcome.audit},
        )


@dataclass(frozen=True)
class Reading:
    """`resources/list`, `resources/templates/list` and `resources/read`."""

    resources: tuple[Resource, ...]
    running: Running

    async def list_resources(
        self, _asked: Asked, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        plain = [
            types.Resource(uri=each.uri, name=each.name, description=each.description, mime_type=each.mime_type)
            for each in self.resources
            if not each.parameters
        ]
        return types.ListResourcesResult(resources=plain)

    async def list_templates(
        self, _asked: Asked, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                uri_template=each.uri, name=each.name, description=each.description, mime_type=each.mime_type
            )
            for each in self.resources
            if each.parameters
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, asked: Asked, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        for resource in self.resources:
            if (parameters := resource.match(params.uri)) is not None:
                return await self._read(resource, parameters, params.uri, asked)
        known = [each.uri for each in self.resources]
        message = f"Unknown resource. Available: {', '.join(known)}"
        raise MCPError(types.INVALID_PARAMS, message, {"uri": excerpt(params.uri), "available": known})

    async def _read(
        self, resource: Resource, parameters: Mapping[str, str], uri: str, asked: Asked
    ) -> types.ReadResourceResult:
        outcome = await self.running.run(resource, parameters, asked)
        if outcome.failed:
            error = outcome.body["error"]
            code = types.INVALID_PARAMS if error["code"] in CALLERS_FAULT else types.INTERNAL_ERROR
            raise MCPError(code, error["message"], {"uri": uri, **outcome.body})
        return types.ReadResourceResult(
            contents=contents(resource, uri, outcome.text), _meta={META + "audit": outcome.audit}
        )


def contents(resource: Resource, uri: str, text: str) -> list[types.TextResourceContents | types.BlobResourceContents]:
    """What was read, first in the form in which the resource's contract has it; a model cannot read a blob."""
    plain = types.TextResourceContents(uri=uri, mime_type=resource.mime_type, text=text)
    if not resource.blob:
        return [plain]
    blob = base64.b64encode(text.encode()).decode()
    return [types.BlobResourceContents(uri=uri, mime_type=resource.mime_type, blob=blob), plain]


def _progress(asked: Asked, deadline: Deadline) -> Progress:
    """Progress from the worker thread; what nobody asked for, or can receive any more, is dropped."""

    async def report(done: int, total: int | None, message: str) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError), anyio.move_on_after(PATIENCE_S):
            await asked.session.report_progress(done, total, message)

    asked_for = "progress_token" in (asked.meta or {})

    def progress(done: int, total: int | None, message: str) -> None:
        if asked_for and deadline.remaining > 0:
            anyio.from_thread.run(report, done, total, message)

    return progress
