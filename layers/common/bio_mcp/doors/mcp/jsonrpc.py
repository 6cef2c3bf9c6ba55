"""JSON-RPC's envelope, looked at before the SDK does, which drops a request without an answer when its id is no id."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from starlette.responses import JSONResponse, Response

LONGEST = 200  # characters of a name or an id: whatever is refused is answered with
LARGEST = 2**53  # of an id that is a number
TOO_LONG = f"is longer than {LONGEST} characters"
A_SHORT_ONE = f"must be a string of at most {LONGEST} characters or a whole number"


def parsed(body: bytes) -> Any:
    """The message in `body`; None where that is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def refusal(message: Any) -> Response | None:
    """What to answer to a request that cannot be answered, or would be with all that it carries; None for others, and
    for what is no request, about which the SDK says enough."""
    if not isinstance(message, dict):
        return None
    if "id" in message and not _is_id(message["id"]):
        return _refused(INVALID_REQUEST, f"id {A_SHORT_ONE}")
    if _is_long(message.get("method")):
        return _refused(INVALID_REQUEST, f"method {TOO_LONG}", message.get("id"))
    params = _object(message.get("params"))
    if not _is_id(_object(params.get("_meta")).get("progressToken", 0)):
        return _refused(INVALID_PARAMS, f"progressToken {A_SHORT_ONE}", message.get("id"))
    if _is_long(params.get("name")):
        return _refused(INVALID_PARAMS, f"name {TOO_LONG}", message.get("id"))
    return None


def wants_progress(message: Any) -> bool:
    return isinstance(message, dict) and "progressToken" in _object(_object(message.get("params")).get("_meta"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > LONGEST


def _refused(code: int, why: str, answers: int | str | None = None) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": answers, "error": {"code": code, "message": why}}, 400)
