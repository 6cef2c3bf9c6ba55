"""Europe PMC's REST API, version 6: its core records, searches and full texts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from typing import Any

from bio_mcp.adapters.entrez.pmids import batches
from bio_mcp.adapters.scholarly.fields import doi, inner, objects, text, whole
from bio_mcp.adapters.scholarly.rest import RestApi
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NcbiUnreadable, NotFound, UpstreamFailed
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.literature.jats import FullText
from bio_mcp.literature.jats.article import parse
from bio_mcp.ports.europe_pmc import EuropePmcPage, EuropePmcRecord, Order, Version

BATCH = 20  # ids of a request
ORDERS: Mapping[Order, str] = {"relevance": "", "date": "P_PDATE_D desc", "cited": "CITED desc"}
PUBMED, PREPRINTS = "MED", "PPR"
_TEXT_ID = re.compile(r"(PMC|PPR)[0-9]{1,12}", re.ASCII)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")


class EuropePmcClient:
    """The port `EuropePmc`."""

    def __init__(self, api: RestApi) -> None:
        self._api = api

    def search(
        self, query: str, most: int, *, order: Order = "relevance", cursor: str = "", deadline: Deadline
    ) -> EuropePmcPage:
        asked = {"query": query, "resultType": "core", "format": "json", "pageSize": str(most)}
        asked |= {"cursorMark": cursor or "*"} | ({"sort": ORDERS[order]} if ORDERS[order] else {})
        answer = self._api.json("search", asked, deadline=deadline, check=self._check)
        records = tuple(map(_record, objects(inner(answer, "resultList", "result"))))
        following = text(answer.get("nextCursorMark"))
        ended = not records or following in ("", cursor)
        return EuropePmcPage(whole(answer.get("hitCount")) or 0, records, None if ended else following)

    def articles(self, ids: Sequence[str], *, deadline: Deadline) -> dict[str, EuropePmcRecord]:
        found: dict[str, EuropePmcRecord] = {}
        for some in batches([each for each in dict.fromkeys(ids) if not set(each) & {'"', "\\"}], BATCH):
            page = self.search(" OR ".join(map(_term, some)), 5 * len(some), deadline=deadline)
            found |= {each: record for each in some if (record := _named(each, page.records))}
        return found

    def full_text(self, text_id: str, *, deadline: Deadline) -> FullText:
        try:
            article = parse(self._api.read(f"{text_id}/fullTextXML", deadline=deadline))
        except NotFound:
            raise NotFound("Europe PMC does not give this text away", id=text_id) from None
        except NcbiUnreadable:
            raise self._api.unreadable() from None
        if article is None:
            raise self._api.unreadable()
        return article

    def _check(self, answer: Mapping[str, Any]) -> None:
        """Raise `InvalidInput` for a query that was refused, `UpstreamFailed` for an answer without a count.

        A share of its answers comes without one while it is busy; that is no empty result.
        """
        if answer.get("errMsg") or answer.get("errCode"):
            raise InvalidInput("Europe PMC could not run the query; check brackets, quotes and field names")
        hits = inner(answer, "resultList", "result")
        if whole(answer.get("hitCount")) is None or not isinstance(hits, list):
            raise self._api.unreadable()
        if not all(isinstance(each, dict) and each.get("id") and each.get("source") for each in hits):
            raise UpstreamFailed("Europe PMC sent a record without an id; try again in a minute")


def _term(known: str) -> str:
    """The query that finds the record with this id."""
    if known.startswith("10."):
        return f'DOI:"{known}"'
    if known.startswith("PMC"):
        return f"PMCID:{known}"
    return f"(EXT_ID:{known} AND SRC:{PUBMED if is_pmid(known) else PREPRINTS})"


def _named(known: str, records: Iterable[EuropePmcRecord]) -> EuropePmcRecord | None:
    """The record with this id, one of PubMed before others: a search may find more than was asked for."""
    same = [each for each in records if known in (each.pmid, each.pmcid, each.doi, each.id)]
    return min(same, key=lambda each: each.source != PUBMED, default=None)


def _record(found: Mapping[str, Any]) -> EuropePmcRecord:
    source, number = text(found.get("source")), text(str(found["id"]))
    is_open, pmcid = found.get("isOpenAccess") == "Y", text(found.get("pmcid")) or None
    journal = inner(found, "journalInfo", "journal", "title") or inner(found, "bookOrReportDetails", "publisher")
    has_text = is_open and found.get("inEPMC") == "Y"
    return EuropePmcRecord(
        source=source,
        id=number,
        title=_plain(found.get("title")),
        authors=tuple(filter(None, map(_author, objects(inner(found, "authorList", "author"))))),
        journal=text(journal),
        year=whole(found.get("pubYear")),
        date=text(found.get("firstPublicationDate")),
        pmid=text(found.get("pmid")) or (number if source == PUBMED else None),
        pmcid=pmcid,
        doi=doi(found.get("doi")),
        abstract=_plain(found.get("abstractText")),
        licence=text(found.get("license")),
        is_open=is_open,
        text_id=next(filter(_TEXT_ID.fullmatch, (pmcid or "", number)), None) if has_text else None,
        cited_by=whole(found.get("citedByCount")) or 0,
        articles=_versions(found, "preprint of"),
        preprints=_versions(found, "preprint in"),
    )


def _author(each: Mapping[str, Any]) -> str:
    family, given = text(each.get("lastName")), text(each.get("firstName"))
    return ", ".join(filter(None, (family, given))) or text(each.get("fullName")) or text(each.get("collectiveName"))


def _versions(found: Mapping[str, Any], kind: str) -> tuple[Version, ...]:
    listed = objects(inner(found, "commentCorrectionList", "commentCorrection"))
    links = [each for each in listed if text(each.get("type")).lower() == kind and text(each.get("id"))]
    return tuple(Version(text(each.get("source")), text(each["id"]), text(each.get("note"))) for each in links)


def _plain(value: Any) -> str:
    """The text without its HTML: Europe PMC marks up titles and abstracts."""
    return text(unescape(_TAG.sub(" " if "<h4>" in str(value) else "", value))) if isinstance(value, str) else ""
