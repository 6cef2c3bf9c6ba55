"""Decides whether an answer of the E-utilities is a success. HTTP 200 does not imply one, and 400 is not always final.

Each phrase and status comes from a recorded or documented answer; the recordings are in tests/data/eutils.
"""

import re
from collections.abc import Callable
from datetime import datetime

from bio_mcp.adapters.entrez.answer import Answer
from bio_mcp.adapters.entrez.errors import BeyondReach, ClientRejected, HistoryLost, KeyRejected, SearchBackendFailed
from bio_mcp.adapters.entrez.redaction import redacted
from bio_mcp.errors import Failure, InvalidInput, NcbiFailed, NcbiRateLimited, NcbiUnreadable

# What each utility's answer is called, as JSON member and as XML root. EFetch's root depends on the database.
SHAPES = {
    "esearch": ("esearchresult", "eSearchResult"),
    "esummary": ("result", "eSummaryResult"),
    "elink": ("linksets", "eLinkResult"),
    "einfo": ("einforesult", "eInfoResult"),
    "epost": ("epostresult", "ePostResult"),
    "espell": ("espellresult", "eSpellResult"),
}
_PLAIN_TEXT = ("efetch", "ecitmatch")
_HARMLESS = "Some IDs have invalid value and were omitted"  # EPost stored the other ids
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
    if answer.is_json:
        return _json_errors(answer)
    if answer.is_xml:
        posted = b"<WebEnv>" in answer.body
        return [error for error in answer.xml_errors if not (posted and error.startswith(_HARMLESS))]
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


Maker = Callable[[str], Failure]


def _troubled(_: str) -> Failure:
    return NcbiFailed("NCBI is having trouble and did not run the request; try again in a minute")


def _limited(_: str) -> Failure:
    return NcbiRateLimited("NCBI asked us to slow down; wait a little, or set NCBI_API_KEY for a higher limit")


def _rejected_key(_: str) -> Failure:
    return KeyRejected("NCBI does not accept the API key; correct NCBI_API_KEY or unset it")


def _beyond(_: str) -> Failure:
    return BeyondReach(_REST)


def _lost(_: str) -> Failure:
    return HistoryLost("NCBI's history server no longer knows this search; search again")


def _backend(error: str) -> Failure:
    reason = redacted(re.sub(r"^Search Backend failed:\s*(Exception:)?", "", error.strip()))
    quoted = f": {reason}" if reason else ""
    return SearchBackendFailed(f"PubMed could not run the query{quoted}. Check brackets, quotes and field tags")


def _invalid(sentence: str) -> Maker:
    return lambda _: InvalidInput(sentence)


_PHRASES: tuple[tuple[str, Maker], ...] = (
    (r"API rate limit exceeded", _limited),
    (r"API key (not valid|invalid)", _rejected_key),
    (r"cannot be larger than 9998|out of acceptable range", _beyond),
    (r"Unable to obtain query|cannot retrieve history data", _lost),
    (r"Search Backend failed", _backend),
    (r"NCBI C\+\+ Exception|External viewer error|TXCLIENT|address table is empty", _troubled),
    (r"error forwarding request|Unable to route request|/lbsm/eutils_lb", _troubled),
    (r"Empty term and query_key", _invalid("the search term is empty; give at least one word")),
    (
        r"Empty id list|id parameter is empty|Neither query_key nor id",
        _invalid("no PMIDs were given; give at least one"),
    ),
    (r"Invalid uid|IDs have invalid value", _invalid("some ids are not PMIDs; a PMID is a number such as 30833575")),
    (r"Too many UIDs", _invalid("too many ids for one request; ask for at most 500")),
    (r"Invalid db name|Can ?not retrieve DbInfo", _invalid("NCBI has no such database; 'pubmed' is one")),
)


def _by_phrase(errors: list[str], answer: Answer) -> Failure | None:
    for phrase, make in _PHRASES:
        for error in errors:
            if re.search(phrase, error, re.IGNORECASE):
                return make(error)
    unknown = errors and answer.status == 200 and (answer.is_json or answer.is_xml)
    return _troubled("") if unknown else None


def _by_status(answer: Answer) -> Failure | None:
    status = answer.status
    if status == 200:
        return None
    if status == 429:
        return _limited("")
    if status == 414:
        return ClientRejected("the request is too long for NCBI's address line; it must be sent as a form")
    if 300 <= status < 400:
        return ClientRejected("NCBI's address redirects elsewhere, which is not followed; correct NCBI_BASE_URL")
    if status in (401, 403, 404, 405, 410):
        return ClientRejected(f"NCBI refused the request (HTTP {status}); check NCBI_BASE_URL and NCBI_API_KEY")
    if status == 400:
        return SearchBackendFailed("NCBI could not run the request. Check the query and the ids")
    return NcbiFailed(f"NCBI is having trouble (HTTP {status}); try again in a minute")


def _by_shape(answer: Answer, has_errors: bool) -> Failure | None:
    """A failure unless the body is complete and has the form of this utility's answers."""
    if answer.is_html:
        return NcbiFailed("NCBI sent a web page in place of an answer; it may be down for maintenance, try again later")
    if not has_errors and _is_whole(answer):
        return None
    return NcbiUnreadable(f"NCBI's {answer.endpoint} answer is empty or cut short; try again")


def _is_whole(answer: Answer) -> bool:
    member, root = SHAPES.get(answer.endpoint, ("", ""))
    if answer.is_json:
        return not member or member in answer.json
    if answer.is_xml:
        return answer.is_whole_xml and (not root or answer.root == root)
    return answer.endpoint in _PLAIN_TEXT and bool(answer.body.strip())
