"""A tool or a resource, declared once.

`@tool` turns a function `(request, backends[, context]) -> response` into a `Tool`; `@resource` turns
`(backends[, context], **path_parameters) -> response` into a `Resource`. Name, family and time-out are arguments;
input and output models are read off the annotations; the description is the docstring; the Lambda that serves it is
the module it lives in (`bio_mcp.tools.search` -> functions/search). Every door, the docs and the contract tests
follow from the declaration.
"""

import functools
import inspect
import operator
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from bio_mcp.callers import Scope
from bio_mcp.errors import Dialect
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.scope import Context as Context

MAX_TEXT = 10_000  # characters of a string, unless its field says another number
MAX_ITEMS = 500  # of a list, unless its field says less or its model another number
MAX_KEYS = 64  # of an object
MAX_NUMBER = 2**53  # what JSON carries exactly, and every store holds
MEANINGS = {
    RetractionStatus.__name__: "notice: retracts another; concern: expression of concern; clear: none; "
    "unknown: not stated"
}  # of types whose values need words


class Request(BaseModel):
    """Base of every input model: unknown keys are refused, values are not coerced, and all of them are bounded.
    What is clear in another form was read before (`arguments.py`).

    An optional field is absent, never null: its default may be None, but its type is the contract's. No list has more
    than `most_items`.
    """

    most_items: ClassVar[int] = MAX_ITEMS

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_max_length=MAX_TEXT, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, given: Any) -> Any:
        """Bound the number of keys, the length of lists and the size of numbers, before pydantic looks at any value."""
        if not isinstance(given, dict):
            return given
        if len(given) > MAX_KEYS:
            raise ValueError(f"{len(given)} of them are more than any call takes")
        for name, value in given.items():
            if isinstance(value, list) and len(value) > cls.most_items:
                raise ValueError(f"{name} holds {len(value)} values; {cls.most_items} are the most")
            if isinstance(value, int) and abs(value) > MAX_NUMBER:
                raise ValueError(f"{name} is beyond {MAX_NUMBER}")
        return given


def unpublished(schema: dict[str, Any]) -> None:
    """Hide a field's maximum, or that of its length, in its schema, for `Field(json_schema_extra=unpublished)`.

    The limit still holds; the contract's schema does not name it.
    """
    schema.pop("maxLength", None)
    schema.pop("maximum", None)


ABSENT: Any = None
"""The default of a field that is absent rather than null, so that its type is the contract's plain one."""


class Response(BaseModel):
    """Base of every output model."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def of(cls, *sources: Any, **named: Any) -> Self:
        """An answer with what `sources` have under the names of its fields (camelCase as snake_case), and `named`;
        without what is empty of the fields that are `said`."""
        found = {
            field: getattr(source, attribute)
            for source in sources
            for field, attribute in _attributes(cls).items()
            if field not in named and hasattr(source, attribute)
        }
        given = {**found, **named}
        left_out = {name: field.exclude_if for name, field in cls.model_fields.items() if field.exclude_if}
        return cls(**{name: each for name, each in given.items() if name not in left_out or not left_out[name](each)})


@functools.cache
def _attributes(model: type[BaseModel]) -> dict[str, str]:
    return {name: re.sub("(?<=[a-z])[A-Z]", lambda each: f"_{each[0].lower()}", name) for name in model.model_fields}


said: Callable[..., Any] = functools.partial(Field, exclude_if=operator.not_)
"""A field of an answer that is left out where it is empty."""
if_known: Callable[..., Any] = functools.partial(Field, default=ABSENT, exclude_if=lambda value: value is None)
"""A field of an answer that is left out where it is not known; no and 0 are known."""


def stated(**fields: Any) -> dict[str, Any]:
    """Those of the fields that say anything; the others are left out of an answer."""
    return {name: value for name, value in fields.items() if value}


class LinkedFile(Response):
    """A file that is a resource. Where an answer has one as `file`, clients are sent a link to it."""

    uri: str
    name: str
    mime_type: str
    bytes: int


class FileText(Response):
    """A file or a part of it, as a resource: MCP carries the text alone."""

    text: str
    mime_type: str


class _ContractSchema(GenerateJsonSchema):
    """JSON Schema in the contracts' form: no titles, types in a list with null, no default of None, no `MAX_TEXT`."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the signature is pydantic's
        """Leave titles out."""
        return False

    def str_schema(self, schema: Any) -> JsonSchemaValue:
        """Leave out `MAX_TEXT`, which bounds every string."""
        shown = super().str_schema(schema)
        if shown.get("maxLength") == MAX_TEXT:
            del shown["maxLength"]
        return shown

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """Leave out a default of None, which stands for an absent field."""
        shown = super().default_schema(schema)
        if shown.get("default", ...) is None:
            del shown["default"]
        return shown

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        """Write `type: [X, "null"]` instead of `anyOf`."""
        shown = super().nullable_schema(schema)
        value = shown.get("anyOf", [{}])[0]
        return {**value, "type": [value["type"], "null"]} if isinstance(value.get("type"), str) else shown


