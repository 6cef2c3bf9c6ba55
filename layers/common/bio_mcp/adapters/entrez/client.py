"""A client of NCBI's E-utilities for PubMed."""

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any, TypeVar

from bio_mcp.adapters.entrez import utilities
from bio_mcp.adapters.entrez.transport import (
    Answer,
    AnswerTooLarge,
    BeyondReach,
    ClientRejected,
    Form,
    HistoryLost,
    HttpTransport,
    SearchBackendFailed,
    failure_in,
    log_wait,
    well_formed,
)
from bio_mcp.adapters.entrez.utilities import SUMMARY_BATCH, batches, checked, read_search, read_summaries, search_form
from bio_mcp.adapters.retry import Backoff, Worth, retry
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import (
    DeadlineExceeded,
    InvalidInput,
    NcbiFailed,
    NcbiQueryRejected,
    NcbiRateLimited,
    NcbiUnreachable,
    NcbiUnreadable,
    NotFound,
    UpstreamFailed,
)
from bio_mcp.literature import identifiers, medline
from bio_mcp.literature.clock import utc_now
from bio_mcp.literature.documents import FullText
from bio_mcp.literature.jats import parse_full_text
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports.ncbi import (
    LISTABLE,
    SIMILAR,
    ArticleIds,
    Citation,
    CitationMatch,
    ConnectionStatus,
    DocSummary,
    EntrezDatabase,
    IdKind,
    LinkSet,
    MeshPage,
    MeshRecord,
    RateLimiter,
    SearchPage,
    Spelling,
    Summaries,
)

T = TypeVar("T")
Parse = Callable[[IO[bytes]], Iterator[Article | Deletion]]

EVERY_TRY = 1_000
WORTH: Worth = {
    NcbiFailed: EVERY_TRY,
    SearchBackendFailed: 3,
    NcbiQueryRejected: 1,
    ClientRejected: 1,
    AnswerTooLarge: 1,
}
HISTORY_WORTH: Worth = {**WORTH, HistoryLost: 2}  # sometimes reported although the history still exists
TEXT_WORTH: Worth = {**WORTH, NcbiUnreadable: 1}  # an empty text may mean no records: the XML decides
NEVER_ANSWERED = 2  # tries at an NCBI that has not answered this client yet: there may be no network
COOL_DOWN_S = 1.0
STYLES = {
    "medline": {"rettype": "medline", "retmode": "text"},
    "xml": {"retmode": "xml"},
}
FETCH_BATCH = 200
SUMMARY_FORM = {"db": "pubmed", "version": "2.0", "retmode": "json"}


