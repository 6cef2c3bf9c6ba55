"""YAML as this repository writes it: nested mappings and lists, whose texts stand as they are given, tags and all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

Value = Union[str, Mapping[str, "Value"], Sequence["Value"], "Tagged"]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A list under a tag, as the three parts of an `!If`."""

    tag: str
    items: Sequence[Value]


def lines(value: Mapping[str, Value] | Sequence[Value]) -> Iterator[str]:
    """The lines of a mapping or list that is not empty, the outermost not indented."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _under(f"{key}:", each)
    else:
        for each in value:
            yield from _item(each)


def block(value: Mapping[str, Value] | Sequence[Value], indent: int) -> str:
    """`value` as lines of text, each indented by so many blanks."""
    return "".join(f"{' ' * indent}{line}\n" for line in lines(value))


def listed(items: Sequence[str]) -> str:
    """One text as it is, several in brackets."""
    return items[0] if len(items) == 1 else f"[{', '.join(items)}]"


def _under(key: str, value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield f"{key} {value}"
    elif isinstance(value, Tagged):
        yield from _under(f"{key} {value.tag}", value.items)
    else:
        yield key
        yield from (f"  {line}" for line in lines(value))


def _item(value: Value) -> Iterator[str]:
    if isinstance(value, Mapping):
        first, *rest = lines(value)
        yield f"- {first}"
        yield from (f"  {line}" for line in rest)
    else:
        yield from _under("-", value)
