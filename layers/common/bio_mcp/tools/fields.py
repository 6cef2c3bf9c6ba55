"""What inputs of several tools share: their families, PMIDs and ids of documents, and which papers a search may use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from logging import Logger
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from bio_mcp import errors
from bio_mcp.answering.search import check_years
from bio_mcp.arguments import PaperId
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import bare_pmid
from bio_mcp.ports import Backends
from bio_mcp.retrieval import pubmed_syntax as syntax
from bio_mcp.retrieval.analysis import ANALYSIS_VERSION
from bio_mcp.retrieval.filter_values import PUBLICATION_TYPES, language, publication_type
from bio_mcp.retrieval.passages import Filters
from bio_mcp.tool import ABSENT, Family, Request, tool, unpublished
from bio_mcp.tools import answer_size

QueryKey = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]
ProjectId = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]
ReviewName = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=unpublished)]

BIO_MCP = Family("rag", errors.BIO_MCP)
PUBMED = Family("pubmed", errors.PUBMED)
CITELOOM = Family("projects", errors.CITELOOM)
REVIEW = Family("review", errors.BIO_MCP)
CHATGPT = Family("chatgpt", errors.BIO_MCP, by_name_only=True)  # `search` and `fetch`, as its deep research wants
TOPICS = Family("topics", errors.BIO_MCP, by_name_only=True)  # buttons of the page Topics
PAGES = Family("pages", errors.CITELOOM, of_pages=True)
TTM = Family("ttm", errors.TTM, prefix="tool.", audited=True)

live_tool = partial(tool, family=PUBMED, scope="live", timeout=27, open_world=True, longest=answer_size.DEFAULT)
"""Declares a tool that asks services outside, by whose lists no answer is longer than usual."""
reading_tool = partial(tool, scope="read", longest=answer_size.DEFAULT)
"""Declares a tool that reads what is stored here, and whose answer is no longer than usual."""

SPARSE_MODEL = f"bio-mcp/bm25-{ANALYSIS_VERSION}"  # what a project searches words by

PMID = r"^\d+$"
DOC_ID = r"^pmid:[0-9]+$"


def _checked(text: str) -> str:
    try:
        return bare_pmid(text)
    except InvalidInput as problem:
        raise ValueError(str(problem)) from None


AnsweredPmid = Annotated[str, Field(pattern=PMID, max_length=40, json_schema_extra=unpublished)]
"""A PMID in an answer, as NCBI or the corpus has it: only what a caller gives is checked."""
Pmid = Annotated[AnsweredPmid, AfterValidator(_checked), PaperId()]
DocId = Annotated[
    str,
    Field(pattern=DOC_ID, max_length=40, json_schema_extra=unpublished),
    AfterValidator(lambda text: f"pmid:{_checked(text.removeprefix('pmid:'))}"),
    PaperId("pmid:"),
]

BY_OTHER_IDS = ("documents.resolve", "lookup.convert", "pubmed.esearch")
"""What a tool that asks outside uses, beside `pubmed.esummary`, where a paper is named by a DOI or PMCID."""

Name = Annotated[str, Field(max_length=300, json_schema_extra=unpublished)]


class SearchFilters(Request):
    """Conditions on papers, joined by AND: any of the names of a list, all of `mesh`. Species are by MeSH headings."""

    year_from: int = Field(default=ABSENT, ge=1)
    year_to: int = Field(default=ABSENT, ge=1)
    journals: list[Name] = Field(default_factory=list, description="titles, abbreviations, ISSNs")
    publication_types: list[Name] = Field(default_factory=list, description="PubMed's, e.g. Review")
    languages: list[Name] = Field(default_factory=list)
    species: Literal["humans", "animals"] = ABSENT
    retracted: Literal["include", "exclude", "only"] = ABSENT
    has_abstract: bool = ABSENT
    mesh: list[Name] = Field(default_factory=list)
    participants_min: int = Field(default=ABSENT, ge=1)


# What clients pay for once: the schema of filters stands in the input of rag.search.
SameFilters = Annotated[SearchFilters, WithJsonSchema({"type": "object", "description": "as in rag_search"})]


def filters_of(given: SearchFilters | None) -> Filters:
    """The filters of the index. Raises `InvalidInput`, by the field, for a reversed range of years and for a value that
    PubMed does not have."""
    if given is None:
        return Filters()
    check_years(given.year_from, given.year_to)
    journals = [_worded(each, syntax.Field.JOURNAL, "filters.journals") for each in given.journals]
    types = [_typed(publication_type(each, "filters.publication_types")) for each in given.publication_types]
    languages = [language(each, "filters.languages") for each in given.languages]
    in_languages = [syntax.Term(syntax.Field.LANGUAGE, (each,)) for each in languages]
    parts: list[syntax.Tree] = [syntax.Or(tuple(each)) for each in (journals, types, in_languages) if each]
    parts += [_worded(each, syntax.Field.MESH, "filters.mesh") for each in given.mesh]
    if given.species:
        parts.append(syntax.Term(syntax.Field.MESH, (given.species,)))
    if given.retracted in ("only", "exclude"):
        parts.append(_RETRACTED if given.retracted == "only" else syntax.Not(_RETRACTED))
    if given.has_abstract is not None:
        parts.append(syntax.WITH_ABSTRACT if given.has_abstract else syntax.Not(syntax.WITH_ABSTRACT))
    return Filters(
        year_from=given.year_from,
        year_to=given.year_to,
        participants_min=given.participants_min,
        tree=syntax.And(tuple(parts)) if parts else None,
    )


MOST_LOOKED_UP = 20  # names of a filter
MOST_NEAR = 50  # papers whose names may be near


def unknown_names(given: SearchFilters, backends: Backends) -> list[str]:
    """Sentences on journals of which the corpus has no paper, with the nearest that it has.

    Raises `InvalidInput`, which names the nearest, where it has none of the journals, or lacks a heading.
    """
    if not (given.journals or given.mesh) or not backends.passages.count()[0]:
        return []
    journals = {
        each: _worded(each, syntax.Field.JOURNAL, "filters.journals") for each in given.journals[:MOST_LOOKED_UP]
    }
    headings = {each: _worded(each, syntax.Field.MESH, "filters.mesh") for each in given.mesh[:MOST_LOOKED_UP]}
    if lacking := [each for each, term in headings.items() if not _has(term, backends)]:
        raise InvalidInput(_unknown("MeSH heading", lacking, headings, backends), field="filters.mesh")
    lacking = [each for each, term in journals.items() if not _has(term, backends)]
    told = _unknown("journal", lacking, journals, backends) if lacking else ""
    if told and len(lacking) == len(given.journals):
        raise InvalidInput(told, field="filters.journals")
    return [told] if told else []


def _has(term: syntax.Tree, backends: Backends) -> bool:
    return backends.passages.matching(Filters(tree=term), 0).total > 0


def _unknown(what: str, names: Sequence[str], terms: Mapping[str, syntax.Term], backends: Backends) -> str:
    near = {each for name in names for each in _nearest(name, terms[name], backends)}
    advice = f"; did you mean {' or '.join(map(repr, sorted(near)))}?" if near else ""
    return f"The corpus has no paper of the {what} {' or '.join(map(repr, names))}{advice}"


def _nearest(name: str, term: syntax.Term, backends: Backends) -> list[str]:
    """Names that papers of the corpus have, and that begin as this one does and are near it."""
    begins = replace(term, words=(term.words[0][: syntax.SHORTEST],), phrase=False, truncated=True)
    pmids = backends.passages.matching(Filters(tree=begins), MOST_NEAR).pmids
    articles = [each.article for each in backends.documents.get_many(pmids).values()]
    names = [each.name for article in articles for each in article.mesh]
    if term.field is syntax.Field.JOURNAL:
        journals = [each.journal for each in articles if each.journal]
        names = [each for of in journals for each in (of.title, of.medline_abbreviation) if each]
    by_lower = {each.lower(): each for each in names}
    return [by_lower[each] for each in get_close_matches(name.lower(), by_lower, 3, 0.6)]


def _worded(name: str, field: syntax.Field, argument: str) -> syntax.Term:
    term = syntax.named(name, field)
    if term is None:
        raise InvalidInput(f"{name!r} has no letter or digit", field=argument)
    return term


def _typed(stored: str) -> syntax.Term:
    return syntax.Term(syntax.Field.PUBLICATION_TYPE, (stored,))


_RETRACTED = _typed(PUBLICATION_TYPES["Retracted Publication"])


def log_report(log: Logger, what: str, report: Any, **named: Any) -> None:
    """Log the progress of a job, and its warnings once it has ended."""
    extra = {**named, "state": report.state, "job_id": report.job_id}
    log.info("%sed", what, extra=extra)  # by which alarms count
    if report.state in ("complete", "incomplete") and not report.ended:
        for warning in report.warnings:
            log.warning("%s: %s", what, warning, extra=extra)
