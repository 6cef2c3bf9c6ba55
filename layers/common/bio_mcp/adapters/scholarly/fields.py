"""Fields of others' JSON, each read as what it should be or as nothing."""

import sys
from collections.abc import Mapping
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers

DIGITS = 18  # of a number that is written as text; Python refuses to read thousands


def text(value: Any) -> str:
    """The text without needless spaces; "" for anything else."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """The number; None for anything else, also for one that no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def whole(value: Any) -> int | None:
    """The whole number, written as one or as text of `DIGITS` at most; None for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def inner(value: Any, *names: str) -> Any:
    """What stands at these names within each other; None where one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def doi(value: Any) -> str | None:
    """The DOI in its normal form; None for what is none."""
    try:
        return identifiers.doi(value) if isinstance(value, str) else None
    except InvalidInput:
        return None
