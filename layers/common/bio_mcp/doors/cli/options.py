"""Command-line options derived from a tool's input model, so that a command accepts what its tool accepts."""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bio_mcp.doors.cli.session import Session
from bio_mcp.doors.cli.wording import option
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.tool import Tool

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SCALARS: dict[Any, click.ParamType[Any]] = {int: click.INT, float: click.FLOAT, str: click.STRING}


class _Pmid(click.ParamType[str]):
    """A PMID in any spelling; the value is its digits."""

    name = "pmid"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return parse_pmid(value)
        except InvalidInput:
            self.fail(f"{value!r} is not a PMID, which is a number such as 34093513.", param, ctx)


NONE: Mapping[str, Any] = types.MappingProxyType({})


def answering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --json, and its session as the first argument."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
    @click.pass_obj
    @wraps(command)
    def answer(session: Session, /, *, as_json: bool, **given: Any) -> None:
        session.as_json = as_json
        command(session, **given)

    return answer


pmid: Decorator = click.argument("pmid", type=_Pmid())
pmids: Decorator = click.argument("pmids", nargs=-1, required=True, type=_Pmid())


def words(name: str, *, unless: str = "") -> Decorator:
    """An argument of several words, which need no quotes; it may be missing with the eager flag `unless`."""

    def joined(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str:
        if not given and not context.params.get(unless):
            raise click.MissingParameter(ctx=context, param=parameter)
        return " ".join(given)

    return click.argument(name, nargs=-1, required=not unless, callback=joined)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field that is not a model itself, and the field with its model, alone or in a list."""

    name: str
    field: FieldInfo
    parent: str | None = None
    listed: bool = False


def options_of(
    tool: Tool,
    *,
    without: tuple[str, ...] = (),
    whole: tuple[str, ...] = (),
    helps: Mapping[str, str] = NONE,
    choices: Mapping[str, Mapping[str, str]] = NONE,
) -> Decorator:
    """Add an option for each field of the tool's input that is not an argument, named as wording.py says.

    The fields of a nested model become options like the others. Fields in `without` get none; those in `whole` default
    to the tool's maximum. `helps` replaces the tool's own descriptions; `choices` maps the option's words to values.
    Bounds are shown and left to the tool, whose failure explains them.
    """
    offered = [leaf for leaf in leaves(tool.input) if leaf.name not in without and option(leaf.name).startswith("--")]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for leaf in reversed(offered):
            default = _maximum(leaf.field) if leaf.name in whole else None
            meaning = helps.get(leaf.name) or leaf.field.description or ""
            command = _option(leaf, meaning, default, choices.get(leaf.name))(command)
        return command

    return decorate


def arguments_of(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's arguments from a command's parameters: those that were given, nested as the model expects them."""
    arguments: dict[str, Any] = {}
    for leaf in leaves(tool.input):
        value = given.get(leaf.name)
        if value is None or value == ():
            continue
        container = arguments
        if leaf.parent:
            container = arguments.setdefault(leaf.parent, [{}] if leaf.listed else {})
            container = container[0] if leaf.listed else container
        container[leaf.name] = list(value) if isinstance(value, tuple) else value
    return arguments


def values_of(tool: Tool, field: str) -> tuple[str, ...]:
    """The values that a field of the tool's input, or each item of it, may have."""
    kind = _plain(tool.input.model_fields[field].annotation)
    named = typing.get_args(kind)
    return typing.get_args(named[0]) if typing.get_origin(kind) is list else named


def leaves(model: type[BaseModel]) -> list[Leaf]:
    """Every field of an input model that a command may offer."""
    fields: list[Leaf] = []
    for name, field in model.model_fields.items():
        kind = _plain(field.annotation)
        listed = typing.get_origin(kind) is list
        inner = typing.get_args(kind)[0] if listed else kind
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            fields += [Leaf(each, inside, name, listed) for each, inside in inner.model_fields.items()]
        else:
            fields.append(Leaf(name, field))
    return fields


def _plain(annotation: Any) -> Any:
    """`X` of `X | None`."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next(each for each in typing.get_args(annotation) if each is not types.NoneType)
    return annotation


def _maximum(field: FieldInfo) -> int | None:
    """The maximum that the field accepts."""
    return next((each.le for each in field.metadata if hasattr(each, "le")), None)


def _option(leaf: Leaf, meaning: str, default: Any, words: Mapping[str, str] | None) -> Decorator:
    flag, kind = option(leaf.name), _plain(leaf.field.annotation)
    text = _help(leaf.field, meaning, default, words or {})
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", leaf.name, default=None, help=text)
    if typing.get_origin(kind) is typing.Literal:
        values = words or {each: each for each in typing.get_args(kind)}
        return click.option(
            flag, leaf.name, type=click.Choice(list(values)), callback=lambda *given: values.get(given[-1]), help=text
        )
    if typing.get_origin(kind) in (list, tuple, set, frozenset):
        return click.option(flag, leaf.name, type=_scalar(typing.get_args(kind)[0]), multiple=True, help=text)
    return click.option(flag, leaf.name, type=_scalar(kind), default=default, help=text)


def _help(field: FieldInfo, meaning: str, default: Any, words: Mapping[str, str]) -> str:
    """The help text: meaning, maximum and default."""
    if isinstance(most := _maximum(field), int):
        meaning = f"{meaning}, at most {most}"
    shown = field.default if default is None else default
    shown = next((word for word, value in words.items() if value == shown), shown)
    return meaning if shown in (None, PydanticUndefined, "", []) else f"{meaning} [default: {shown}]"


def _scalar(kind: Any) -> click.ParamType[Any]:
    if typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    return SCALARS.get(kind, click.STRING)