class Eutils:
    """The ports `Entrez` and `Pubmed`, and the other utilities, over one transport, one rate limiter and one backoff.

    Every request is paced, retried as `WORTH` says, and bounded by its deadline, which includes waiting and pauses. An
    incomplete answer is an error, never a shorter result. Every method may raise `InvalidInput`, `NcbiFailed` and its
    kinds, and `DeadlineExceeded`. Threads may share a client.
    """

    def __init__(
        self,
        transport: HttpTransport,
        *,
        pacer: RateLimiter,
        backoff: Backoff | None = None,
        parse: Parse = medline.parse,
    ) -> None:
        """`parse` reads a PubmedArticleSet and raises `NcbiUnreadable` for another root and for broken XML."""
        self._transport = transport
        self.pacer = pacer
        self._parse = parse
        self._backoff = backoff or Backoff()
        self._status, self._lock = transport.initial_status, threading.Lock()

    def esearch(
        self,
        term: str,
        *,
        deadline: Deadline = NEVER,
        retstart: int = 0,
        retmax: int = LISTABLE,
        sort: str = "pub_date",
        history: bool = False,
        dates: tuple[str, str, str] | None = None,
    ) -> SearchPage:
        """Search PubMed. `dates` is (pdat | edat | mdat, first, last), both inclusive, as YYYY/MM/DD.

        The page has every PMID that its count promises. `warnings` says what PubMed left out of the query.
        """
        form = search_form(term, retstart=retstart, retmax=retmax, sort=sort, history=history, dates=dates)
        return self.ask(
            "esearch", {"db": "pubmed", **form}, deadline, lambda answer: read_search(answer, retstart, retmax)
        )

    def esearch_delta(
        self, term: str, mindate: str, maxdate: str, datetype: str = "edat", *, deadline: Deadline = NEVER
    ) -> list[str]:
        """All PMIDs of a date window, by the contract's name. Raises `BeyondReach` if they are too many; halve it."""
        page = self.esearch(term, dates=(datetype, mindate, maxdate), deadline=deadline)
        if page.count > LISTABLE:
            raise BeyondReach(
                f"{page.count:,} records are in this window and PubMed gives {LISTABLE:,} at most; ask for fewer days",
                count=page.count,
            )
        return list(page.ids)

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline = NEVER) -> Iterator[Article | Deletion]:
        """Fetch the records of at most 200 PMIDs, in PubMed's order. PMIDs that PubMed does not have are absent.

        The request is made at once, and the whole answer is parsed before the first record is returned. An answer that
        is too large is requested again in halves.
        """
        ids = checked(pmids, at_most=FETCH_BATCH)
        try:
            return iter(self._records(ids, deadline))
        except AnswerTooLarge:
            if len(ids) == 1:
                raise
        return iter(
            [record for half in batches(ids, (len(ids) + 1) // 2) for record in self.efetch(half, deadline=deadline)]
        )

    def efetch_text(self, pmids: Sequence[str], *, style: str = "medline", deadline: Deadline = NEVER) -> str:
        """Fetch the records of at most 200 PMIDs as text that NCBI formats; style: medline or xml.

        An empty text is accepted only if the XML has no record either.
        """
        if style not in STYLES:
            raise InvalidInput(f"unknown style '{style}'; choose one of {', '.join(STYLES)}")
        ids = checked(pmids, at_most=FETCH_BATCH)
        form = {"db": "pubmed", "id": ",".join(ids), **STYLES[style]}
        read = partial(_text, style=style)
        if style == "xml":
            return self.ask("efetch", form, deadline, read)
        try:
            return self.ask("efetch", form, deadline, read, TEXT_WORTH)
        except NcbiUnreadable:
            return self.ask("efetch", form, deadline, read) if self._records(ids, deadline) else ""

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline = NEVER) -> Summaries:
        """Fetch summaries in the order of `pmids`, and which PMIDs have none. Any number of PMIDs."""
        summaries = Summaries((), {})
        for batch in batches(checked(pmids), SUMMARY_BATCH):
            form = {**SUMMARY_FORM, "id": ",".join(batch)}
            summaries += self.ask("esummary", form, deadline, partial(read_summaries, requested=batch))
        return summaries

    def esummary_batch(self, pmids: Sequence[str], *, deadline: Deadline = NEVER) -> list[DocSummary]:
        """Fetch summaries in the order of `pmids`; PMIDs that PubMed does not have are absent."""
        return list(self.esummary(pmids, deadline=deadline).found)

    def summaries_of(self, page: SearchPage, many: int, *, deadline: Deadline = NEVER) -> Summaries:
        """Fetch the summaries of a search's first `many` (1 to 500) hits, by PMID if the history server lost the
        search."""
        if not 0 < many <= 500:
            raise InvalidInput("between 1 and 500 summaries can be asked for")
        ids = page.ids[:many]
        if not ids:
            return Summaries((), {})
        if page.web_env and page.query_key:
            kept = {"WebEnv": page.web_env, "query_key": page.query_key, "retmax": str(len(ids))}
            read = partial(read_summaries, requested=ids)
            with suppress(HistoryLost, NcbiUnreadable):
                return self.ask("esummary", {**SUMMARY_FORM, **kept}, deadline, read, HISTORY_WORTH)
        return self.esummary(ids, deadline=deadline)

    def elink(
        self,
        pmids: Sequence[str],
        *,
        link_name: str = SIMILAR,
        command: str = "neighbor",
        deadline: Deadline = NEVER,
    ) -> tuple[LinkSet, ...]:
        """List what each PMID is linked with, in order and without a limit: a paper may have 13,000 citing it.
        Scores, by the command neighbor_score, fail at NCBI for much-cited papers; fall back to neighbor then."""
        if command not in utilities.COMMANDS:
            raise InvalidInput(f"unknown command '{command}'; choose one of {', '.join(utilities.COMMANDS)}")
        ids = checked(pmids, at_most=FETCH_BATCH)
        form = {"dbfrom": "pubmed", "db": "pubmed", "cmd": command, "linkname": link_name, "id": ids}
        form["retmode"] = "json" if command == "neighbor" else "xml"
        return self.ask("elink", form, deadline, lambda answer: utilities.read_links(answer, ids, link_name))

    def einfo(self, *, deadline: Deadline = NEVER) -> EntrezDatabase:
        """Describe PubMed: size, last update, fields and link names. The cheapest health check, too."""
        return self.ask("einfo", {"db": "pubmed", "retmode": "json"}, deadline, utilities.read_info)

    def check(self, *, deadline: Deadline = NEVER) -> None:
        self.einfo(deadline=deadline)

    def espell(self, term: str, *, deadline: Deadline = NEVER) -> Spelling:
        """Ask PubMed for a spelling correction of a query."""
        if not term.strip():
            raise InvalidInput("the search term is empty; give at least one word")
        return self.ask("espell", {"db": "pubmed", "term": term}, deadline, utilities.read_spelling)

    def contact(self) -> ConnectionStatus:
        return self._status

    def close(self) -> None:
        self._transport.close()

    def ask(
        self, endpoint: str, form: Form, deadline: Deadline, read: Callable[[Answer], T], worth: Worth = WORTH
    ) -> T:
        """Return `read(answer)` of a utility's first good answer; failures, unreadable answers too, are retried by
        `worth`."""

        def attempt() -> T:
            self._note(None, waiting=1)
            try:
                self.pacer.wait(deadline)
            finally:
                self._note(None, waiting=-1)
            return self._read(endpoint, form, deadline, read)

        waiting = partial(log_wait, self._transport.base_url)
        if self._status.answered is None:
            worth = {**worth, NcbiUnreachable: NEVER_ANSWERED}
        return retry(attempt, worth=worth, deadline=deadline, backoff=self._backoff, waiting=waiting)

    def _note(self, answer: Answer | None, waiting: int = 0, **times: Any) -> None:
        """Note times in the status, `waiting` more requests, and how many NCBI says it allows in this second."""
        left = answer.headers.get("x-ratelimit-remaining", "") if answer else ""
        with self._lock:
            now = replace(self._status, waiting=self._status.waiting + waiting, **times)
            self._status = replace(now, left=int(left)) if left.isdecimal() else now

    def _read(self, endpoint: str, form: Form, deadline: Deadline, read: Callable[[Answer], T]) -> T:
        answer = None
        try:
            answer = self._transport.send(endpoint, form, deadline)
            if (failure := failure_in(answer)) is not None:
                raise failure
            result = read(answer)
        except (UpstreamFailed, DeadlineExceeded) as failed:
            if isinstance(failed, NcbiRateLimited):
                self.pacer.cool_down(failed.retry_after_s or COOL_DOWN_S)
            self._note(answer, failed=utc_now())
            raise
        self._note(answer, answered=utc_now())
        return result

    def _records(self, ids: Sequence[str], deadline: Deadline) -> list[Article | Deletion]:
        form = {"db": "pubmed", "id": ",".join(ids), "retmode": "xml"}
        return self.ask("efetch", form, deadline, lambda answer: list(self._parse(io.BytesIO(answer.body))))


def _text(answer: Answer, style: str) -> str:
    if style == "xml":
        answer.xml()
    elif answer.form == "xml":
        raise NcbiUnreadable("NCBI sent XML in place of text; try again")
    return answer.body.decode("utf-8", "replace")


BATCH = 50  # ids per request: a DOI may take 100 characters of the URL


class ConverterTransport(HttpTransport):
    """A transport for the converter, which takes GET only; it is given no API key, so that none is in a URL."""

    def _exchange(self, url: str, endpoint: str, form: Form, deadline: Deadline) -> Answer:  # noqa: ARG002  one address
        params = {key: str(value) for key, value in form.items()} | self._identity
        return self._answer(endpoint, deadline, "GET", self.base_url, params=params)


@well_formed("NCBI's converter did not answer for every id; try again")
def read_ids(answer: Answer, requested: Sequence[str], kind: IdKind) -> dict[str, ArticleIds]:
    """The ids of each article in `requested`; ids that PMC does not have are absent.

    Raises `NcbiUnreadable`, also if the answer omits one of them.
    """
    rows = [row for row in answer.json["records"] if isinstance(row, dict)]
    by_id = {str(row.get("requested-id") or row.get(kind) or "").casefold(): row for row in rows}
    found = {}
    for id_ in requested:
        row = by_id[id_.casefold()]
        if row.get("status") != "error":
            pmid, pmcid, doi = (str(row[name]) if row.get(name) else None for name in ("pmid", "pmcid", "doi"))
            found[id_] = ArticleIds(pmid, pmcid.partition(".")[0] if pmcid else None, doi)
    return found


MAX_HEADINGS = 50


@dataclass(frozen=True, slots=True)
class EntrezLookup:
    """The port `NcbiLookup` over two clients with one rate limiter: one for the E-utilities, one for the ID
    converter."""

    _eutils: Eutils
    _converter: Eutils

    def mesh(self, term: str, most: int, *, deadline: Deadline = NEVER) -> MeshPage:
        """Find at most `most` (up to 50) MeSH records that match `term`."""
        if not term.strip() or not 0 < most <= MAX_HEADINGS:
            raise InvalidInput(f"give at least one word, and ask for 1 to {MAX_HEADINGS} headings")
        form = {"db": "mesh", "term": term, "retmax": str(most), "retmode": "json"}
        page = self._eutils.ask("esearch", form, deadline, lambda answer: read_search(answer, 0, most))
        if not page.ids:
            return MeshPage(page.count, (), page.translation)
        summary_form = {"db": "mesh", "id": ",".join(page.ids), "retmode": "json"}
        records = self._eutils.ask("esummary", summary_form, deadline, lambda answer: read_headings(answer, page.ids))
        return MeshPage(page.count, records, page.translation)

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline = NEVER) -> list[CitationMatch]:
        """Find the PMID of each citation, in order, or the reason why there is none."""
        form = {"db": "pubmed", "retmode": "xml", "bdata": utilities.citation_lines(citations)}
        return self._eutils.ask("ecitmatch", form, deadline, lambda answer: utilities.read_matches(answer, citations))

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline = NEVER) -> dict[str, ArticleIds]:
        """The ids that PubMed Central has for each of `ids`; those of articles not in it are absent."""
        known: dict[str, ArticleIds] = {}
        for batch in batches(list(ids), BATCH):
            form = {"ids": ",".join(batch), "idtype": kind, "format": "json", "versions": "no"}
            known |= self._converter.ask("idconv", form, deadline, partial(read_ids, requested=batch, kind=kind))
        return known

    def full_text(self, pmcid: str, *, deadline: Deadline = NEVER) -> FullText:
        """Fetch an article from PubMed Central. Raises `NotFound`."""
        number = identifiers.pmcid(pmcid).removeprefix("PMC")
        form = {"db": "pmc", "id": number, "retmode": "xml"}
        article = self._eutils.ask("efetch", form, deadline, lambda answer: parse_full_text(answer.body))
        if article is None:
            raise NotFound(f"PubMed Central has no article PMC{number}", pmcid=f"PMC{number}")
        if article.pmcid not in (None, f"PMC{number}"):
            raise NcbiUnreadable("PubMed Central sent another article than was asked for; try again")
        return article


@well_formed("NCBI's MeSH answer lacks a record that its search named; try again")
def read_headings(answer: Answer, uids: Sequence[str]) -> tuple[MeshRecord, ...]:
    """The record of each uid, in order. Raises `NcbiUnreadable` if one is missing or has no name."""
    rows = [answer.json["result"][uid] for uid in uids]
    if not all(row["ds_meshterms"] for row in rows):
        raise ValueError("a heading without a name")
    return tuple(
        MeshRecord(
            ui=row["ds_meshui"],
            terms=tuple(str(term) for term in row["ds_meshterms"]),
            kind=row.get("ds_recordtype") or "descriptor",
            scope_note=" ".join(str(row.get("ds_scopenote") or "").split()),
            trees=tuple(link["treenum"] for link in row.get("ds_idxlinks") or () if link.get("treenum")),
            year=str(row.get("ds_yearintroduced") or "").strip(),
            qualifiers=tuple(row.get("ds_subheading") or ()),
        )
        for row in rows
    )
