"""Requests to NCBI's E-utilities over HTTP and their answers; no error carries the key or the answer's text."""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial, wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import httpx
from lxml import etree

from bio_mcp.adapters.http import asked, http_client, read_body, timeout_of
from bio_mcp.adapters.rate_limit import PER_SECOND, PER_SECOND_WITH_KEY
from bio_mcp.deadline import Deadline
from bio_mcp.errors import (
    Failure,
    InvalidInput,
    NcbiFailed,
    NcbiQueryRejected,
    NcbiRateLimited,
    NcbiUnreachable,
    NcbiUnreadable,
)
from bio_mcp.literature.clock import EASTERN
from bio_mcp.literature.identifiers import EUTILS_URL
from bio_mcp.ports.ncbi import ConnectionStatus

_SECRETS = re.compile(
    r"https?://\S+"  # addresses, which may hold a key
    r"|\S+@\S+"  # e-mail
    r"|\b(?:\d{1,3}\.){3}\d{1,3}\b"  # IPv4
    r"|(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"  # IPv6
    r"|\b(?=\w*\d)[0-9A-Za-z_-]{25,}\b"  # API keys and WebEnvs
    r"|(?<![\w])/[\w.+-]+(?:/+[\w.+-]*)+"  # paths inside NCBI
)
_MAX_CHARS = 200


def redacted(text: str) -> str:
    """`text` on one line, at most 200 characters, without URLs, keys, e-mail and IP addresses, and paths."""
    line = _SECRETS.sub("[removed]", " ".join(text.split()))
    return line if len(line) <= _MAX_CHARS else line[: _MAX_CHARS - 1].rstrip() + "…"


class HistoryLost(NcbiFailed):
    """The history server no longer knows the search."""


class AnswerTooLarge(NcbiFailed):
    """The answer is larger than the client accepts."""

    retryable = False


class ClientRejected(NcbiFailed):
    """NCBI rejects every request of this client."""

    retryable = False


class SearchBackendFailed(NcbiQueryRejected):
    """The search engine failed; after the third time the query is to blame."""


class BeyondReach(NcbiQueryRejected):
    """PubMed lists only the first 9,999 records of a search."""


P = ParamSpec("P")
T = TypeVar("T")

_ERROR = re.compile(rb"<ERROR>\s*([^<]*?)\s*</ERROR>")
_ROOT = re.compile(rb"\s*(?:<\?[^>]*>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*>\s*)*<([A-Za-z][\w.:-]*)", re.DOTALL)
_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """An answer of one utility (`endpoint`: "esearch", "efetch", ...); `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    endpoint: str

    @cached_property
    def form(self) -> str:
        """What the body starts like: json, html (the pages of load balancers and of maintenance), xml or text."""
        if _HTML.match(self.body):
            return "html"
        return {b"{": "json", b"[": "json", b"<": "xml"}.get(self.body.lstrip()[:1], "text")

    @cached_property
    def json(self) -> dict[str, Any]:
        """The JSON object; raw newlines in strings, which NCBI's messages contain, are accepted. Raises
        `NcbiUnreadable`."""
        try:
            value = json.loads(self.body, strict=False)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise NcbiUnreadable(f"NCBI sent a broken {self.endpoint} answer; try again")
        return value

    def xml(self) -> Any:
        """The root element, parsed without network, DTD and entities. Raises `NcbiUnreadable`."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            root = etree.fromstring(self.body, parser)
        except etree.XMLSyntaxError:
            root = None
        if root is None or any(True for _ in root.iter(etree.Entity)):
            raise NcbiUnreadable(f"NCBI sent a broken {self.endpoint} answer; try again")
        return root

    @property
    def day(self) -> date | None:
        """The date at NCBI (US Eastern) when it answered, by the Date header; None without one."""
        sent = _moment(self.headers.get("date", ""))
        return sent.astimezone(EASTERN).date() if sent else None

    def retry_after_s(self, now: datetime | None = None) -> float | None:
        """Seconds that `Retry-After` asks for. A date counts from the answer's own Date, else from `now`."""
        value = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d+)?", value):
            return float(value)
        moment = _moment(value)
        if moment is None:
            return None
        sent = _moment(self.headers.get("date", "")) or now or datetime.now(UTC)
        return max(0.0, (moment - sent).total_seconds())


