"""Which papers a search or an answer may use."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from bio_mcp.answering.retrieving import journal_keys
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.quality import DESIGNS
from bio_mcp.retrieval.passages import Filters
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Request

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
_TYPES = {name: ui for ui, (_, name) in DESIGNS.items()}

Journal = Annotated[str, Field(max_length=300, json_schema_extra=unpublished)]


class SearchFilters(Request):
    """Conditions on papers, joined by AND."""

    year_from: int = Field(default=_ABSENT, ge=1, description="of publication")
    year_to: int = Field(default=_ABSENT, ge=1, description="of publication")
    journals: list[Journal] = Field(default_factory=list, description="any of these NLM ids or full titles")
    publication_types: list[str] = Field(
        default_factory=list,
        description="any of these MeSH UIs or names, e.g. meta-analysis",
    )


# What clients pay for once: the schema of filters stands in the input of rag.search.
SameFilters = Annotated[SearchFilters, WithJsonSchema({"type": "object", "description": "as in rag_search"})]


def filters_of(given: SearchFilters | None) -> Filters:
    """The filters of the index. Raises `InvalidInput` for a reversed range of years and an unknown publication type."""
    if given is None:
        return Filters()
    if given.year_from and given.year_to and given.year_from > given.year_to:
        raise InvalidInput(f"filters.year_from: {given.year_from} is after year_to, {given.year_to}")
    return Filters(
        year_from=given.year_from,
        year_to=given.year_to,
        journals=frozenset(name for each in given.journals for name in journal_keys(each)),
        publication_types=frozenset(_publication_type(each) for each in given.publication_types),
    )


def _publication_type(named: str) -> str:
    """The MeSH UI of a type given by name or UI. Raises `InvalidInput`, which lists the names, for any other text."""
    ui = _TYPES.get(named.strip().lower(), named.strip().upper())
    if not (ui.startswith("D") and ui[1:].isdecimal()):
        choices = ", ".join(_TYPES)
        raise InvalidInput(f"filters.publication_types: {named!r} is unknown; give a MeSH UI or one of: {choices}")
    return ui
