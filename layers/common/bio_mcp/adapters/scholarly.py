"""Services beside NCBI: Crossref, Europe PMC, iCite and Unpaywall."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import unescape
from itertools import takewhile
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from bio_mcp.adapters.entrez.utilities import batches, objects
from bio_mcp.adapters.http import Rejected, asked, http_client, read_body, seconds, timeout_of
from bio_mcp.adapters.retry import Backoff, Worth, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import (
    DeadlineExceeded,
    Failure,
    InvalidInput,
    NcbiRateLimited,
    NcbiUnreadable,
    NotFound,
    UpstreamFailed,
)
from bio_mcp.literature.documents import FullText
from bio_mcp.literature.identifiers import doi, is_pmid, normal
from bio_mcp.literature.jats import parse_full_text
from bio_mcp.literature.notices import Notice, kind_of
from bio_mcp.ports.ncbi import RateLimiter
from bio_mcp.ports.scholarly import (
    Copies,
    Copy,
    EuropePmcPage,
    EuropePmcRecord,
    Metrics,
    Order,
    RegisteredWork,
    Version,
)
from bio_mcp.scope import account_of_call, spend


@dataclass(frozen=True, slots=True)
class ServiceTurns:
    """The port `RateLimiter` over another, which hands out turns at the service of this `name`."""

    name: str
    turns: RateLimiter

    def wait(self, deadline: Deadline, share: str = "") -> None:
        spend("sources")
        try:
            self.turns.wait(deadline, share or account_of_call())
        except NcbiRateLimited as failure:
            sentence = f"{self.name} asked us to slow down for longer than this call may take; try again later"
            raise UpstreamFailed(sentence, retry_after_s=failure.retry_after_s) from None
        except DeadlineExceeded as failure:
            sentence = f"too many requests to {self.name} are waiting for their turn; ask for less or try again"
            raise DeadlineExceeded(sentence, retry_after_s=failure.retry_after_s) from None

    def cool_down(self, seconds: float) -> None:
        self.turns.cool_down(seconds)


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


def inner(value: Any, *names: str) -> Any:
    """What stands at these names within each other; None where one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


T = TypeVar("T")

MAX_BYTES = 64 << 20  # of an answer
TRIES = 3
LONGEST_PAUSE_S = 600.0  # that a service may ask for
PAUSE_S = 5.0  # for everybody, where a service that is asked too fast names no time
PASSING = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_EARLY, httpx.codes.TOO_MANY_REQUESTS}

Parameters = Mapping[str, str]