def _moment(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def well_formed(otherwise: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A reader that raises `NcbiUnreadable(otherwise)` where it fails on a missing member or one of another type.

    The error is not chained, as it would quote the answer.
    """

    def of(read: Callable[P, T]) -> Callable[P, T]:
        @wraps(read)
        def reading(*args: P.args, **named: P.kwargs) -> T:
            with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
                return read(*args, **named)
            raise NcbiUnreadable(otherwise)

        return reading

    return of


log = logging.getLogger("bio_mcp.ncbi")

Form = Mapping[str, str | Sequence[str]]

KEEP_ALIVE_S = 3.0  # NCBI closes an idle connection after 4 s, as its Keep-Alive header says
MAX_BYTES = 64 * 2**20


def log_wait(url: str, attempt: int, of: int) -> None:
    """Log that `attempt` follows after a pause, with the host and port of the URL."""
    address = urlsplit(url).netloc.rpartition("@")[2]
    log.info("waiting for NCBI at %s, try %d of %d", address, attempt, of, extra={"address": address})


class HttpTransport:
    """HTTP/1.1 to one base URL with pooled connections. Redirects are not followed, as they would resend the key.

    Every request is a POST with a form, whatever its size: no secret is ever in a URL, where loggers, proxies and
    exceptions would pick it up, and no list of ids is too long. Threads may share a transport.
    """

    def __init__(
        self,
        base_url: str = EUTILS_URL,
        *,
        identity: Mapping[str, str],
        key: Callable[[], str] | None = None,
        transport: httpx.BaseTransport | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`identity` is sent with every request: tool and, if given, email. `key` is called for each, so that the API
        key can be rotated while the process runs."""
        self.base_url = base_url.rstrip("/") + "/"
        self._identity = {name: value for name, value in identity.items() if value}
        self._key = key
        self._max_bytes = max_bytes
        self._client = http_client(
            transport=transport,
            follow_redirects=False,
            headers={"User-Agent": identity.get("tool", "")},
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=8, keepalive_expiry=KEEP_ALIVE_S),
        )
        allowed, us = PER_SECOND_WITH_KEY if key else PER_SECOND, self._identity
        shown = re.sub("//[^/]*@", "//", self.base_url)  # no password
        self.initial_status = ConnectionStatus(us.get("tool", ""), us.get("email"), bool(key), allowed, address=shown)

    def send(self, endpoint: str, form: Form, deadline: Deadline) -> Answer:
        """Send one request and return the complete answer; `failure_in` decides what it means.

        A silent server is given up at the deadline, a slow one at the first pause after it. Raises `NcbiFailed` if
        there is no answer, `AnswerTooLarge`, `DeadlineExceeded`, `InvalidInput` and `Misconfigured`.
        """
        deadline.check("asking NCBI")
        url = f"{self.base_url}{endpoint}.{'cgi' if endpoint == 'ecitmatch' else 'fcgi'}"
        exchange = partial(self._exchange, url, endpoint, form, deadline)
        return asked(exchange, "NCBI", "NCBI_BASE_URL", deadline, NcbiFailed, NcbiUnreachable)

    def close(self) -> None:
        self._client.close()

    def _exchange(self, url: str, endpoint: str, form: Form, deadline: Deadline) -> Answer:
        fields = {key: value if isinstance(value, str) else list(value) for key, value in form.items()}
        keyed = {"api_key": self._key()} if self._key else {}
        return self._answer(endpoint, deadline, "POST", url, data={**fields, **self._identity, **keyed})

    def _answer(self, endpoint: str, deadline: Deadline, method: str, url: str, **request: Any) -> Answer:
        with self._client.stream(method, url, timeout=timeout_of(deadline), **request) as response:
            too_long = AnswerTooLarge("NCBI's answer is too long; ask for fewer records at once")
            body = read_body(response, deadline, "NCBI's answer was whole", too_long, self._max_bytes)
            return Answer(response.status_code, response.headers, body, endpoint)


# What each utility's answer is called, as JSON member and as XML root. EFetch's root depends on the database.
SHAPES = {
    "esearch": ("esearchresult", "eSearchResult"),
    "esummary": ("result", "eSummaryResult"),
    "elink": ("linksets", "eLinkResult"),
    "einfo": ("einforesult", "eInfoResult"),
    "espell": ("espellresult", "eSpellResult"),
}
_PLAIN_TEXT = ("efetch", "ecitmatch")
_REST = "PubMed gives the first 9,999 records of a search only; narrow it, for example by date, and ask in parts"


def failure_in(answer: Answer, now: datetime | None = None) -> Failure | None:
    """The failure that the answer represents, ready to be raised; None for a success, "nothing found" included.

    No failure quotes the answer, except the reason why a query cannot be run, which is redacted. `now` dates an answer
    without a Date header.
    """
    try:
        errors = _errors(answer)
        failure = _by_phrase(errors, answer) or _by_status(answer) or _by_shape(answer, bool(errors))
    except NcbiUnreadable as broken:
        failure = _by_status(answer) or broken
    if failure is not None:
        retry_after_s = answer.retry_after_s(now)
        failure.retry_after_s = retry_after_s if retry_after_s is not None else failure.retry_after_s
        failure.details.setdefault("endpoint", answer.endpoint)
        failure.details.setdefault("http_status", answer.status)
    return failure


def _errors(answer: Answer) -> list[str]:
    """The error messages in the answer. Raises `NcbiUnreadable`."""
    if answer.form == "json":
        return _json_errors(answer)
    if answer.form == "xml":  # an abstract never matches: character data cannot contain a raw `<`
        return [text.decode("utf-8", "replace") for text in _ERROR.findall(answer.body) if text]
    if answer.status != 200 or answer.endpoint not in _PLAIN_TEXT or _ROUTING.match(answer.body):
        return [answer.body[:4096].decode("utf-8", "replace")]
    return []


_ROUTING = re.compile(rb"\s*(Unable to route request!|error forwarding request|/lbsm/)")


def _json_errors(answer: Answer) -> list[str]:
    document = answer.json
    inner = document.get(SHAPES.get(answer.endpoint, ("", ""))[0])
    if answer.endpoint == "esummary" and isinstance(inner, dict) and inner.get("uids"):
        return []  # one bad id is reported beside the good summaries
    errors = [document.get(key) for key in ("error", "ERROR")]
    errors += document.get("esummaryresult") or []
    if isinstance(inner, dict):
        errors += [inner.get("ERROR"), inner.get("error")]
    if answer.endpoint == "elink" and isinstance(inner, list):
        errors += [linkset.get("ERROR") for linkset in inner if isinstance(linkset, dict)]
    return [error for error in errors if isinstance(error, str) and error.strip()]


_TROUBLED = NcbiFailed, "NCBI is having trouble and did not run the request; try again in a minute"
_LIMITED = NcbiRateLimited, "NCBI asked us to slow down; wait a little, or set NCBI_API_KEY for a higher limit"
_BACKEND = "PubMed could not run the query{reason}. Check brackets, quotes and field tags"
_BACKEND_PREFIX = re.compile(r"^Search Backend failed:\s*(Exception:)?")
_PHRASES: tuple[tuple[str, tuple[type[Failure], str]], ...] = (
    (r"API rate limit exceeded", _LIMITED),
    (
        r"API key (not valid|invalid)",
        (ClientRejected, "NCBI does not accept the API key; correct NCBI_API_KEY or unset it"),
    ),
    (r"cannot be larger than 9998|out of acceptable range", (BeyondReach, _REST)),
    (
        r"Unable to obtain query|cannot retrieve history data",
        (HistoryLost, "NCBI's history server no longer knows this search; search again"),
    ),
    (r"Search Backend failed", (SearchBackendFailed, _BACKEND)),
    (r"NCBI C\+\+ Exception|External viewer error|TXCLIENT|address table is empty", _TROUBLED),
    (r"error forwarding request|Unable to route request|/lbsm/eutils_lb", _TROUBLED),
    (r"Empty term and query_key", (InvalidInput, "the search term is empty; give at least one word")),
    (
        r"Empty id list|id parameter is empty|Neither query_key nor id",
        (InvalidInput, "no PMIDs were given; give at least one"),
    ),
    (
        r"Invalid uid|IDs have invalid value",
        (InvalidInput, "some ids are not PMIDs; a PMID is a number such as 30833575"),
    ),
    (r"Too many UIDs", (InvalidInput, "too many ids for one request; ask for at most 500")),
    (r"Invalid db name|Can ?not retrieve DbInfo", (InvalidInput, "NCBI has no such database; 'pubmed' is one")),
)


def _by_phrase(errors: list[str], answer: Answer) -> Failure | None:
    for phrase, (kind, sentence) in _PHRASES:
        for error in errors:
            if re.search(phrase, error, re.IGNORECASE):
                reason = redacted(_BACKEND_PREFIX.sub("", error.strip()))
                return kind(sentence.format(reason=f": {reason}" if reason else ""))
    unknown = errors and answer.status == 200 and answer.form in ("json", "xml")
    return NcbiFailed(_TROUBLED[1]) if unknown else None


_REFUSED = "NCBI refused the request (HTTP {status}); check NCBI_BASE_URL and NCBI_API_KEY"
_STATUSES: dict[int, tuple[type[Failure], str]] = {
    429: _LIMITED,
    414: (ClientRejected, "the request is too long for NCBI's address line; it must be sent as a form"),
    400: (SearchBackendFailed, "NCBI could not run the request. Check the query and the ids"),
    **dict.fromkeys((401, 403, 404, 405, 410), (ClientRejected, _REFUSED)),
    **dict.fromkeys(
        range(300, 400),
        (ClientRejected, "NCBI's address redirects elsewhere, which is not followed; correct NCBI_BASE_URL"),
    ),
}


def _by_status(answer: Answer) -> Failure | None:
    if answer.status == 200:
        return None
    other = NcbiFailed, "NCBI is having trouble (HTTP {status}); try again in a minute"
    kind, sentence = _STATUSES.get(answer.status, other)
    return kind(sentence.format(status=answer.status))


def _by_shape(answer: Answer, has_errors: bool) -> Failure | None:
    """A failure unless the body is complete and has the form of this utility's answers."""
    if answer.form == "html":
        return NcbiFailed("NCBI sent a web page in place of an answer; it may be down for maintenance, try again later")
    if not has_errors and _is_whole(answer):
        return None
    return NcbiUnreadable(f"NCBI's {answer.endpoint} answer is empty or cut short; try again")


def _is_whole(answer: Answer) -> bool:
    """Whether the body has the utility's member or root, closed at its end; what is between is left to the parser."""
    member, root = SHAPES.get(answer.endpoint, ("", ""))
    if answer.form == "json":
        return not member or member in answer.json
    if answer.form == "text":
        return answer.endpoint in _PLAIN_TEXT and bool(answer.body.strip())
    opened = _ROOT.match(answer.body)
    if not opened or (root and opened[1] != root.encode()):
        return False
    tail = answer.body[-200:].rstrip()
    if answer.body.find(b"<", opened.end()) < 0:
        return tail.endswith(b"/>")
    return re.search(rb"</" + re.escape(opened[1]) + rb"\s*>$", tail) is not None
