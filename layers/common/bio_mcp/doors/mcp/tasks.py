"""Tasks (SEP-2663, `io.modelcontextprotocol/tasks`): long work for clients that ask again for it.

A task is a job, and its id is the job's, so nothing is held here. A call of such a client that does not end within
`WAIT_S` is answered by a task; `tasks/get` reads the job and, once it has ended, has the tool report its result.
Clients without the extension are answered as ever.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value

from bio_mcp.call import Outcome
from bio_mcp.doors.mcp.listing import RequestContext, body_of
from bio_mcp.tool import Resource, Tool
from bio_mcp.untrusted import notes

EXTENSION = "io.modelcontextprotocol/tasks"
ERA = "2026-07-28"
JOB, CANCEL = "job://{job_id}", "jobs.cancel"
WAIT_S = 10.0  # more than a job needs to see whether there is time for its first slice
POLL_MS = 2_000
TTL_MS = 7 * 24 * 3_600_000  # jobs are stored longer
GOES_ON = {"continues", "running", "queued"}
STATUS = {"running": "working", "waiting": "working", "cancelled": "cancelled"}  # of any other the result is told


TaskParams = types.GetTaskRequestParams
CallTool = Callable[..., Awaitable[types.CallToolResult | types.InputRequiredResult]]
"""Answers `tools/call`, within so many seconds if a third argument says so."""
Run = Callable[[Tool | Resource, Mapping[str, Any], RequestContext], Awaitable[Outcome]]


@dataclass(frozen=True)
class Tasks:
    """Answers `tools/call`, `tasks/get`, `tasks/update` and `tasks/cancel` over these tools and their jobs."""

    tools: Mapping[str, Tool]
    job: Resource
    call: CallTool
    run: Run

    def offer(self, server: Server[Any]) -> None:
        """Let `server` offer the extension."""
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)
        for name, handler in (("get", self.get), ("update", self.update), ("cancel", self.cancel)):
            server.add_request_handler(f"tasks/{name}", TaskParams, handler)

    async def call_tool(self, context: RequestContext, params: types.CallToolRequestParams) -> Any:
        """Call a tool; a client of the extension is given a task for what goes on as a job."""
        tool = self.tools.get(params.name)
        may_go_on = tool is not None and not tool.read_only and "job_id" in tool.output.model_fields
        if not (declared(context) and may_go_on):
            return await self.call(context, params)
        result = await self.call(context, params, WAIT_S)
        if isinstance(result, types.InputRequiredResult):
            return result
        body = result.structured_content or {}
        if result.is_error or body.get("state", body.get("status")) not in GOES_ON:
            return result
        job = await self._read(context, body["job_id"])
        return {**task_of(job), "resultType": "task"} if job["tool"] else result

    async def get(self, context: RequestContext, params: TaskParams) -> dict[str, Any]:
        """Answer `tasks/get`."""
        job = await self._known(context, params)
        if job["state"] in STATUS:
            return task_of(job)
        if job["state"] == "stalled":  # nothing continues it
            message = (
                f"{job['job_id']} stalled: {job['problem']}. Call {job['tool']} again: it goes on where it stopped."
            )
            content: list[types.ContentBlock] = [types.TextContent(text=each) for each in (message, *notes(job))]
            result: types.CallToolResult | types.InputRequiredResult = types.CallToolResult(
                content=content, is_error=True
            )
        else:
            again = types.CallToolRequestParams(name=job["tool"], arguments=job["arguments"])
            try:
                result = await self.call(context, again)
            except MCPError as problem:
                error = problem.error.model_dump(mode="json", by_alias=True, exclude_none=True)
                return {**task_of(job), "status": "failed", "error": error}
        return {**task_of(job), "result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}

    async def update(self, context: RequestContext, params: TaskParams) -> dict[str, Any]:
        """Answer `tasks/update`: no task asks for anything, so there is nothing to be answered."""
        await self._known(context, params)
        return {"resultType": "complete"}

    async def cancel(self, context: RequestContext, params: TaskParams) -> dict[str, Any]:
        """Answer `tasks/cancel`. One that has ended stays as it is."""
        job = await self._known(context, params)
        body_of(await self.run(self.tools[CANCEL], {"job_id": job["job_id"]}, context))
        return {"resultType": "complete"}

    async def _known(self, context: RequestContext, params: TaskParams) -> dict[str, Any]:
        """The job of a task. Raises `MCPError` for a client without the extension and for an unknown id."""
        if context.protocol_version != ERA:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", context.method)
        if not declared(context):
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"The client did not declare {EXTENSION}", needed)
        headers = getattr(context.request, "headers", None)
        if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != params.task_id:
            raise MCPError(types.HEADER_MISMATCH, f"{MCP_NAME_HEADER} header does not match the parameter taskId")
        job = await self._read(context, params.task_id)
        if job["tool"] is None:
            raise MCPError(types.INVALID_PARAMS, "Unknown task")
        return job

    async def _read(self, context: RequestContext, job_id: str) -> dict[str, Any]:
        if (parameters := self.job.match(JOB.format(job_id=job_id))) is None:
            raise MCPError(types.INVALID_PARAMS, "Unknown task")
        return body_of(await self.run(self.job, parameters, context))


def declared(context: RequestContext) -> bool:
    """Whether the client of this request has the extension."""
    offered = context.session.client_capabilities if context.protocol_version == ERA else None
    return bool(offered and EXTENSION in (offered.extensions or {}))


def task_of(job: dict[str, Any]) -> dict[str, Any]:
    """A job as a task, without its result."""
    message = f"{job['processed']:,} of {job['expected']:,}" + (f"; {job['problem']}" if job["problem"] else "")
    return {
        "resultType": "complete",
        "taskId": job["job_id"],
        "status": STATUS.get(job["state"], "completed"),
        "statusMessage": message,
        "createdAt": job["created_at"],
        "lastUpdatedAt": job["updated_at"],
        "ttlMs": TTL_MS,
        "pollIntervalMs": POLL_MS,
    }
