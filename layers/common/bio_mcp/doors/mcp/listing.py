"""`tools/list`: what a client pays for before it has asked anything, hence small."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.tool import Tool

META = "io.github.bio-mcp/"
ERROR_SCHEMA = {"type": "object", "required": ["code", "message"]}
DEFS = "#/$defs/"

Asked = ServerRequestContext[Any, Any]


@dataclass(frozen=True)
class Listing:
    """Which tools, under which of their names."""

    tools: tuple[Tool, ...]
    names: str = "portable"
    families: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            self._chosen(self.names, self.families)
        except InvalidInput as problem:
            raise Misconfigured(str(problem)) from None

    def select(self, names: str, families: Sequence[str]) -> list[types.Tool]:
        """Raises `InvalidInput` naming the choices."""
        chosen = self._chosen(names, families)
        return [described(each, each.name if names == "contract" else each.portable_name) for each in chosen]

    def _chosen(self, names: str, families: Sequence[str]) -> list[Tool]:
        """The tools alone: describing them takes a while, and a start need not."""
        known = list(dict.fromkeys(each.family.name for each in self.tools))
        if unknown := [name for name in families if name not in known]:
            raise InvalidInput(f"there is no tool family {unknown[0][:50]!r}; tools takes {', '.join(known)}")
        if names not in ("portable", "contract"):
            raise InvalidInput(f"names takes portable or contract, not {names[:50]!r}")
        return [each for each in self.tools if not families or each.family.name in families]

    async def list_tools(self, asked: Asked, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        query = getattr(asked.request, "query_params", None) or {}
        families = [name for name in query.get("tools", "").split(",") if name] or self.families
        try:
            return types.ListToolsResult(tools=self.select(query.get("names") or self.names, families))
        except InvalidInput as problem:
            raise MCPError(types.INVALID_PARAMS, str(problem)) from None


def described(tool: Tool, name: str) -> types.Tool:
    """`tool` as `tools/list` shows it under `name`, with the contract's name where that is another.

    What no client may rely on is left out: whether repeating is harmless, of a tool that only reads.
    """
    renamed = name != tool.name
    return types.Tool(
        name=name,
        title=tool.name if renamed else None,
        description=tool.description,
        input_schema=inlined(tool.input_schema),
        output_schema=sparing(inlined(answer_schema(tool))) if tool.output_listed else None,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            idempotent_hint=None if tool.read_only else tool.idempotent,
            destructive_hint=tool.destructive,
            open_world_hint=tool.open_world,
        ),
        _meta={META + "name": tool.name} if renamed else None,
    )


def answer_schema(tool: Tool) -> dict[str, Any]:
    """The tool's output schema, which an error envelope fits too.

    The TypeScript SDK's clients hold the structured content of a failure against it and, where that does not fit,
    show their user the mismatch in place of the failure.
    """
    schema = dict(tool.output_schema)
    body = {"required": schema.pop("required", [])}
    properties = {**schema["properties"], "error": ERROR_SCHEMA}
    return {**schema, "properties": properties, "anyOf": [body, {"required": ["error"]}]}


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema in fewer bytes: a definition that is used once stands where it is used."""
    definitions = schema.get("$defs", {})
    text = json.dumps(schema)
    once = {f"{DEFS}{name}": each for name, each in definitions.items() if text.count(f'"{DEFS}{name}"') == 1}

    def resolved(part: dict[str, Any]) -> dict[str, Any]:
        if part.get("$ref") not in once:
            return part
        return resolved({**once[part["$ref"]], **{key: each for key, each in part.items() if key != "$ref"}})

    rest = {name: _rebuilt(each, resolved) for name, each in definitions.items() if f"{DEFS}{name}" not in once}
    short: dict[str, Any] = _rebuilt({key: each for key, each in schema.items() if key != "$defs"}, resolved)
    return {**short, "$defs": rest} if rest else short


def sparing(schema: dict[str, Any]) -> dict[str, Any]:
    """An answer's schema without what says nothing to a reader: the type beside an enum, and whether objects within
    the answer may have other keys, which a later version may give them."""

    def told(part: dict[str, Any]) -> dict[str, Any]:
        bare = {key: each for key, each in part.items() if key != "type" or "enum" not in part}
        return {key: each for key, each in bare.items() if key != "additionalProperties" or not isinstance(each, bool)}

    return {**_rebuilt(schema, told), **{key: schema[key] for key in ("additionalProperties",) if key in schema}}


def _rebuilt(part: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """`part` with every object in it as `change` makes it, the outer ones first."""
    if isinstance(part, list):
        return [_rebuilt(each, change) for each in part]
    if not isinstance(part, dict):
        return part
    return {key: _rebuilt(each, change) for key, each in change(part).items()}
