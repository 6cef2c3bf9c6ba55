"""Command-line options read off a tool's input model, so that a command takes what its tool takes."""

import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bio_mcp.tool import Tool

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SCALARS: dict[Any, click.ParamType[Any]] = {int: click.INT, float: click.FLOAT, str: click.STRING}

PMID = re.compile(r"(?:pmid:)?([0-9]+)", re.IGNORECASE)


class _Pmid(click.ParamType[str]):
    """Digits, or "pmid:" and digits; the value is the digits."""

    name = "pmid"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = PMID.fullmatch(value.strip())
        return (
            found[1]
            if found
            else self.fail(f"{value!r} is not a PMID, which is a number such as 34093513.", param, ctx)
        )


NO_HELPS: Mapping[str, str] = types.MappingProxyType({})

as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")


pmid: Decorator = click.argument("pmid", type=_Pmid())
pmids: Decorator = click.argument("pmids", nargs=-1, required=True, type=_Pmid())


def words(name: str) -> Decorator:
    """An argument of words, which need no quotes."""
    return click.argument(name, nargs=-1, required=True, callback=lambda _ctx, _param, given: " ".join(given))


def options_of(tool: Tool, *, without: tuple[str, ...] = (), helps: Mapping[str, str] = NO_HELPS) -> Decorator:
    """An option for each field of the tool's input, those of a nested model beside the others.

    Fields in `without` are the command's own arguments. `helps` stand in for descriptions in the tool. Bounds are
    left to the tool, which says them better.
    """
    fields = [(name, field) for _, name, field in _leaves(tool.input) if name not in without]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name, field in reversed(fields):
            command = _option(name, field, helps.get(name) or field.description or "")(command)
        return command

    return decorate


def arguments_of(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's arguments from a command's parameters: those that were given, nested as the model wants them."""
    arguments: dict[str, Any] = {}
    for parent, name, _ in _leaves(tool.input):
        value = given.get(name)
        if value is None or value == ():
            continue
        inside = arguments.setdefault(parent, {}) if parent else arguments
        inside[name] = list(value) if isinstance(value, tuple) else value
    return arguments


def _leaves(model: type[BaseModel]) -> list[tuple[str | None, str, FieldInfo]]:
    """(field that holds it or None, name, field) for each field that is not a model itself."""
    found: list[tuple[str | None, str, FieldInfo]] = []
    for name, field in model.model_fields.items():
        kind = _plain(field.annotation)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += [(name, inner, inside) for inner, inside in kind.model_fields.items()]
        else:
            found.append((None, name, field))
    return found


def _plain(annotation: Any) -> Any:
    """`X` of `X | None`."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next(each for each in typing.get_args(annotation) if each is not types.NoneType)
    return annotation


def _option(name: str, field: FieldInfo, meaning: str) -> Decorator:
    flag, kind = "--" + name.replace("_", "-"), _plain(field.annotation)
    shown = "" if field.default in (None, PydanticUndefined) else f"[default: {field.default}]"
    text = " ".join(filter(None, [meaning, shown]))
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=text)
    if typing.get_origin(kind) is typing.Literal:
        return click.option(flag, name, type=click.Choice(typing.get_args(kind)), help=text)
    if typing.get_origin(kind) in (list, tuple, set, frozenset):
        return click.option(flag, name, type=_scalar(typing.get_args(kind)[0]), multiple=True, help=text)
    return click.option(flag, name, type=_scalar(kind), help=text)


def _scalar(kind: Any) -> click.ParamType[Any]:
    if typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    return SCALARS.get(kind, click.STRING)
