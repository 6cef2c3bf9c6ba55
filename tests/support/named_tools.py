"""Which tools and arguments a text names: in skills, prompts and pages."""

import re
from collections.abc import Iterator
from typing import Any

from bio_mcp.catalog import TOOLS

PORTABLE = {each.portable_name: each for each in TOOLS.values()}
_SPAN = re.compile(r"`([^`\n]+)`")
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_CAMEL = re.compile(r"(?<![\w/.:-])[a-z]+(?:[A-Z][a-z]+)+(?![\w./-])")
_SNAKE = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")


def spans(text: str) -> list[str]:
    """What stands in backticks."""
    return _SPAN.findall(text)


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each `tool(argument, argument=value)` of a text: the tool, and the names of its arguments."""
    for span in spans(text):
        if called := _CALL.fullmatch(span):
            outer = re.sub(r"\[[^\]]*\]|\"[^\"]*\"", "", called[2])
            yield called[1], [part.partition("=")[0].strip() for part in outer.split(",") if part.strip()]


def fields(schema: Any) -> Iterator[str]:
    """Every name of a property and every value of an enum in a schema."""
    for key, part in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "properties":
            yield from part
        if key == "enum":
            yield from map(str, part)
        if isinstance(part, dict | list):
            yield from fields(part)


def words_of_tools(*names: str) -> set[str]:
    """What may be named beside these tools, or beside any: tools, arguments, fields of answers, their values."""
    chosen = [PORTABLE[each] for each in names] if names else list(TOOLS.values())
    return {each for tool in TOOLS.values() for each in tool.names} | {
        word for tool in chosen for schema in (tool.input_schema, tool.output_schema) for word in fields(schema)
    }


def camel_case(text: str) -> set[str]:
    """Words such as `searchTerm` in backticks."""
    return {word for span in spans(text) for word in _CAMEL.findall(span)}


def snake_case(text: str) -> set[str]:
    """Spans such as `query_key`, alone in their backticks."""
    return {span for span in spans(text) if _SNAKE.fullmatch(span)}
