"""MeSH entry terms and drug names as extra search terms ("heart attack" also finds "myocardial infarction").

The table ships with the package (synonyms.md names its source) and is read on first use.
"""

import gzip
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from bio_mcp.retrieval.analysis import ANALYSIS_VERSION

WEIGHT = 0.2  # of a synonym's term beside a term of the query
EXTRA_TERMS = 16  # added to a query, at most

Variant = tuple[str, ...]


def expansion(terms: Sequence[str]) -> list[tuple[str, float]]:
    """Terms of the synonyms of the names in `terms`, each with `WEIGHT`; at most `EXTRA_TERMS`.

    `terms` are in the query's order. The longest name at each position counts.
    """
    extra: dict[str, float] = {}
    given, position = set(terms), 0
    while position < len(terms) and len(extra) < EXTRA_TERMS:
        length = _match(terms, position)
        for variant in concepts().get(_key(terms[position : position + length]), ()):
            extra.update((term, WEIGHT) for term in variant if term not in given)
        position += max(1, length)
    return list(extra.items())[:EXTRA_TERMS]


def _match(terms: Sequence[str], position: int) -> int:
    """Length in terms of the longest name at `position`, 0 if there is none."""
    longest = min(_longest_name(), len(terms) - position)
    return next((n for n in range(longest, 0, -1) if _key(terms[position : position + n]) in concepts()), 0)


def _key(name: Sequence[str]) -> Variant:
    """A name's key, independent of word order: "pressure, high blood" is "high blood pressure"."""
    return tuple(sorted(name))


@cache
def concepts() -> Mapping[Variant, Sequence[Variant]]:
    """Map a name (its sorted terms) to the other names of the same thing."""
    return {_key(name): [other for other in row if other != name] for row in rows() for name in row}


@cache
def rows() -> Sequence[Sequence[Variant]]:
    """The names of each concept, as analysed terms. Raises `ValueError` for a table made with another analysis."""
    packed = resources.files("bio_mcp.retrieval").joinpath("synonyms.tsv.gz").read_bytes()
    version, *lines = gzip.decompress(packed).decode().split("\n")
    if version != f"#analysis {ANALYSIS_VERSION}":
        raise ValueError("synonyms.tsv.gz was made with another analysis; run benchmarks/build_synonyms.py")
    return [[tuple(name.split(" ")) for name in line.split("\t")] for line in lines]


@cache
def _longest_name() -> int:
    return max(map(len, concepts()))
