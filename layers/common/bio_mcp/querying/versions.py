"""Preprints and the articles they became, and what retracted them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.literature import identifiers
from bio_mcp.literature.identifiers import doi_page, europe_pmc_page
from bio_mcp.literature.notices import Notice
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import Pubmed, Summaries
from bio_mcp.ports.scholarly import EuropePmcRecord, RegisteredWork, Version
from bio_mcp.querying.identifiers import kind_of
from bio_mcp.querying.search import optional


def retraction_statuses(
    pmids: Iterable[str | None], pubmed: Pubmed, deadline: Deadline, reasons: list[str]
) -> dict[str | None, RetractionStatus]:
    """The statuses by PMID, from PubMed; unknown for papers that it has no summary of, and for None.

    All are unknown when the summaries fail; `reasons` then says so.
    """
    statuses: dict[str | None, RetractionStatus] = defaultdict(lambda: RetractionStatus.UNKNOWN)
    known = list(dict.fromkeys(each for each in pmids if each))
    if not known:
        return statuses
    missing = f"whether the {'article was' if len(known) == 1 else 'papers were'} retracted could not be read"
    found = optional(lambda: pubmed.esummary(known, deadline=deadline), Summaries((), {}), missing, reasons).found
    statuses.update({each.pmid: each.retraction for each in found})
    return statuses


T = TypeVar("T")
Found = Literal["found", "not_found", "unknown"]


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """A version of a work. `asserted_by`: "europe_pmc" or "crossref"; `note` is its word on how it knows."""

    asserted_by: str
    url: str
    pmid: str | None = None
    doi: str | None = None
    preprint_id: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """One paper that was asked for. `unknown`: a service failed, which says nothing about it.

    `notices` is None where Crossref was not asked or does not have the DOI.
    """

    asked: str
    found: Found
    title: str = ""
    pmid: str | None = None
    doi: str | None = None
    is_preprint: bool = False
    articles: tuple[OtherVersion, ...] = ()
    preprints: tuple[OtherVersion, ...] = ()
    notices: tuple[Notice, ...] | None = None


def normal_id(text: str) -> str:
    """A PMID, PMCID, DOI or preprint's id in its normal form. Raises `InvalidInput` for anything else."""
    if kind := kind_of(text):
        return kind[1]
    if preprint := identifiers.preprint_id(text):
        return preprint
    raise InvalidInput(f"{text[:60]!r} is not a PMID, PMCID, DOI, or PPR id of a preprint")


def versions(asked: Sequence[str], backends: Backends, deadline: Deadline) -> tuple[list[Work], list[str]]:
    """The works that `asked` names, in its order, and why some of what is known of them may be missing.

    Raises `InvalidInput` for text that is no id.
    """
    ids, reasons = {text: normal_id(text) for text in asked}, list[str]()
    numbers = list(ids.values())
    records = _or_reason(lambda: backends.europe_pmc.articles(numbers, deadline=deadline), "Europe PMC", reasons)
    dois = {
        number: number if number.startswith("10.") else records[number].doi if number in records else None
        for number in numbers
    }
    wanted = list(dict.fromkeys(each for each in dois.values() if each))
    registered = _or_reason(lambda: backends.notices.of(wanted, deadline=deadline), "Crossref", reasons)
    works = []
    for text, number in ids.items():
        doi = dois[number]
        known = records.get(number), registered.get(doi or "")
        nowhere = Work(text, "unknown" if reasons else "not_found", doi=doi)
        works.append(_work(text, doi, *known) if any(known) else nowhere)
    return works, reasons


def _or_reason(ask: Callable[[], dict[str, T]], whose: str, reasons: list[str]) -> dict[str, T]:
    try:
        return optional(ask, {}, f"{whose} could not be asked", reasons)
    except Misconfigured as failure:
        reasons.append(str(failure))
        return {}


def _work(asked: str, doi: str | None, record: EuropePmcRecord | None, registered: RegisteredWork | None) -> Work:
    """The work with what either service knows of it."""
    by_europe_pmc = (record.articles, record.preprints) if record else ((), ())
    by_crossref = (registered.preprint_of, registered.preprints) if registered else ((), ())
    articles, preprints = (
        (*map(linked, versions), *(OtherVersion("crossref", doi_page(each), doi=each) for each in dois))
        for versions, dois in zip(by_europe_pmc, by_crossref, strict=True)
    )
    return Work(
        asked,
        "found",
        title=(record.title if record else "") or (registered.title if registered else ""),
        pmid=record.pmid if record else None,
        doi=doi,
        is_preprint=bool((record and record.source == "PPR") or (registered and registered.kind == "posted-content")),
        articles=articles,
        preprints=preprints,
        notices=registered.notices if registered else None,
    )


def linked(version: Version) -> OtherVersion:
    """The version as Europe PMC links it."""
    is_preprint = version.source == "PPR"
    return OtherVersion(
        "europe_pmc",
        europe_pmc_page(version.source, version.id),
        pmid=version.id if identifiers.is_pmid(version.id) and version.source == "MED" else None,
        preprint_id=version.id if is_preprint else None,
        note=version.note,
    )
