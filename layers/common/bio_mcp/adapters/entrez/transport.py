"""Sends requests to the E-utilities over HTTP."""

import logging
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import httpx

from bio_mcp.adapters.entrez.answer import Answer
from bio_mcp.adapters.entrez.errors import AnswerTooLarge
from bio_mcp.adapters.http import http_client
from bio_mcp.adapters.rate_limit import PER_SECOND, PER_SECOND_WITH_KEY
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, InvalidInput, Misconfigured, NcbiFailed
from bio_mcp.literature.eutils import EUTILS_URL
from bio_mcp.ports.pubmed import ConnectionStatus

log = logging.getLogger("bio_mcp.ncbi")

Form = Mapping[str, str | Sequence[str]]

CONNECT_S = 10.0
READ_S = 30.0
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
        transport: httpx.BaseTransport | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`identity` is read and sent with every request: tool and, if given, email and api_key."""
        self._base_url = base_url.rstrip("/") + "/"
        self._identity = identity
        self._max_bytes = max_bytes
        self._client = http_client(
            transport=transport,
            follow_redirects=False,
            headers={"User-Agent": identity.get("tool", "")},
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=8, keepalive_expiry=KEEP_ALIVE_S),
        )

    def log_wait(self, attempt: int, of: int) -> None:
        """Log that `attempt` follows after a pause, with the server's host and port."""
        log_wait(self._base_url, attempt, of)

    @property
    def initial_status(self) -> ConnectionStatus:
        """How NCBI sees this client, and the number of requests per second that it allows."""
        us, keyed = self._identity, "api_key" in list(self._identity)  # a key is read only when it is sent
        return ConnectionStatus(
            us.get("tool", ""), us.get("email") or None, keyed, PER_SECOND_WITH_KEY if keyed else PER_SECOND
        )

    def send(self, endpoint: str, form: Form, deadline: Deadline) -> Answer:
        """Send one request and return the complete answer; `failure_in` decides what it means.

        A silent server is given up at the deadline, a slow one at the first pause after it. Raises `NcbiFailed` if
        there is no answer, `AnswerTooLarge`, `DeadlineExceeded`, `InvalidInput` and `Misconfigured`.
        """
        deadline.check("asking NCBI")
        url = f"{self._base_url}{endpoint}.{'cgi' if endpoint == 'ecitmatch' else 'fcgi'}"
        failure: Failure
        try:
            return self._exchange(url, endpoint, form, deadline)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            failure = Misconfigured("NCBI_BASE_URL is not an http address; correct it")
        except UnicodeEncodeError:
            failure = InvalidInput("the request contains an unpaired surrogate; remove it")
        except httpx.HTTPError as error:
            failure = NcbiFailed(f"NCBI could not be reached ({type(error).__name__}); try again in a minute")
        # Raised here and not in the handler: httpx's exception holds the request, and so the key.
        if failure.retryable:
            deadline.check("NCBI answered")
        raise failure

    def close(self) -> None:
        """Close the pooled connections."""
        self._client.close()

    def _exchange(self, url: str, endpoint: str, form: Form, deadline: Deadline) -> Answer:
        fields = {key: value if isinstance(value, str) else list(value) for key, value in form.items()}
        with self._client.stream(
            "POST", url, data={**fields, **self._identity}, timeout=timeout_of(deadline)
        ) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, headers, self._body(response, deadline), endpoint)

    def _body(self, response: httpx.Response, deadline: Deadline) -> bytes:
        chunks: list[bytes] = []
        size = 0
        for chunk in response.iter_bytes():
            deadline.check("NCBI's answer was whole")
            size += len(chunk)
            if size > self._max_bytes:
                raise AnswerTooLarge("NCBI's answer is too long; ask for fewer records at once")
            chunks.append(chunk)
        return b"".join(chunks)


def timeout_of(deadline: Deadline) -> httpx.Timeout:
    """Time-outs for connecting and for pauses in an answer, within what is left of the deadline."""
    left = deadline.remaining
    return httpx.Timeout(min(READ_S, left), connect=min(CONNECT_S, left))
