"""`tools/list`, in few words: every client pays for it in tokens before it has asked anything."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from bio_mcp.call import Outcome
from bio_mcp.callers import may
from bio_mcp.doors.auth.tokens import caller_of
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.settings import words_of
from bio_mcp.tool import Resource, Tool, by_any_name
from bio_mcp.untrusted import notes

DEFAULT, ALL = "default", "all"
MORE = "More tools: the user connects with ?tools=all (stdio: --tools all)."


def chosen(tools: Sequence[Tool], asked: Iterable[str]) -> dict[str, bool]:
    """The names of the tools that `asked` names, each with whether it is asked for by more than the word `default`.

    A word is `default`, `all`, a family or a tool, by any of its names. Raises `InvalidInput` that names the choices.
    """
    by_word = {
        DEFAULT: [each for each in tools if each.in_default_list],
        ALL: [each for each in tools if not each.family.by_name_only],
    }
    for each in tools:
        by_word.setdefault(each.family.name, []).append(each)
    by_name = by_any_name(tools)
    found: dict[str, bool] = {}
    for word in asked:
        if word not in by_word and word not in by_name:
            known = ", ".join(by_word)
            raise InvalidInput(f"there is no tool or family {word[:50]!r}; tools takes {known}, and names of tools")
        for tool in by_word[word] if word in by_word else [by_name[word]]:
            found[tool.name] = found.get(tool.name, False) or word != DEFAULT
    return found


META = "io.github.bio-mcp/"
ERROR_SCHEMA = {"type": "object", "required": ["code", "message"]}
DEFS = "#/$defs/"
LIMITS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minimum", "pattern", "additionalProperties"})
SELDOM = frozenset({"max_characters", "maxCharacters", "known_only", "includeAffiliations", "synonyms"})
"""Arguments that a first call does without; an answer that was cut names its own."""

RequestContext = ServerRequestContext[Any, Any]
Declared = TypeVar("Declared", Tool, Resource)


@dataclass(frozen=True)
class Listing:
    """Which tools are listed, under which of their names. `asked`: what `chosen` takes."""

    tools: tuple[Tool, ...]
    names: str = "portable"
    asked: tuple[str, ...] = (ALL,)

    def __post_init__(self) -> None:
        try:  # without descriptions, which take a while to make
            chosen(self.tools, self.asked)
        except InvalidInput as problem:
            raise Misconfigured(str(problem)) from None

    def select(self, names: str, asked: Sequence[str], context: RequestContext | None = None) -> list[types.Tool]:
        """The listed tools, for the caller of `context` those that it may call. Raises `InvalidInput` that names the
        choices.

        Tools of the default list come without the schema of their answer. Where only that was asked for, the first
        says how to have more.
        """
        if names not in ("portable", "contract"):
            raise InvalidInput(f"names takes portable or contract, not {names[:50]!r}")
        wanted = chosen(self.tools, asked)
        entries = [
            list_entry(tool, tool.name if names == "contract" else tool.portable_name, with_answer=wanted[tool.name])
            for tool in permitted(context, [each for each in self.tools if each.name in wanted])
        ]
        if entries and not any(wanted.values()):
            entries[0].description = f"{entries[0].description}\n\n{MORE}"
        return entries

    async def list_tools(
        self, context: RequestContext, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Answer `tools/list`; the endpoint's query may override `tools` (what is asked) and `names`."""
        query = getattr(context.request, "query_params", None) or {}
        asked = words_of(query.get("tools", "")) or self.asked
        try:
            tools = self.select(query.get("names") or self.names, asked, context)
        except InvalidInput as problem:
            raise MCPError(types.INVALID_PARAMS, str(problem)) from None
        return types.ListToolsResult(tools=tools, **cache_scope(context))


def permitted(context: RequestContext | None, declared: Iterable[Declared]) -> list[Declared]:
    """Those of `declared` that the caller of a request may call or read."""
    caller = caller_of(context.request) if context else None
    return [each for each in declared if may(caller, each.scope)]


def cache_scope(context: RequestContext) -> dict[str, Any]:
    """Who may share a list: nobody where a caller has its own."""
    return {"cache_scope": "private"} if caller_of(context.request) else {}


