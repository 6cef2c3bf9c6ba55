"""Options derived from a tool's input model, so that a command accepts what its tool accepts, and names of fields in
errors derived from the command's options."""

import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bio_mcp.doors.cli.render import PLAIN
from bio_mcp.querying.identifiers import kind_of
from bio_mcp.tool import Tool

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SCALARS = {int: click.INT, float: click.FLOAT}
NONE: Mapping[str, Any] = types.MappingProxyType({})


class _Pmid(click.ParamType[str]):
    """A paper by any of its identifiers; the value is that in its normal form."""

    name = "pmid"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = kind_of(value)
        if known is None:
            self.fail(f"{value!r} is not a PMID, which is a number such as 34093513, a PMCID or a DOI.", param, ctx)
        return known[1]


def answering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --json, and its session as the first argument."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
    @click.pass_obj
    @wraps(command)
    def answer(session: Any, /, *, as_json: bool, **given: Any) -> None:
        session.as_json = session.as_json or as_json
        command(session, **given)

    return answer


class _FieldArgument(click.Argument):
    """An argument that is named as its field, while click would take small letters alone."""

    def __init__(self, param_decls: Sequence[str], **attributes: Any) -> None:
        super().__init__(param_decls, **attributes)
        self.name = param_decls[0]


pmid: Decorator = click.argument("sourcePmid", metavar="PMID", type=_Pmid(), cls=_FieldArgument)
pmids: Decorator = click.argument("pmids", nargs=-1, required=True, type=_Pmid())


def words(field: str, name: str = "", *, unless: str = "") -> Decorator:
    """An argument of several words, which need no quotes; it may be missing with the eager flag `unless`."""

    def joined(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str:
        if not given and not context.params.get(unless):
            raise click.MissingParameter(ctx=context, param=parameter)
        return " ".join(given)

    metavar = f"{name or field.upper()}..."
    return click.argument(field, nargs=-1, required=not unless, callback=joined, metavar=metavar, cls=_FieldArgument)


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
    names: Mapping[str, str] = NONE,
    helps: Mapping[str, str] = NONE,
    choices: Mapping[str, Mapping[str, str]] = NONE,
) -> Decorator:
    """Add an option for each field of the tool's input, but for those that the command has and those in `without`.

    The fields of a nested model become options like the others. Fields in `whole` default to the tool's maximum.
    `names` are options that are not called as their field, `helps` replaces the tool's own descriptions; `choices` maps
    the option's words to values. Bounds are shown and left to the tool, whose failure explains them.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        named = [each.name for each in getattr(command, "__click_params__", ())]
        offered = [leaf for leaf in leaves(tool.input) if leaf.name not in (*named, *without)]
        for leaf in reversed(offered):
            flag = names.get(leaf.name) or "--" + re.sub("_|(?=[A-Z])", "-", leaf.name).lower()
            meaning = helps.get(leaf.name) or leaf.field.description or ""
            command = _option(flag, leaf, meaning, leaf.name in whole, choices.get(leaf.name) or {})(command)
        return command

    return decorate


def asks(
    group: click.Group, name: str, tool: Tool, text: str, *arguments: Decorator, show: Any = PLAIN, **options: Any
) -> None:
    """Add a command to `group` that asks a tool with what was given, and shows its answer. `options` are those of
    `options_of`."""

    def run(session: Any, /, **given: Any) -> None:
        session.answer(session.ask(tool, arguments_of(tool, given)), show)

    command = answering(run)
    for each in arguments:
        command = each(command)
    group.command(name, help=text)(options_of(tool, **options)(command))


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


IN_COMMANDS = {"ingest_from_source with create: true": "`bio-mcp projects create`", "confirm: true": "--yes"}
"""What messages say to a client that calls tools, as it is typed."""


def in_words_of_the_command(error: Mapping[str, Any], context: click.Context | None) -> str:
    """The message of an error envelope. The fields that its details name are named as the options and arguments of the
    command that runs, and tools as commands."""
    message, details = str(error["message"]), error["details"]
    paths = [".".join(map(str, each["loc"])) for each in details.get("problems", ()) if "loc" in each]
    for path in filter(None, (*paths, details.get("field"))):
        message = message.replace(f"{path}: ", f"{_typed(path, context)}: ", 1)
    return _with_commands(message, context)


def warning_of_the_command(sentence: str, context: click.Context | None) -> str:
    """A warning, with tools as commands, and the field that it begins with as what was typed for it."""
    if not (begins := re.match(r"([A-Za-z_]\w*(?:\.\w+)*): ", sentence)):
        return _with_commands(sentence, context)
    return f"{_typed(begins[1], context)}: {_with_commands(sentence[begins.end() :], context)}"


_MAY_NAME_A_TOOL = re.compile("[a-z]_[a-z]|[a-z][A-Z]")


def _with_commands(sentence: str, context: click.Context | None) -> str:
    """The sentence with tools as commands, but for a person who calls tools by their names."""
    if context is not None and context.info_name == "call":
        return sentence
    for said, typed in IN_COMMANDS.items():
        sentence = sentence.replace(said, typed)
    if not _MAY_NAME_A_TOOL.search(sentence):  # else every tool would be imported
        return sentence
    from bio_mcp.catalog import naming_tools

    return naming_tools(sentence, lambda tool: f"`bio-mcp {tool.command or f'admin call {tool.portable_name}'}`")


def _typed(path: str, context: click.Context | None) -> str:
    """What is typed for the field of a path: "filters.journals.0" is --journals, "pmids.0" is PMIDS."""
    field = [part for part in path.split(".") if not part.isdecimal()][-1]
    for each in context.command.params if context else ():
        if each.name == field:
            return each.opts[0] if isinstance(each, click.Option) else each.make_metavar(context).strip("[].")  # type: ignore[arg-type]  # not None, as it has commands
    return path


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


def _option(flag: str, leaf: Leaf, meaning: str, whole: bool, choice: Mapping[str, str]) -> Decorator:
    kind = _plain(leaf.field.annotation)
    most = next((each.le for each in leaf.field.metadata if hasattr(each, "le")), None)
    meaning = f"{meaning or 'in all'}, at most {most}" if isinstance(most, int) else meaning
    default = most if whole else None
    shown = leaf.field.default if default is None else default
    shown = next((word for word, value in choice.items() if value == shown), shown)
    text = meaning if shown in (None, PydanticUndefined, "", []) else f"{meaning} [default: {shown}]"
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", leaf.name, default=None, help=text)
    if typing.get_origin(kind) is typing.Literal:
        values = choice or {each: each for each in typing.get_args(kind)}
        return click.option(
            flag,
            leaf.name,
            type=click.Choice(list(values), case_sensitive=False),
            callback=lambda *given: values.get(given[-1]),
            help=text,
        )
    many = typing.get_origin(kind) in (list, tuple, set, frozenset)
    one = typing.get_args(kind)[0] if many else kind
    if typing.get_origin(one) is typing.Annotated:
        one = typing.get_args(one)[0]
    return click.option(flag, leaf.name, type=SCALARS.get(one), multiple=many, default=default, help=text)
