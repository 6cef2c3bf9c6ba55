"""A client of NCBI's E-utilities for PubMed."""

import io
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TypeVar

from bio_mcp.adapters.entrez import links, small_utilities
from bio_mcp.adapters.entrez.answer import Answer
from bio_mcp.adapters.entrez.classify import failure_in
from bio_mcp.adapters.entrez.connection_status import StatusTracker
from bio_mcp.adapters.entrez.errors import AnswerTooLarge, BeyondReach, ClientRejected, HistoryLost, SearchBackendFailed
from bio_mcp.adapters.entrez.pmids import batches, checked
from bio_mcp.adapters.entrez.search import read_search, search_form
from bio_mcp.adapters.entrez.summaries import BATCH, read_summaries
from bio_mcp.adapters.entrez.transport import Form, HttpTransport
from bio_mcp.adapters.retry import Backoff, Worth, retry
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import (
    DeadlineExceeded,
    InvalidInput,
    NcbiFailed,
    NcbiQueryRejected,
    NcbiRateLimited,
    NcbiUnreadable,
    UpstreamFailed,
)
from bio_mcp.literature import medline
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports.ncbi import Citation, CitationMatch, RateLimiter
from bio_mcp.ports.pubmed import (
    LISTABLE,
    SIMILAR,
    ConnectionStatus,
    DocSummary,
    EntrezDatabase,
    LinkSet,
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
COOL_DOWN_S = 1.0
STYLES = {
    "medline": {"rettype": "medline", "retmode": "text"},
    "xml": {"retmode": "xml"},
}
FETCH_BATCH = 200


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
        self._pacer = pacer
        self._parse = parse
        self._backoff = backoff or Backoff()
        self._status = StatusTracker(transport.initial_status)

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
        if style == "xml":
            return self.ask("efetch", form, deadline, _whole_xml)
        try:
            return self.ask("efetch", form, deadline, _plain_text, TEXT_WORTH)
        except NcbiUnreadable:
            if self._records(ids, deadline):
                return self.ask("efetch", form, deadline, _plain_text)
        return ""

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline = NEVER) -> Summaries:
        """Fetch summaries in the order of `pmids`, and which PMIDs have none. Any number of PMIDs."""
        summaries = Summaries((), {})
        for batch in batches(checked(pmids), BATCH):
            summaries += self._summaries(batch, deadline)
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
        try:
            return self._from_history(page, ids, deadline)
        except (HistoryLost, NcbiUnreadable):
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
        if command not in links.COMMANDS:
            raise InvalidInput(f"unknown command '{command}'; choose one of {', '.join(links.COMMANDS)}")
        ids = checked(pmids, at_most=FETCH_BATCH)
        form = {"dbfrom": "pubmed", "db": "pubmed", "cmd": command, "linkname": link_name, "id": ids}
        form["retmode"] = "json" if command == "neighbor" else "xml"
        return self.ask("elink", form, deadline, lambda answer: links.read_links(answer, ids, link_name))

    def einfo(self, *, deadline: Deadline = NEVER) -> EntrezDatabase:
        """Describe PubMed: size, last update, fields and link names. The cheapest health check, too."""
        return self.ask("einfo", {"db": "pubmed", "retmode": "json"}, deadline, small_utilities.read_info)

    def check(self, *, deadline: Deadline = NEVER) -> None:
        """Send NCBI the cheapest request; raises unless it answers."""
        self.einfo(deadline=deadline)

    def espell(self, term: str, *, deadline: Deadline = NEVER) -> Spelling:
        """Ask PubMed for a spelling correction of a query."""
        if not term.strip():
            raise InvalidInput("the search term is empty; give at least one word")
        return self.ask("espell", {"db": "pubmed", "term": term}, deadline, small_utilities.read_spelling)

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline = NEVER) -> list[CitationMatch]:
        """Find the PMID of each citation, in order, or the reason why there is none."""
        form = {"db": "pubmed", "retmode": "xml", "bdata": small_utilities.citation_lines(citations)}
        return self.ask("ecitmatch", form, deadline, lambda answer: small_utilities.read_matches(answer, citations))

    @property
    def pacer(self) -> RateLimiter:
        """The rate limiter of the requests."""
        return self._pacer

    def contact(self) -> ConnectionStatus:
        """The status of this process's connection to NCBI."""
        return self._status.current

    def close(self) -> None:
        """Close the pooled connections; the client cannot be used afterwards."""
        self._transport.close()

    def ask(
        self, endpoint: str, form: Form, deadline: Deadline, read: Callable[[Answer], T], worth: Worth = WORTH
    ) -> T:
        """Return `read(answer)` of a utility's first good answer; failures, unreadable answers too, are retried by
        `worth`."""

        def attempt() -> T:
            with self._status.waiting():
                self._pacer.wait(deadline)
            return self._read(endpoint, form, deadline, read)

        return retry(attempt, worth=worth, deadline=deadline, backoff=self._backoff, waiting=self._transport.log_wait)

    def _read(self, endpoint: str, form: Form, deadline: Deadline, read: Callable[[Answer], T]) -> T:
        """Send one request and `read` its answer, recording success or failure."""
        answer = None
        try:
            answer = self._transport.send(endpoint, form, deadline)
            if (failure := failure_in(answer)) is not None:
                raise failure
            result = read(answer)
        except NcbiRateLimited as limited:
            self._pacer.cool_down(limited.retry_after_s or COOL_DOWN_S)
            self._status.failed(answer)
            raise
        except (UpstreamFailed, DeadlineExceeded):
            self._status.failed(answer)
            raise
        self._status.answered(answer)
        return result

    def _records(self, ids: Sequence[str], deadline: Deadline) -> list[Article | Deletion]:
        form = {"db": "pubmed", "id": ",".join(ids), "retmode": "xml"}
        return self.ask("efetch", form, deadline, lambda answer: list(self._parse(io.BytesIO(answer.body))))

    def _summaries(self, ids: Sequence[str], deadline: Deadline) -> Summaries:
        form = {"db": "pubmed", "version": "2.0", "retmode": "json", "id": ",".join(ids)}
        return self.ask("esummary", form, deadline, lambda answer: read_summaries(answer, ids))

    def _from_history(self, page: SearchPage, ids: Sequence[str], deadline: Deadline) -> Summaries:
        if not (page.web_env and page.query_key):
            raise HistoryLost("NCBI did not keep the search; try again")
        form = {
            "db": "pubmed",
            "version": "2.0",
            "retmode": "json",
            "WebEnv": page.web_env,
            "query_key": page.query_key,
            "retmax": str(len(ids)),
        }
        return self.ask("esummary", form, deadline, lambda answer: read_summaries(answer, ids), HISTORY_WORTH)


def _whole_xml(answer: Answer) -> str:
    answer.xml()
    return answer.body.decode("utf-8", "replace")


def _plain_text(answer: Answer) -> str:
    if answer.is_xml:
        raise NcbiUnreadable("NCBI sent XML in place of text; try again")
    return answer.body.decode("utf-8", "replace")