def list_entry(tool: Tool, name: str, *, with_answer: bool = True) -> types.Tool:
    """`tool` as `tools/list` shows it under `name`, with the contract's name if that differs, and with the schema of
    its answer unless the tool or `with_answer` says no. Without, the input's schema is `brief` too, as is that of any
    tool that no contract has.

    A hint is omitted where it has MCP's default, and where it means nothing: what a write may do, of a read-only tool.
    """
    renamed = name != tool.name
    return types.Tool(
        name=name,
        title=tool.name if renamed else None,
        description=tool.description,
        input_schema=brief(inlined(tool.input_schema))
        if tool.beyond or not with_answer
        else inlined(tool.input_schema),
        output_schema=sparing(inlined(answer_schema(tool))) if tool.output_listed and with_answer else None,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            idempotent_hint=None if tool.read_only else True,
            destructive_hint=None if tool.read_only else tool.destructive,
            open_world_hint=None if tool.open_world else False,
        ),
        _meta={META + "name": tool.name} if renamed else None,
    )


def answer_schema(tool: Tool) -> dict[str, Any]:
    """The tool's output schema, extended so that an error envelope matches it too.

    Clients of the TypeScript SDK validate the structured content of a failure and would show a mismatch instead of the
    failure.
    """
    schema = dict(tool.output_schema)
    body = {"required": schema.pop("required", [])}
    properties = {**schema["properties"], "error": ERROR_SCHEMA}
    return {**schema, "properties": properties, "anyOf": [body, {"required": ["error"]}]}


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """An equivalent, shorter schema: a definition that is used once is moved to its use."""
    definitions = schema.get("$defs", {})
    text = json.dumps(schema)
    used_once = {f"{DEFS}{name}": value for name, value in definitions.items() if text.count(f'"{DEFS}{name}"') == 1}

    def resolved(part: dict[str, Any]) -> dict[str, Any]:
        if part.get("$ref") not in used_once:
            return part
        return resolved({**used_once[part["$ref"]], **{key: value for key, value in part.items() if key != "$ref"}})

    rest = {name: _rebuilt(value, resolved) for name, value in definitions.items() if f"{DEFS}{name}" not in used_once}
    short: dict[str, Any] = _rebuilt({key: value for key, value in schema.items() if key != "$defs"}, resolved)
    return {**short, "$defs": rest} if rest else short


def brief(schema: dict[str, Any]) -> dict[str, Any]:
    """An input's schema without the arguments in `SELDOM`, without `LIMITS`, which a refusal names, and without
    defaults that are false or empty."""

    def shortened(part: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value
            for key, value in part.items()
            if (key not in LIMITS or isinstance(value, dict)) and (key != "default" or value or isinstance(value, dict))
        }

    listed = {name: part for name, part in schema.get("properties", {}).items() if name not in SELDOM}
    short: dict[str, Any] = _rebuilt({**schema, "properties": listed}, shortened)
    return short


def sparing(schema: dict[str, Any]) -> dict[str, Any]:
    """An answer's schema without what clients do without: descriptions, which docs/tools.md has; the type beside an
    enum or a const; and `additionalProperties` of inner objects, which a later version may extend."""

    def reduced(part: dict[str, Any]) -> dict[str, Any]:
        bare = {key: value for key, value in part.items() if key != "type" or not part.keys() & {"enum", "const"}}
        bare = {key: value for key, value in bare.items() if key != "description" or not isinstance(value, str)}
        return {
            key: value for key, value in bare.items() if key != "additionalProperties" or not isinstance(value, bool)
        }

    return {**_rebuilt(schema, reduced), **{key: schema[key] for key in ("additionalProperties",) if key in schema}}


def _rebuilt(part: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """`part` with `change` applied to every object in it, outermost first."""
    if isinstance(part, list):
        return [_rebuilt(value, change) for value in part]
    if not isinstance(part, dict):
        return part
    return {key: _rebuilt(value, change) for key, value in change(part).items()}


CALLERS_FAULT = {"VALIDATION", "NOT_FOUND", "INVALID_ARG", "INVALID_PROJECT"}


def body_of(outcome: Outcome, **about: Any) -> dict[str, Any]:
    """The body of an outcome. Raises `MCPError`, whose data has `about` too, where it is a failure."""
    if outcome.failed:
        error = outcome.body["error"]
        code = types.INVALID_PARAMS if error["code"] in CALLERS_FAULT else types.INTERNAL_ERROR
        raise MCPError(code, " ".join((error["message"], *notes(outcome.body))), {**about, **outcome.body})
    return outcome.body
