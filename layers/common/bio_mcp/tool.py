"""A tool or a resource, declared once.

`@tool` turns a function `(request, backends[, context]) -> response` into a `Tool`; `@resource` turns
`(backends[, context], **path_parameters) -> response` into a `Resource`. Name, family and time-out are arguments;
input and output models are read off the annotations; the description is the docstring; the Lambda that serves it is
the module it lives in (`bio_mcp.tools.search` -> functions/search). Every door, the docs and the contract tests
follow from the declaration.
"""

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from bio_mcp.callers import Caller, Scope
from bio_mcp.deadline import Deadline
from bio_mcp.dialects import Dialect
from bio_mcp.progress import Progress, silent
from bio_mcp.schemas import Request as Request
from bio_mcp.schemas import Response as Response
from bio_mcp.schemas import schema_of, without_defaults


@dataclass(frozen=True, slots=True)
class Family:
    """The tools of one contract document: their name in `?tools=`, and their error codes.

    `prefix` is one that calls may also carry ("tool." for TTM). `audited`: answers carry the audit record.
    `by_name_only`: its tools are for clients that ask for them, and not among `?tools=all`.
    """

    name: str
    dialect: Dialect
    prefix: str = ""
    audited: bool = False
    by_name_only: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The circumstances of a running call.

    `progress(done, total, message)` reports to the waiting caller. `unattended`: nobody reads the answer, as for a
    queued call. `caller` is whom the access token names, None without one. `local`: the user of this machine calls,
    by standard input or the command line, and may name its files.
    """

    correlation_id: str
    deadline: Deadline
    progress: Progress = silent
    unattended: bool = False
    caller: Caller | None = None
    local: bool = False

    @property
    def subject(self) -> str | None:
        """The subject of the access token, for logs and the audit."""
        return self.caller.subject if self.caller else None


_HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
AUDIT_SCHEMA = {
    "type": "object",
    "properties": {
        "in_hash": _HASH,
        "out_hash": _HASH,
        "latency_ms": {"type": "number"},
        "seed": {"type": "integer"},
        "status": {"enum": ["ok", "error"]},
    },
    "required": ["in_hash", "out_hash", "latency_ms", "seed", "status"],
}


@dataclass(frozen=True, slots=True)
class Tool:
    """One public operation. `timeout` is in seconds; `lambda_module` is its module and Lambda function.

    `scope`: what an access token must allow.

    `destructive`: it can undo or overwrite what stands; `open_world`: it reaches services that are not ours.
    `in_default_list`: clients are sent it unless they ask for other tools; the list is 12 kB at most.
    `longest`: characters of its answer's JSON at most, unless more are asked for; None where one record is all.
    `command`: what is typed after `bio-mcp` for it; None where it is called by `bio-mcp call` alone.
    `beyond`: why there is a tool that no contract document has; None for a contract's tool.
    `also_uses`: methods of ports, as "documents.delete", that its examples do not reach; `does_without`: those that it
    tries and answers without. On AWS its function is given what its examples and `also_uses` take, and no more.
    """

    name: str
    family: Family
    scope: Scope
    description: str
    lambda_module: str
    timeout: float
    read_only: bool
    idempotent: bool
    destructive: bool
    open_world: bool
    input: type[Request]
    output: type[Response]
    run: Callable[..., Response] = field(repr=False)
    wants_context: bool = False
    output_listed: bool = True
    in_default_list: bool = False
    longest: int | None = None
    command: str | None = None
    beyond: str | None = None
    also_uses: tuple[str, ...] = ()
    does_without: tuple[str, ...] = ()

    @property
    def portable_name(self) -> str:
        """The name that every client accepts: Claude, Windsurf and Copilot refuse dots."""
        return self.name.replace(".", "_")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a call may use: contract's and portable, each also with the family's prefix."""
        prefixed = self.family.prefix + self.name
        return tuple(dict.fromkeys((self.name, self.portable_name, prefixed, prefixed.replace(".", "_"))))

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the input, as tools/list shows it."""
        return schema_of(self.input, "validation")

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the answer; in an audited family with the audit record."""
        schema = without_defaults(schema_of(self.output, "validation"))
        if not self.family.audited:
            return schema
        required = [*schema.get("required", ()), "audit"]
        return {**schema, "properties": {**schema["properties"], "audit": AUDIT_SCHEMA}, "required": required}


