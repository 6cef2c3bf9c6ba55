"""Marks the text of others in answers over MCP, so that clients and models take it as data.

`_meta` of each answer names the fields that hold such text, and where some of it addresses a model; a model, which may
be shown nothing but text, is also told by a text of its own after the answer.
"""

from functools import cache
from typing import Any

import mcp_types as types

from bio_mcp.call import Outcome
from bio_mcp.doors.mcp.listing import META
from bio_mcp.schemas import schema_of
from bio_mcp.tool import Resource, Response, Tool
from bio_mcp.untrusted import addressing_a_model, foreign_fields, note

UNTRUSTED = META + "untrusted"
SUSPICIOUS = META + "suspicious"


def suspicious_in(what: Tool | Resource, outcome: Outcome) -> list[str]:
    """Where text of others in the answer addresses a model."""
    return addressing_a_model(outcome.body) if _fields(what.output) and not outcome.failed else []


def meta(what: Tool | Resource, outcome: Outcome, suspicious: list[str]) -> dict[str, Any]:
    """The `_meta` of an answer: its audit record, what is left of budgets, and the marks of text that others
    wrote."""
    marks = {UNTRUSTED: list(_fields(what.output)), SUSPICIOUS: suspicious}
    shown = {} if outcome.failed else {name: value for name, value in marks.items() if value}
    budgets = {META + "budgets": dict(outcome.budgets)} if outcome.budgets else {}
    return {META + "audit": outcome.audit, **budgets, **shown}


def warning(tool: Tool, suspicious: list[str]) -> list[types.ContentBlock]:
    """The text that follows an answer with suspicious places; none without, nor where a client takes one text alone."""
    return [types.TextContent(text=note(suspicious))] if suspicious and not tool.family.by_name_only else []


@cache
def _fields(answer: type[Response]) -> tuple[str, ...]:
    return tuple(foreign_fields(schema_of(answer, "validation")))
