"""Refuses calls beyond a token's scopes with the status that clients ask for more upon (RFC 6750, 3.1)."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from mcp_types import INVALID_REQUEST
from starlette.responses import JSONResponse, Response

from bio_mcp.call import failed_outcome
from bio_mcp.callers import Caller, forbidden, is_anonymous, may
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.bearer import challenge
from bio_mcp.tool import Resource, Tool, by_any_name


class ScopeCheck:
    """Checks JSON-RPC messages before a session reads them, as an answer in a stream has no status any more."""

    def __init__(self, declared: Iterable[Tool | Resource], access: Access | None) -> None:
        declared = list(declared)
        self._tools = by_any_name(each for each in declared if isinstance(each, Tool))
        self._resources = [each for each in declared if isinstance(each, Resource)]
        self._access = access

    def refusal(self, message: Any, caller: Caller | None) -> Response | None:
        """The answer to a caller who lacks the scope of what the message calls or reads; None otherwise.

        One without a token is asked for one (401), any other told which scope is missing (403). The body is a JSON-RPC
        error with the failure.
        """
        if self._access is None or caller is None or not isinstance(message, dict):
            return None
        what, given = self._addressed(message)
        if what is None or may(caller, what.scope):
            return None
        problem = forbidden(what.name, what.scope)
        outcome = failed_outcome(what, given, problem, correlation_id=uuid4().hex, caller=caller)
        status, error = (401, "") if is_anonymous(caller) else (403, "insufficient_scope")
        headers = {"www-authenticate": challenge(self._access, error, str(problem) if error else "", [what.scope])}
        failure = {"code": INVALID_REQUEST, "message": str(problem), "data": outcome.body}
        return JSONResponse({"jsonrpc": "2.0", "id": message.get("id"), "error": failure}, status, headers)

    def _addressed(self, message: Mapping[str, Any]) -> tuple[Tool | Resource | None, Mapping[str, Any]]:
        """What the message calls or reads, and with which arguments."""
        params = message.get("params")
        given: Mapping[str, Any] = params if isinstance(params, dict) else {}
        name, uri, arguments = given.get("name"), given.get("uri"), given.get("arguments")
        if message.get("method") == "tools/call" and isinstance(name, str):
            return self._tools.get(name), arguments if isinstance(arguments, dict) else {}
        if message.get("method") == "tasks/cancel":
            return self._tools.get("jobs.cancel"), {}
        if message.get("method") == "resources/read" and isinstance(uri, str):
            for each in self._resources:
                if (parameters := each.match(uri)) is not None:
                    return each, parameters
        return None, {}