@dataclass(frozen=True, slots=True)
class Resource:
    """A readable thing, named by a URI template with `{parameters}` (RFC 6570 level 1).

    `scope`, `open_world`: as of a tool. `blob`: MCP carries it as base64 of its JSON instead of as text.
    """

    uri: str
    name: str
    family: Family
    description: str
    lambda_module: str
    timeout: float
    scope: Scope
    mime_type: str
    output: type[Response]
    run: Callable[..., Response] = field(repr=False)
    open_world: bool = False
    blob: bool = False
    wants_context: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the template's parameters, in order."""
        return tuple(re.findall(r"{(\w+)}", self.uri))

    def match(self, uri: str) -> dict[str, str] | None:
        """Match `uri` with the template: its parameters, or None.

        A value has 1 to 100 characters and no slash, dot segment or percent sign.
        """
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[A-Za-z0-9][A-Za-z0-9._:-]{0,99})", re.escape(self.uri))
        matched = re.fullmatch(pattern, uri, re.ASCII)
        return matched.groupdict() if matched else None


def tool(
    name: str,
    *,
    family: Family,
    scope: Scope,
    timeout: float,
    read_only: bool = True,
    idempotent: bool = True,
    destructive: bool = False,
    open_world: bool = False,
    output_listed: bool = True,
    in_default_list: bool = False,
    longest: int | None = None,
    command: str | None = None,
    beyond: str | None = None,
    also_uses: tuple[str, ...] = (),
    does_without: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare the decorated function as the tool `name`; `Tool` describes the options.

    Clients see the docstring as the tool's description. `output_listed`: tools/list has the schema of the answer.
    """

    def declare(run: Callable[..., Any]) -> Tool:
        types = typing.get_type_hints(run)
        return Tool(
            name=name,
            family=family,
            scope=scope,
            description=inspect.getdoc(run) or "",
            lambda_module=run.__module__.rpartition(".")[2],
            timeout=timeout,
            read_only=read_only,
            idempotent=idempotent,
            destructive=destructive,
            open_world=open_world,
            input=types["request"],
            output=types["return"],
            run=run,
            wants_context="context" in types,
            output_listed=output_listed,
            in_default_list=in_default_list,
            longest=longest,
            command=command,
            beyond=beyond,
            also_uses=also_uses,
            does_without=does_without,
        )

    return declare


def resource(
    uri: str,
    *,
    name: str,
    family: Family,
    scope: Scope,
    timeout: float,
    mime_type: str = "application/json",
    open_world: bool = False,
    blob: bool = False,
) -> Callable[[Callable[..., Any]], Resource]:
    """Declare the decorated function as the resource at the template `uri`."""

    def declare(run: Callable[..., Any]) -> Resource:
        types = typing.get_type_hints(run)
        return Resource(
            uri=uri,
            name=name,
            family=family,
            description=inspect.getdoc(run) or "",
            lambda_module=run.__module__.rpartition(".")[2],
            timeout=timeout,
            scope=scope,
            mime_type=mime_type,
            output=types["return"],
            run=run,
            open_world=open_world,
            blob=blob,
            wants_context="context" in types,
        )

    return declare


Declared = typing.TypeVar("Declared", Tool, Resource)


def _declared(kind: type[Declared], modules: tuple[ModuleType, ...]) -> Iterator[Declared]:
    for module in modules:
        declared = (value for value in vars(module).values() if isinstance(value, kind))
        yield from (value for value in declared if value.run.__module__ == module.__name__)


def tools_in(*modules: ModuleType) -> dict[str, Tool]:
    """The tools declared in `modules`, by name, in order of declaration.

    Raises `ValueError` when two share a name that a call may use.
    """
    tools = list(_declared(Tool, modules))
    by_any_name(tools)
    return {each.name: each for each in tools}


def by_any_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Map every name that a call may use to its tool. Raises `ValueError` when two tools share one."""
    by_name: dict[str, Tool] = {}
    for each in tools:
        for name in each.names:
            if by_name.setdefault(name, each) is not each:
                raise ValueError(f"{by_name[name].name} and {each.name} could both be called {name}")
    return by_name


def resources_in(*modules: ModuleType) -> dict[str, Resource]:
    """The resources declared in `modules`, by URI template."""
    return {each.uri: each for each in _declared(Resource, modules)}
