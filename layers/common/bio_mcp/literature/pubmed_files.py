"""The names of the files in which NLM publishes PubMed, and the order in which they hold."""

import re
from collections.abc import Iterable

_NAME = re.compile(r"pubmed([0-9]{2})n([0-9]{4,6})\.xml(\.gz|\.xz)?")
_MD5 = re.compile(r"\b[0-9a-f]{32}\b")


def place(name: str) -> tuple[int, int] | None:
    """Year and number of a baseline or update file, as (26, 1275); None for any other name.

    Of two files the one with the higher place is the later one. The numbers of update files follow the baseline's.
    """
    found = _NAME.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None


def order_of(name: str) -> int:
    """A number that is higher for the later one of two of NLM's files; 0 for any other name."""
    year, number = place(name) or (0, 0)
    return year * 1_000_000 + number


def in_order(names: Iterable[str]) -> list[str]:
    """NLM's files in the order in which they hold; other names are left out."""
    return sorted((name for name in names if place(name)), key=lambda name: (place(name), name))


def published_md5(text: str) -> str | None:
    """The MD5, in hex, of a `.md5` file as NCBI writes it, `MD5(NAME)= HEX`, or as md5sum does; None without one."""
    found = _MD5.search(text.lower())
    return found[0] if found else None