@functools.cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of `model`, in the contracts' form; docstrings of models are left out, `MEANINGS` are in it."""
    schema = model.model_json_schema(schema_generator=_ContractSchema)
    for name, part in (("", schema), *schema.get("$defs", {}).items()):
        part.pop("title", None)
        part.pop("description", None)
        if name in MEANINGS:
            part["description"] = MEANINGS[name]
    return schema


def without_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer, without defaults: a field that is absent has no value."""
    plain = {name: part for name, part in schema.items() if name != "default"}
    for name in ("properties", "$defs"):
        if name in plain:
            plain[name] = {key: without_defaults(part) for key, part in plain[name].items()}
    return plain


@dataclass(frozen=True, slots=True)
class Family:
    """The tools of one contract document: their name in `?tools=`, and their error codes.

    `prefix` is one that calls may also carry ("tool." for TTM). `audited`: answers carry the audit record.
    `by_name_only`: its tools are for clients that ask for them, and not among `?tools=all`. `of_pages`: they are for
    the console alone, which has them run in the function of their module; no client sees them.
    """

    name: str
    dialect: Dialect
    prefix: str = ""
    audited: bool = False
    by_name_only: bool = False
    of_pages: bool = False


WARNINGS_SCHEMA = {"type": "array", "items": {"type": "string"}, "description": "tell the user"}
NEXT_STEP_SCHEMA = {"type": "string", "description": "what to call next"}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What tools and resources have in common. `timeout` is in seconds. `scope`: what an access token must allow.

    `open_world`: it reaches services that are not ours. `lambda_module` is its module and Lambda function.
    """

    name: str
    family: Family
    scope: Scope
    timeout: float
    open_world: bool = False
    description: str
    lambda_module: str
    output: type[Response]
    run: Callable[..., Response] = field(repr=False)
    wants_context: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Declaration):
    """One public operation.

    `destructive`: it can undo or overwrite what stands.
    `output_listed`: tools/list has the schema of the answer. `in_default_list`: clients are sent it unless they ask for
    other tools; the list is 13 kB at most.
    `longest`: characters of its answer's JSON at most, unless more are asked for; None where one record is all.
    `command`: what is typed after `bio-mcp` for it; None where it is called by `bio-mcp admin call` alone.
    `beyond`: why there is a tool that no contract document has; None for a contract's tool.
    `next_step` makes of an answer's body the line that says what to call next, "" where nothing is natural.
    `also_uses`: methods of ports, as "documents.delete", that its examples do not reach; `does_without`: those that it
    tries and answers without. On AWS its function is given what its examples and `also_uses` take, and no more.
    """

    input: type[Request]
    read_only: bool = True
    destructive: bool = False
    output_listed: bool = False
    in_default_list: bool = False
    longest: int | None = None
    command: str | None = None
    beyond: str | None = None
    next_step: Callable[[Mapping[str, Any]], str] | None = None
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
        return schema_of(self.input)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the answer: with warnings, which any may have of what others wrote (`untrusted`), with
        the next step of a tool that has one, and in an audited family with the audit record."""
        schema = without_defaults(schema_of(self.output))
        properties = {**schema["properties"]}
        properties.setdefault("warnings", WARNINGS_SCHEMA)
        if self.next_step:
            properties["next_step"] = NEXT_STEP_SCHEMA
        if not self.family.audited:
            return {**schema, "properties": properties}
        required = [*schema.get("required", ()), "audit"]
        return {**schema, "properties": {**properties, "audit": AUDIT_SCHEMA}, "required": required}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(Declaration):
    """A readable thing, named by a URI template with `{parameters}` (RFC 6570 level 1). `blob`: MCP carries it as
    base64 of its JSON instead of as text."""

    uri: str
    mime_type: str = "application/json"
    blob: bool = False

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


Declared = typing.TypeVar("Declared", Tool, Resource)
Run = Callable[..., Any]


def tool(name: str, **options: Any) -> Callable[[Run], Tool]:
    """Declares the decorated function as the tool of that name; `Tool` describes the options."""
    return lambda run: Tool(name=name, input=typing.get_type_hints(run)["request"], **_read_off(run), **options)


def resource(uri: str, **options: Any) -> Callable[[Run], Resource]:
    """Declares the decorated function as the resource at that template; `Resource` describes the options."""
    return lambda run: Resource(uri=uri, **_read_off(run), **options)


def _read_off(run: Run) -> dict[str, Any]:
    """What a declaration takes from its function. Clients see the docstring as the description."""
    types, module = typing.get_type_hints(run), run.__module__.rpartition(".")[2]
    described = {"description": inspect.getdoc(run) or "", "lambda_module": module, "output": types["return"]}
    return {**described, "run": run, "wants_context": "context" in types}


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
