"""Questions to the person at a client, where a call waits for somebody's yes (`errors.Unconfirmed`).

A client of 2026-07-28 that can ask its user is answered with `input_required`, and calls again with what was said. An
older one is sent the question while the call is open, where the connection carries one. Any other reads the error,
which says what to give for yes.
"""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from bio_mcp.call import Outcome
from bio_mcp.doors.mcp.listing import RequestContext
from bio_mcp.doors.mcp.tasks import ERA

QUESTION, YES = "confirm", "yes"
FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {YES: {"type": "boolean", "title": "Do it", "default": False}},
    "required": [YES],
}
LONGEST = 1_000  # characters of what a client sends back


def agreed(params: types.CallToolRequestParams) -> dict[str, Any]:
    """The arguments to which the person said yes; none where nobody was asked, or said no."""
    said = (params.input_responses or {}).get(QUESTION)
    if not (_is_yes(said) and params.request_state and len(params.request_state) <= LONGEST):
        return {}
    try:
        given = json.loads(params.request_state)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


async def asked(
    context: RequestContext, params: types.CallToolRequestParams, outcome: Outcome, already: Mapping[str, Any]
) -> types.InputRequiredResult | dict[str, Any] | None:
    """The question that an outcome asks, for a client that puts it to its user; or the arguments to which an older
    client's user has just said yes. None where there is nothing to ask, nobody to be asked, or the answer was no.

    `already` is what was agreed to before.
    """
    details = outcome.body.get("error", {}).get("details") or {}
    means: dict[str, Any] = details.get("confirm") or {}
    said_no = params.input_responses and not already
    if said_no or means.items() <= already.items() or not _can_ask(context):
        return None
    form = types.ElicitRequestFormParams(message=details["why"], requested_schema=dict(FORM))
    if context.protocol_version == ERA:
        return types.InputRequiredResult(
            input_requests={QUESTION: types.ElicitRequest(params=form)},
            request_state=json.dumps({**already, **means}),
        )
    try:
        said = await context.session.elicit_form(form.message, form.requested_schema, context.request_id)
    except MCPError:  # as where the connection is of one request
        return None
    return {**already, **means} if _is_yes(said) else None


def _is_yes(said: object) -> bool:
    return isinstance(said, types.ElicitResult) and said.action == "accept" and (said.content or {}).get(YES) is True


def _can_ask(context: RequestContext) -> bool:
    offered = context.session.client_capabilities
    asks = offered.elicitation if offered else None
    return asks is not None and (asks.form is not None or asks.url is None)