class RestApi:
    """One service at a base address. `setting` is the variable that names it, `always` goes with every request.

    Redirects are not followed: an e-mail that goes with a request would go there, too. Threads may share it.
    """

    def __init__(
        self,
        name: str,
        url: str,
        setting: str,
        *,
        pacer: RateLimiter,
        user_agent: str,
        always: Parameters | None = None,
        backoff: Backoff | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.name = name
        self._url = url.rstrip("/")
        self._setting = setting
        self._pacer = pacer
        self._always = dict(always or {})
        backoff = backoff or Backoff(tries=TRIES)
        worth: Worth = {UpstreamFailed: backoff.tries, Rejected: 1}
        self._retried = partial(retry, worth=worth, backoff=backoff)
        self._max_bytes = max_bytes
        self._client = http_client(follow_redirects=False, headers={"User-Agent": user_agent})

    def json(
        self,
        path: str,
        parameters: Parameters | None = None,
        *,
        deadline: Deadline,
        check: Callable[[dict[str, Any]], bool] = lambda _answer: True,
    ) -> dict[str, Any]:
        """The JSON object at a path below the address. Raises as `read` does, and for an answer that `check` denies."""

        def attempt() -> dict[str, Any]:
            try:
                read = json.loads(self._ask(path, parameters or {}, deadline))
            except (ValueError, RecursionError):
                raise self.unreadable() from None
            if not isinstance(read, dict) or not check(read):
                raise self.unreadable()
            return read

        return self._retried(attempt, deadline=deadline)

    def read(self, path: str, parameters: Parameters | None = None, *, deadline: Deadline) -> bytes:
        """The answer at a path below the address.

        Raises `NotFound` where the service has no such thing, `UpstreamFailed`, its kind `Rejected` for what will fail
        again, `DeadlineExceeded`, and `Misconfigured` for an address that is none.
        """
        return self._retried(partial(self._ask, path, parameters or {}, deadline), deadline=deadline)

    def unreadable(self) -> UpstreamFailed:
        """The failure for an answer that has not the form of this service's."""
        return UpstreamFailed(f"{self.name} sent something else than an answer; try again in a minute")

    def close(self) -> None:
        self._client.close()

    def _ask(self, path: str, parameters: Parameters, deadline: Deadline) -> bytes:
        self._pacer.wait(deadline)
        deadline.check(f"asking {self.name}")
        send = partial(self._exchange, f"{self._url}/{path}", {**parameters, **self._always}, deadline)
        return asked(send, self.name, self._setting, deadline)

    def _exchange(self, url: str, parameters: dict[str, str], deadline: Deadline) -> bytes:
        with self._client.stream("GET", url, params=parameters, timeout=timeout_of(deadline)) as response:
            if failure := self._failure_in(response):
                raise failure
            too_long = Rejected(f"the answer of {self.name} is too long; ask for less at once")
            return read_body(response, deadline, f"the answer of {self.name} was whole", too_long, self._max_bytes)

    def _failure_in(self, response: httpx.Response) -> Failure | None:
        status = response.status_code
        named: dict[str, Any] = {"service": self.name, "http_status": status}
        if status == httpx.codes.OK:
            return None
        if status == httpx.codes.NOT_FOUND:
            return NotFound(f"{self.name} has no such thing", **named)
        if status not in PASSING and status < httpx.codes.INTERNAL_SERVER_ERROR:
            return Rejected(f"{self.name} refused the request (HTTP {status}); check {self._setting}", **named)
        asked_s = seconds(response.headers.get("retry-after"))
        wait_s = None if asked_s is None else min(asked_s, LONGEST_PAUSE_S)
        if status == httpx.codes.TOO_MANY_REQUESTS:
            wait_s = PAUSE_S if wait_s is None else wait_s
            self._pacer.cool_down(wait_s)
        return UpstreamFailed(
            f"{self.name} is having trouble (HTTP {status}); try again later", retry_after_s=wait_s, **named
        )


NEAREST, LONGEST_TITLE = 3, 300  # works and characters of a search by title
BATCH = 20  # DOIs of a request: a work with its references may have 200 kB


@dataclass(frozen=True, slots=True)
class Crossref:
    """The port `Notices`. `control` is a DOI that Crossref certainly has: where it has none of a list, it is asked for
    that one before the answer counts."""

    api: RestApi
    control: str

    def of(self, dois: Sequence[str], *, deadline: Deadline) -> dict[str, RegisteredWork]:
        """DOIs with a comma are asked for one by one, as commas part filters."""
        asked = dict.fromkeys(dois)
        found: dict[str, RegisteredWork] = {}
        for some in batches([each for each in asked if "," not in each], BATCH):
            listed = self._some(some, deadline)
            if not listed and not self._some([self.control], deadline):
                raise UpstreamFailed(
                    f"Crossref answered that it has none of {len(some)} DOIs, nor {self.control}, which it has; "
                    "try again later"
                )
            found |= listed
        for each in asked:
            if "," in each:
                found |= self._single(each, deadline)
        return {each: found[each] for each in asked if each in found}

    def titled(self, title: str, *, deadline: Deadline) -> tuple[RegisteredWork, ...]:
        asked = {"query.bibliographic": " ".join(title.split())[:LONGEST_TITLE], "rows": str(NEAREST)}
        return tuple(self._listed(asked, deadline).values())

    def _some(self, dois: Sequence[str], deadline: Deadline) -> dict[str, RegisteredWork]:
        named = ",".join(f"doi:{each}" for each in dois)
        return self._listed({"filter": named, "rows": str(len(dois))}, deadline)

    def _listed(self, asked: Mapping[str, str], deadline: Deadline) -> dict[str, RegisteredWork]:
        answer = self.api.json("works", asked, deadline=deadline)
        items = inner(answer, "message", "items")
        if not isinstance(items, list):
            raise self.api.unreadable()
        return self._by_doi(items)

    def _single(self, asked: str, deadline: Deadline) -> dict[str, RegisteredWork]:
        try:
            answer = self.api.json(f"works/{quote(asked, safe='', errors='replace')}", deadline=deadline)
        except NotFound:
            return {}
        return self._by_doi([answer.get("message")])

    def _by_doi(self, items: Sequence[Any]) -> dict[str, RegisteredWork]:
        works = [_work(each, known) for each in objects(items) if (known := normal(doi, each.get("DOI")))]
        if len(works) < len(items):
            raise self.api.unreadable()
        return {each.doi: each for each in works}


def _work(item: Mapping[str, Any], known: str) -> RegisteredWork:
    return RegisteredWork(
        doi=known,
        title=_first(item.get("title")),
        authors=_authors(item.get("author"), "family", "given", "name"),
        journal=_first(item.get("container-title")),
        year=_year(item),
        volume=text(item.get("volume")),
        issue=text(item.get("issue")),
        pages=text(item.get("page")) or text(item.get("article-number")),
        kind=text(item.get("type")),
        notices=_notices(item.get("updated-by")),
        preprint_of=_related(item, "is-preprint-of"),
        preprints=_related(item, "has-preprint"),
    )


def _authors(listed: Any, family: str, given: str, *others: str) -> tuple[str, ...]:
    """Each "Family, Given", or the first of the other names that there is."""
    named = (
        ", ".join(filter(None, (text(each.get(family)), text(each.get(given)))))
        or next(filter(None, (text(each.get(other)) for other in others)), "")
        for each in objects(listed)
    )
    return tuple(filter(None, named))


def _first(value: Any) -> str:
    """Crossref gives titles as lists, of which the first is in the work's own language."""
    return text(value[0]) if isinstance(value, list) and value else text(value)


def _year(item: Mapping[str, Any]) -> int | None:
    """Of print, as PubMed cites it, else of the earliest publication."""
    for name in ("published-print", "published", "issued", "published-online", "created"):
        if year := _date(item.get(name))[:4]:
            return whole(year)
    return None


def _date(value: Any) -> str:
    """A date of Crossref's as "2019-07-26", "2019-07" or "2019"; "" without one."""
    parts = objects([value]) and inner(value, "date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    numbers = [*takewhile(bool, map(whole, first))]
    return "-".join(f"{each:04}" if not place else f"{each:02}" for place, each in enumerate(numbers))


def _notices(updates: Any) -> tuple[Notice, ...]:
    """What updated the work, oldest first; the same notice of two sources stands twice."""
    found = [
        Notice(
            kind_of(text(each.get("type"))),
            normal(doi, each.get("DOI")),
            _date(each.get("updated")),
            text(each.get("label")) or text(each.get("type")),
            text(each.get("source")) or "publisher",
        )
        for each in objects(updates)
    ]
    return tuple(sorted(found, key=lambda each: (each.date, each.kind, each.doi or "", each.source)))


def _related(item: Mapping[str, Any], relation: str) -> tuple[str, ...]:
    related = objects(inner(item, "relation", relation))
    named = {normal(doi, each.get("id")) for each in related if each.get("id-type") == "doi"}
    return tuple(sorted(filter(None, named)))


ORDERS: Mapping[Order, str] = {"relevance": "", "date": "P_PDATE_D desc", "cited": "CITED desc"}
PUBMED, PREPRINTS = "MED", "PPR"
_TEXT_ID = re.compile(r"(PMC|PPR)[0-9]{1,12}", re.ASCII)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")


@dataclass(frozen=True, slots=True)
class EuropePmcClient:
    """The port `EuropePmc`."""

    api: RestApi

    def search(
        self, query: str, most: int, *, order: Order = "relevance", cursor: str = "", deadline: Deadline
    ) -> EuropePmcPage:
        asked = {"query": query, "resultType": "core", "format": "json", "pageSize": str(most)}
        asked |= {"cursorMark": cursor or "*"} | ({"sort": ORDERS[order]} if ORDERS[order] else {})
        answer = self.api.json("search", asked, deadline=deadline, check=_is_page)
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
            article = parse_full_text(self.api.read(f"{text_id}/fullTextXML", deadline=deadline))
        except NotFound:
            raise NotFound("Europe PMC does not give this text away", id=text_id) from None
        except NcbiUnreadable:
            raise self.api.unreadable() from None
        if article is None:
            raise self.api.unreadable()
        return article


def _is_page(answer: Mapping[str, Any]) -> bool:
    """Whether the answer has a count: a share of them comes without one while Europe PMC is busy; that is no empty
    result. Raises `InvalidInput` for a query that was refused, `UpstreamFailed` for a record without an id."""
    if answer.get("errMsg") or answer.get("errCode"):
        raise InvalidInput("Europe PMC could not run the query; check brackets, quotes and field names")
    hits = inner(answer, "resultList", "result")
    if whole(answer.get("hitCount")) is None or not isinstance(hits, list):
        return False
    if not all(isinstance(each, dict) and each.get("id") and each.get("source") for each in hits):
        raise UpstreamFailed("Europe PMC sent a record without an id; try again in a minute")
    return True


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
        authors=_authors(inner(found, "authorList", "author"), "lastName", "firstName", "fullName", "collectiveName"),
        journal=text(journal),
        year=whole(found.get("pubYear")),
        date=text(found.get("firstPublicationDate")),
        pmid=text(found.get("pmid")) or (number if source == PUBMED else None),
        pmcid=pmcid,
        doi=normal(doi, found.get("doi")),
        abstract=_plain(found.get("abstractText")),
        licence=text(found.get("license")),
        is_open=is_open,
        text_id=next(filter(_TEXT_ID.fullmatch, (pmcid or "", number)), None) if has_text else None,
        cited_by=whole(found.get("citedByCount")) or 0,
        articles=_versions(found, "preprint of"),
        preprints=_versions(found, "preprint in"),
    )


def _versions(found: Mapping[str, Any], kind: str) -> tuple[Version, ...]:
    listed = objects(inner(found, "commentCorrectionList", "commentCorrection"))
    links = [each for each in listed if text(each.get("type")).lower() == kind and text(each.get("id"))]
    return tuple(Version(text(each.get("source")), text(each["id"]), text(each.get("note"))) for each in links)


def _plain(value: Any) -> str:
    """The text without its HTML: Europe PMC marks up titles and abstracts."""
    return text(unescape(_TAG.sub(" " if "<h4>" in str(value) else "", value))) if isinstance(value, str) else ""


ICITE_BATCH = 200  # PMIDs of a request; iCite takes 1,000, which some proxies find too long an address


@dataclass(frozen=True, slots=True)
class Icite:
    """The port `CitationMetrics`."""

    api: RestApi

    def of(self, pmids: Sequence[str], *, deadline: Deadline) -> dict[str, Metrics]:
        asked = dict.fromkeys(pmids)
        found: dict[str, Metrics] = {}
        for some in batches(list(asked), ICITE_BATCH):
            answer = self.api.json("pubs", {"pmids": ",".join(some)}, deadline=deadline, check=_has_papers)
            found |= {str(each["pmid"]): _metrics(each) for each in answer["data"]}
        return {pmid: found[pmid] for pmid in asked if pmid in found}


def _has_papers(answer: Mapping[str, Any]) -> bool:
    listed = answer.get("data")
    return isinstance(listed, list) and all(isinstance(each, dict) and each.get("pmid") for each in listed)


def _metrics(found: Mapping[str, Any]) -> Metrics:
    cited_by = _pmids(found.get("cited_by"))
    # iCite says true, and in older answers "Yes".
    names = ("provisional", "is_clinical", "is_research_article")
    is_true = {each: str(found.get(each)).lower() in ("yes", "true") for each in names}
    return Metrics(
        pmid=str(found["pmid"]),
        title=text(found.get("title")),
        year=whole(found.get("year")),
        doi=text(found.get("doi")).lower() or None,
        citation_count=whole(found.get("citation_count")) or len(cited_by),
        citations_per_year=number(found.get("citations_per_year")),
        relative_citation_ratio=number(found.get("relative_citation_ratio")),
        percentile=number(found.get("nih_percentile")),
        is_provisional=is_true["provisional"],
        is_clinical=is_true["is_clinical"],
        is_research=is_true["is_research_article"],
        references=_pmids(found.get("references")),
        cited_by=cited_by,
        cited_by_clinical=_pmids(found.get("cited_by_clin")),
    )


def _pmids(listed: Any) -> tuple[str, ...]:
    """PMIDs by number, each once: iCite lists them in no order, and in files as one text with spaces."""
    given = listed.split() if isinstance(listed, str) else listed if isinstance(listed, list) else []
    numbers = {found for each in given if (found := whole(each)) is not None and found > 0}
    return tuple(map(str, sorted(numbers)))


@dataclass(frozen=True, slots=True)
class Unpaywall:
    """The port `OpenAccess`."""

    api: RestApi

    def copies(self, doi: str, *, deadline: Deadline) -> Copies:
        answer = self.api.json(_path(doi), deadline=deadline, check=lambda said: isinstance(said.get("is_oa"), bool))
        listed = [*objects([answer.get("best_oa_location")]), *objects(answer.get("oa_locations"))]
        return Copies(doi, text(answer.get("title")), tuple(dict.fromkeys(filter(None, map(_copy, listed)))))


def _path(doi: str) -> str:
    """The DOI as a path; its dots are kept from leading to another one, where the e-mail would be sent, too."""
    whole = quote(doi, safe="/", errors="replace")
    return "/".join(each.replace(".", "%2E") if each in (".", "..") else each for each in whole.split("/"))


def _copy(location: Mapping[str, Any]) -> Copy | None:
    """The copy; None where no address of the web names it."""
    pdf, page = _address(location.get("url_for_pdf")), _address(location.get("url_for_landing_page"))
    if not (url := page or _address(location.get("url")) or pdf):
        return None
    return Copy(
        url=url,
        pdf_url=pdf,
        version=text(location.get("version")),
        host=text(location.get("host_type")),
        licence=text(location.get("license")),
    )


def _address(value: Any) -> str | None:
    try:
        parts = urlsplit(text(value))
    except ValueError:
        return None
    return parts.geturl() if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc else None
