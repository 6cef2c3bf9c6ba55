"""Base models of inputs and answers, bounds of every input, and JSON Schemas in the contracts' form.

The validator of a model is built when it is first used (`defer_build`): a process that runs one command needs few.
"""

import functools
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from bio_mcp.literature.records import RetractionStatus

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


class Response(BaseModel):
    """Base of every output model."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


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
def schema_of(model: type[BaseModel], mode: Literal["validation", "serialization"]) -> dict[str, Any]:
    """The JSON Schema of `model`, in the contracts' form; docstrings of models are left out, `MEANINGS` are in it."""
    schema = model.model_json_schema(schema_generator=_ContractSchema, mode=mode)
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
