"""Requests to one OpenSearch endpoint, in JSON: signed, bounded in time, and retried if it is busy.

No failure gives an address or a server's text, only the HTTP status and OpenSearch's own word.

Of opensearch-py its transport, its connection, its signer and their errors are used. `import opensearchpy` loads sixty
APIs, a query language and requests: 210 ms of CPU in a cold start. These modules take 10: the packages are entered
without being run, what is imported only if it can be is hidden, and the module of signers, of which one is for
requests, finds no more than a base class in place of that library. Beside other threads, which might import the same at
that moment, nothing that others use is hidden.
"""

import json
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec, module_from_spec
from ssl import create_default_context
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import urllib3

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DiskFull, Failure, IndexUnavailable, Misconfigured
from bio_mcp.scope import call_deadline
from bio_mcp.tracing import request_span

if TYPE_CHECKING:
    from botocore.credentials import Credentials


@contextmanager
def _stand_ins() -> Iterator[None]:
    """What the block imports finds these in place of modules that nobody has loaded; later imports load them whole."""
    placed = []
    alone = threading.active_count() == 1
    for name, stand_in in STAND_INS.items():
        ours = name.startswith("opensearchpy") or find_spec(name) is None
        if name not in sys.modules and (alone or ours):
            sys.modules[name] = stand_in(name)  # type: ignore[assignment]  # None hides a module
            placed.append(name)
    try:
        yield
    finally:
        for name in placed:
            del sys.modules[name]


def _package(name: str) -> ModuleType:
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return module_from_spec(spec)


def _requests(name: str) -> ModuleType:
    module = ModuleType(name)
    vars(module)["auth"] = SimpleNamespace(AuthBase=object)
    return module


STAND_INS: dict[str, Callable[[str], ModuleType | None]] = {
    "opensearchpy": _package,
    "opensearchpy.helpers": _package,
    "requests": _requests,
    "asyncio": lambda _name: None,  # 20 ms, for the name of an exception; a server has loaded it
    "simplejson": lambda _name: None,
}


with _stand_ins():
    from opensearchpy.connection.http_urllib3 import Urllib3HttpConnection
    from opensearchpy.exceptions import SerializationError, TransportError
    from opensearchpy.helpers.signer import Urllib3AWSV4SignerAuth
    from opensearchpy.transport import Transport


BUSY_STATUS = frozenset({429, 502, 503, 504})


class Busy(IndexUnavailable):
    """OpenSearch cannot answer now; the same request may succeed in a moment."""


class IndexRefused(IndexUnavailable):
    """OpenSearch refused the request; `status` is HTTP's, `kind` its own word for the reason."""

    def __init__(self, status: int, kind: str) -> None:
        advice = "Look at its log; the corpus itself is safe."
        if status in (401, 403):
            advice = "Check what the configured credentials may do there, and whether the index is blocked."
        super().__init__(f"The passage index refused a request ({status} {kind}). {advice}", retryable=status >= 500)
        self.status, self.kind = status, kind


class IndexGone(IndexRefused):
    """There is no such index."""


