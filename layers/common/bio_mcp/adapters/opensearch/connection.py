"""opensearch-py's transport to one endpoint. It retries nothing, follows no redirect, logs no address, and raises only
`Busy` and `IndexRefused`."""

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from ssl import create_default_context
from typing import Any
from urllib.parse import urlsplit

import urllib3

from bio_mcp.adapters.opensearch.errors import BUSY_STATUS, Busy, IndexRefused, kind_of
from bio_mcp.adapters.opensearch.library import Transport, TransportError, Urllib3HttpConnection
from bio_mcp.errors import IndexUnavailable, Misconfigured

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
    host = _host(url)
    tls = create_default_context() if host["use_ssl"] else None
    return Transport([host], Connection, max_retries=0, pool_maxsize=POOL, ssl_context=tls, http_auth=sign)


def _host(url: str) -> dict[str, Any]:
    with suppress(ValueError):
        at = urlsplit(url.rstrip("/"))
        if at.scheme in PORTS and at.hostname:
            port = at.port or PORTS[at.scheme]
            return {"host": at.hostname, "port": port, "url_prefix": at.path, "use_ssl": at.scheme == "https"}
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
        """Return status, headers and text of an answer of 200 to 299. Raises `Busy` or `IndexRefused` for any other."""
        seconds = self.timeout if timeout is None else timeout
        bounds: Any = urllib3.Timeout(connect=min(CONNECT_S, seconds), read=seconds)
        try:
            answer = super().perform_request(method, url, params, body, bounds, (*ignore, *JUDGED_HERE), headers)
        except TransportError as error:
            answer, failure = None, type(error.info).__name__
        if answer is None:  # out of the handler, so that nothing refers to the error, which has the address
            raise Busy(f"The passage index cannot be reached ({failure}); try again in a minute.")
        status, _, text = answer
        if status >= 300:
            raise _failure(status, text)
        return answer

    def log_request_fail(self, *_: Any, **__: Any) -> None:
        """Log nothing: the caller gets an error, and the log would hold the address."""


def _failure(status: int, text: str) -> IndexUnavailable:
    if status in BUSY_STATUS:
        return Busy(f"The passage index is busy (HTTP {status}); try again in a moment.")
    try:
        return IndexRefused(status, kind_of(json.loads(text)))
    except ValueError:
        return Busy(f"The passage index gave an answer that cannot be read (HTTP {status}).")
