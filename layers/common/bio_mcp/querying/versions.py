"""Which article a preprint became, and which preprints an article has, with the notices about each: by Europe PMC and
Crossref, each of which knows links that the other does not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.literature import identifiers
from bio_mcp.literature.addresses import doi_page, europe_pmc_page
from bio_mcp.literature.notices import Notice
from bio_mcp.ports import Backends
from bio_mcp.ports.europe_pmc import EuropePmcRecord, Version
from bio_mcp.ports.notices import RegisteredWork
from bio_mcp.querying.partial import optional

T = TypeVar("T")
Found = Literal["found", "not_found", "unknown"]
PREPRINT_KINDS = {"PPR", "posted-content"}


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


@dataclass(slots=True)
class _Known:
    """What the two services know, and why some of it is missing."""

    records: dict[str, EuropePmcRecord] = field(default_factory=dict)
    works: dict[str, RegisteredWork] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


def normal_id(text: str) -> str:
    """A PMID, PMCID, DOI or preprint's id in its normal form. Raises `InvalidInput` for anything else."""
    for read in (identifiers.parse_pmid, identifiers.pmcid, identifiers.doi):
        try:
            return read(text)
        except InvalidInput:
            continue
    if preprint := identifiers.preprint_id(text):
        return preprint
    raise InvalidInput(f"{text[:60]!r} is not a PMID, PMCID, DOI, or PPR id of a preprint")


def versions(asked: Sequence[str], backends: Backends, deadline: Deadline) -> tuple[list[Work], list[str]]:
    """The works that `asked` names, in its order, and why some of what is known of them may be missing.

    Raises `InvalidInput` for text that is no id.
    """
    ids = {text: normal_id(text) for text in asked}
    known = _Known()
    known.records = _or_reason(
        lambda: backends.europe_pmc.articles(list(ids.values()), deadline=deadline), "Europe PMC", known.reasons
    )
    dois = {number: _doi_of(number, known.records.get(number)) for number in ids.values()}
    wanted = list(dict.fromkeys(each for each in dois.values() if each))
    known.works = _or_reason(lambda: backends.notices.of(wanted, deadline=deadline), "Crossref", known.reasons)
    return [_work(text, number, dois[number], known) for text, number in ids.items()], known.reasons


def _or_reason(ask: Callable[[], dict[str, T]], whose: str, reasons: list[str]) -> dict[str, T]:
    try:
        return optional(ask, {}, f"{whose} could not be asked", reasons)
    except Misconfigured as failure:
        reasons.append(str(failure))
        return {}


def _doi_of(number: str, record: EuropePmcRecord | None) -> str | None:
    return number if number.startswith("10.") else record.doi if record else None


def _work(asked: str, number: str, doi: str | None, known: _Known) -> Work:
    record, work = known.records.get(number), known.works.get(doi or "")
    if record is None and work is None:
        return Work(asked, "unknown" if known.reasons else "not_found", doi=doi)
    made = Work(asked, "found", doi=doi, notices=work.notices if work else None)
    if record:
        made = replace(
            made,
            title=record.title,
            pmid=record.pmid,
            articles=tuple(map(linked, record.articles)),
            preprints=tuple(map(linked, record.preprints)),
        )
    if work:
        made = replace(
            made,
            title=made.title or work.title,
            articles=(*made.articles, *map(_registered, work.preprint_of)),
            preprints=(*made.preprints, *map(_registered, work.preprints)),
        )
    kinds = {record.source if record else "", work.kind if work else ""}
    return replace(made, is_preprint=bool(PREPRINT_KINDS & kinds))


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


def _registered(doi: str) -> OtherVersion:
    return OtherVersion("crossref", doi_page(doi), doi=doi)