def kind_of(answer: Any) -> str:
    """Return OpenSearch's word for the innermost cause of an error, as index_not_found_exception."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        causes = error.get("root_cause") or [error]
        error = causes[0].get("type") or error.get("type")
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{3,80}", error) else "unknown_error"


FLOOD_STAGE = "/12/"  # the block that OpenSearch sets where a disk is over its flood-stage watermark
FULL = (
    "The disk of the passage index is full, and OpenSearch takes no more until there is room. What was written is "
    "safe; give its nodes more storage and try again."
)


def is_full(answer: Any) -> bool:
    """Whether this error says that a disk is full."""
    return kind_of(answer) == "cluster_block_exception" and FLOOD_STAGE in str(answer)


def failure(status: int, answer: Any) -> Failure:
    """What an answer with this status is raised as."""
    kind = kind_of(answer)
    if is_full(answer):
        return DiskFull(FULL)
    if status in BUSY_STATUS:
        return Busy(f"The passage index is busy (HTTP {status}); try again in a moment.")
    return (IndexGone if kind == "index_not_found_exception" else IndexRefused)(status, kind)


CONNECT_S = 3.0
POOL = 16  # open connections
PORTS = {"http": 80, "https": 443}
JUDGED_HERE = range(300, 600)  # statuses that opensearch-py would raise

Sign = Callable[[str, str, Any], Mapping[str, str]]
"""(method, URL, body) -> the headers that sign it."""


def client(url: str, sign: Sign | None = None) -> Transport:
    """Return a transport to `url`, for any number of threads. TLS trusts the system's certificates.

    Raises `Misconfigured` if `url` is no http address.
    """
    with suppress(ValueError):
        at = urlsplit(url.rstrip("/"))
        if at.scheme in PORTS and at.hostname:
            tls = create_default_context() if at.scheme == "https" else None
            port = at.port or PORTS[at.scheme]
            host = {"host": at.hostname, "port": port, "url_prefix": at.path, "use_ssl": tls is not None}
            return Transport([host], Connection, max_retries=0, pool_maxsize=POOL, ssl_context=tls, http_auth=sign)
    raise Misconfigured("BIO_MCP_OPENSEARCH_URL is not an http address; correct it")


class Connection(Urllib3HttpConnection):
    """Sends one request. Connecting may take `CONNECT_S` of its `timeout`."""

    def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        timeout: float | None = None,
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return status, headers and text of an answer of 200 to 299. Raises `Busy`, `IndexRefused` or `DiskFull` for
        any other."""
        seconds = self.timeout if timeout is None else timeout
        bounds: Any = urllib3.Timeout(connect=min(CONNECT_S, seconds), read=seconds)
        operation = next((part for part in url.split("?")[0].split("/") if part.startswith("_")), method)
        end, problem = request_span("OpenSearch", operation), ""
        try:
            answer = super().perform_request(method, url, params, body, bounds, (*ignore, *JUDGED_HERE), headers)
        except TransportError as error:
            answer, problem = None, type(error.info).__name__
        end(problem, {"status": str(answer[0])} if answer else {})
        if answer is None:  # out of the handler, so that nothing refers to the error, which has the address
            raise Busy(f"The passage index cannot be reached ({problem}); try again in a minute.")
        status, _, text = answer
        if status >= 300:
            try:
                said = json.loads(text)
            except ValueError:
                if status not in BUSY_STATUS:
                    raise Busy(f"The passage index gave an answer that cannot be read (HTTP {status}).") from None
                said = None
            raise failure(status, said)
        return answer

    def log_request_fail(self, *_: Any, **__: Any) -> None:
        """Log nothing: the caller gets an error, and the log would hold the address."""


def sigv4(service: str, region: str | None = None, credentials: "Credentials | None" = None) -> Urllib3AWSV4SignerAuth:
    """Return opensearch-py's signer (Signature Version 4); region and credentials are botocore's own unless given.

    It signs a header with the body's hash, without which Serverless answers 403. botocore renews credentials that
    expire. Raises `Misconfigured` if there are no credentials or no region.
    """
    from botocore.session import Session

    session = Session()
    found = credentials or session.get_credentials()
    place = region or session.get_config_variable("region")
    if found is None or place is None:
        raise Misconfigured("there are no AWS credentials or no region to sign requests to OpenSearch with")
    return Urllib3AWSV4SignerAuth(found, place, service)


T = TypeVar("T")
Actions = Callable[[Collection[str]], Mapping[str, bytes]]
"""Ids that are not written yet -> the lines to send for those that still need writing."""

REQUEST_BYTES = 4 << 20  # of a bulk request: small domains refuse more than 10 MiB
CONFLICT, NOT_FOUND, NO_ANSWER = 409, 404, 0
PASSING = (*BUSY_STATUS, CONFLICT, NO_ANSWER)
BACKOFF = Backoff(tries=5, first_s=0.1, cap_s=2.0)
BULK_BACKOFF = Backoff(tries=6, first_s=0.25, cap_s=8.0)
JSON, NDJSON = "application/json", "application/x-ndjson"


class _Pending(IndexUnavailable):
    """Some documents are not written yet, and none was refused."""


