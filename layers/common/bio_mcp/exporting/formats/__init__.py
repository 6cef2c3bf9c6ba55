"""The formats of an export. A file is a head, records with a separator between them, and a tail; it is UTF-8."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from bio_mcp.exporting.formats import bibtex, csl, nbib, ris, table
from bio_mcp.exporting.records import Record

Name = Literal["ris", "nbib", "bibtex", "csl-json", "csv"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the file's ending and media type, and how a record is written."""

    suffix: str
    mime_type: str
    render: Callable[[Record], str]
    head: str = ""
    between: str = ""
    tail: str = ""


FORMATS: Mapping[Name, Format] = MappingProxyType(
    {
        "ris": Format(".ris", "application/x-research-info-systems", ris.render, between="\n"),
        "nbib": Format(".nbib", "application/nbib", nbib.render, between="\n"),
        "bibtex": Format(".bib", "application/x-bibtex", bibtex.render, between="\n"),
        "csl-json": Format(
            ".json", "application/vnd.citationstyles.csl+json", csl.render, head="[\n", between=",\n", tail="\n]\n"
        ),
        "csv": Format(".csv", "text/csv", table.render, head=table.HEAD),
    }
)
NAMES: tuple[Name, ...] = get_args(Name)
