"""Thai names of herbs, drugs, diseases and clinical words in English.

The table ships with the package; thai_english.md says who wrote it and how each row was checked. It is no medical
vocabulary, and is used for nothing but finding text.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources

_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")


def spelled(text: str) -> str:
    """Thai text in one spelling: no invisible characters, sara am as one character, sara ae not as two sara e."""
    plain = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return plain.replace("\u0e4d\u0e32", "\u0e33").replace("\u0e40\u0e40", "\u0e41")


@cache
def dictionary() -> Mapping[str, tuple[str, ...]]:
    """The English names of each Thai name, the usual one first."""
    table = resources.files("bio_mcp.retrieval").joinpath("thai_english.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines())
    return {spelled(thai): tuple(english.split(";")) for thai, english, _kind, _checks in rows}


@cache
def longest_name() -> int:
    """Characters of the longest Thai name."""
    return max(map(len, dictionary()))