class OpenSearchTransport:
    """Sends requests. A request with all its retries takes `read_s` or `write_s` seconds at most, within the call's
    deadline."""

    def __init__(
        self,
        client: Transport,
        *,
        backoff: Backoff = BACKOFF,
        bulk_backoff: Backoff = BULK_BACKOFF,
        read_s: float = 7.0,
        write_s: float = 60.0,
    ) -> None:
        self._client, self.read_s, self.write_s = client, read_s, write_s
        self.backoff, self.bulk_backoff = backoff, bulk_backoff

    def ask(self, method: str, path: str, body: Any = None, read: Callable[[Any], T] = lambda answer: answer) -> T:
        """Send `body`, an object or a list of them (sent as lines), and return what `read` makes of the answer's JSON.

        Retries on `Busy`, which `read` may raise too. Raises `Busy` after the last try, and `IndexRefused`.
        """
        deadline = call_deadline().share(self.read_s if method == "GET" else self.write_s)
        return retry(
            lambda: read(self.once(method, path, body, deadline)),
            worth=Busy,
            deadline=deadline,
            backoff=self.backoff,
        )

    def once(self, method: str, path: str, body: Any, deadline: Deadline) -> Any:
        """Send one request and return the answer's JSON. `body` may also be bytes: lines that are ready to be sent."""
        kind = NDJSON if isinstance(body, bytes | list) else JSON
        if isinstance(body, list):
            body = lines(body)
        elif body is not None and kind == JSON:
            body = json.dumps(body).encode()
        seconds = max(0.1, min(deadline.remaining, 86_400))
        try:
            answer = self._client.perform_request(
                method, path, body=body or None, timeout=seconds, headers={"content-type": kind}
            )
        except SerializationError:
            answer = None
        if not isinstance(answer, dict):
            raise Busy("The passage index gave an answer that cannot be read; try again in a moment.")
        return answer

    def write_bulk(self, path: str, ids: Collection[str], actions: Actions) -> None:
        """Send bulk requests until the documents `ids` are written. Before every try `actions` gives their lines, from
        what is stored by then. Those refused for the moment are sent again, the others not.

        Raises `IndexUnavailable`, which counts the documents that were not written, `DiskFull`, and whatever `actions`
        raises. What was written stays written.
        """
        pending, deadline = list(ids), call_deadline().share(self.write_s)

        def write() -> None:
            due = actions(pending) if pending else {}
            answers = self._sent(path, due, deadline) if due else {}
            pending[:] = [key for key in due if answers[key][0] in PASSING]
            if refused := [why for status, why in answers.values() if not (status in PASSING or 200 <= status < 300)]:
                raise _unwritten(len(refused) + len(pending), len(ids), refused[0], retryable=False)
            if pending:
                raise _unwritten(len(pending), len(ids), answers[pending[0]][1], retryable=True)

        retry(write, worth=_Pending, backoff=self.bulk_backoff, deadline=deadline)

    def _sent(self, path: str, due: Mapping[str, bytes], deadline: Deadline) -> dict[str, tuple[int, str]]:
        """Send each document once; return status and reason by id, `NO_ANSWER` for those without an answer."""
        found = dict.fromkeys(due, (NO_ANSWER, "no answer"))
        for part in _parts(due):
            try:
                answer = self.once("POST", path, b"".join(part.values()), deadline)
            except Busy:
                break  # the parts after it would only add to its load
            except IndexRefused as error:
                found.update(dict.fromkeys(part, (error.status, error.kind)))
                break
            for item in answer.get("items", ()):
                [outcome] = item.values()
                if is_full(outcome):
                    raise DiskFull(FULL)
                deleted = outcome["status"] == NOT_FOUND and "error" not in outcome  # it had not been there
                if outcome["_id"] in part:
                    found[outcome["_id"]] = 200 if deleted else outcome["status"], kind_of(outcome)
        return found


def _parts(due: Mapping[str, bytes]) -> Iterator[dict[str, bytes]]:
    """Divide the lines into requests of at most `REQUEST_BYTES`; a document that is larger has one to itself."""
    part: dict[str, bytes] = {}
    size = 0
    for key, line in due.items():
        if part and size + len(line) > REQUEST_BYTES:
            yield part
            part, size = {}, 0
        part[key] = line
        size += len(line)
    yield part


def _unwritten(count: int, of: int, why: str, *, retryable: bool) -> IndexUnavailable:
    kind = _Pending if retryable else IndexUnavailable
    return kind(
        f"{count} of {of} documents could not be written to the passage index ({why}). The others are safe; "
        f"{'try again in a minute' if retryable else 'look at its log'}.",
        retryable=retryable,
        unwritten=count,
    )


def lines(objects: Sequence[Any]) -> bytes:
    """Write one JSON object a line, as `_bulk` and `_msearch` take them."""
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in objects)


def transport_to(url: str, service: str) -> OpenSearchTransport:
    """Return a transport to `url`, which connects when first used.

    `service` is es (a managed domain), aoss (Serverless) or none, which leaves requests unsigned.
    """
    return OpenSearchTransport(client(url, None if service == "none" else sigv4(service)))
