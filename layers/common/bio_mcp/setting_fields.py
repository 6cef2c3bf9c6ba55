"""How a setting is declared, and how its variable's text becomes a value."""

import re
from collections.abc import Mapping
from dataclasses import Field, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from bio_mcp.errors import Misconfigured

NOT_FILLED_IN = re.compile(r"\$\{user_config\.\w+\}")  # what hosts of MCP bundles pass for a field that was left empty


def setting(env: str, default: Any, meaning: str, *, secret: bool = False, mode: str | None = None) -> Any:
    """A field read from the variable `env`; `meaning` gives unit and effect and becomes docs/settings.md.

    A `secret` is in no `repr`. A setting of one `mode` has no effect in the other. A field of a `Literal` type takes
    its values and no others.
    """
    metadata = {"env": env, "meaning": meaning, "secret": secret, "mode": mode}
    return field(default=default, metadata=metadata, repr=not secret)


def text_of(of: Field[Any], env: Mapping[str, str]) -> str:
    """The variable's text, "" where it is unset."""
    text = env.get(of.metadata["env"], "")
    return "" if NOT_FILLED_IN.fullmatch(text) else text


def value_of(of: Field[Any], text: str) -> Any:
    """The variable's text as the field's type. Raises `Misconfigured`, which names the variable but no secret."""
    name = of.metadata["env"]
    kind: Any = Path if isinstance(of.default, Path) else type(of.default)
    _check_choice(of, text)
    if kind is not Path and not _is_text(text):
        raise Misconfigured(f"{name} is not UTF-8")
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind is int and not text.isdecimal():
        raise Misconfigured(f"{name} must be a whole number, 0 or more")
    try:
        return kind(text)
    except ValueError:
        raise Misconfigured(f"{name} is not a valid {kind.__name__}") from None


def _check_choice(of: Field[Any], text: str) -> None:
    """Raise `Misconfigured` where the field takes some values alone, and this is none of them."""
    if get_origin(of.type) is Literal and text not in get_args(of.type):
        raise Misconfigured(f"{of.metadata['env']} is {text!r}; it takes {', '.join(sorted(get_args(of.type)))}")


def _is_text(value: str) -> bool:
    """Whether the variable was UTF-8; Python reads other bytes as unpaired surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
