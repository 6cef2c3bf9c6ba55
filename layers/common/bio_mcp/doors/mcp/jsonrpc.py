"""Checks JSON-RPC's envelope before the SDK does, which drops a request without an answer if its id is invalid."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from starlette.responses import JSONResponse, Response

MAX_CHARS = 200  # characters of a name or an id, which an error answer echoes
MAX_ID = 2**53  # of an id that is a number
TOO_LONG = f"is longer than {MAX_CHARS} characters"
NO_MESSAGE = "a message of JSON-RPC has jsonrpc: 2.0, a method and, if it asks for an answer, an id"
SHORT_VALUE = f"must be a string of at most {MAX_CHARS} characters or a whole number"


def parsed(body: bytes) -> Any:
    """The JSON message in `body`; None if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def invalid_request(message: Any) -> Response | None:
    """The error answer to an object that is no message of JSON-RPC, and to a request with an invalid or oversized id,
    method, name or progress token; None otherwise.

    An oversized value would be echoed in the answer. What else is no request is left to the SDK, which rejects it.
    """
    if not isinstance(message, dict):
        return None
    if message.get("jsonrpc") != "2.0" or not message.keys() & {"method", "result", "error"}:
        return _error(INVALID_REQUEST, NO_MESSAGE)
    if "id" in message and not _is_id(message["id"]):
        return _error(INVALID_REQUEST, f"id {SHORT_VALUE}")
    if _is_long(message.get("method")):
        return _error(INVALID_REQUEST, f"method {TOO_LONG}", message.get("id"))
    params = _object(message.get("params"))
    if not _is_id(_object(params.get("_meta")).get("progressToken", 0)):
        return _error(INVALID_PARAMS, f"progressToken {SHORT_VALUE}", message.get("id"))
    if _is_long(params.get("name")):
        return _error(INVALID_PARAMS, f"name {TOO_LONG}", message.get("id"))
    return None


def wants_progress(message: Any) -> bool:
    """Whether the request asks for progress."""
    return isinstance(message, dict) and "progressToken" in _object(_object(message.get("params")).get("_meta"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_CHARS
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_ID


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > MAX_CHARS


def _error(code: int, why: str, answers: int | str | None = None) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": answers, "error": {"code": code, "message": why}}, 400)
