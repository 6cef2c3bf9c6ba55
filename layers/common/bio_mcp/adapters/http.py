"""HTTP clients whose errors explain what is wrong with the proxy and certificate variables that httpx reads."""

from functools import cache
from ssl import SSLContext
from typing import Any

import httpx

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Misconfigured

TRANSIENT_STATUSES = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # of requests that may succeed later
LARGEST = 1 << 20  # bytes of an answer of a model


def http_client(**options: Any) -> httpx.Client:
    """An httpx client with the proxies and certificates of the environment. Raises `Misconfigured` if those are
    unusable."""
    try:
        return httpx.Client(verify=trusted(), **options)
    except ImportError:
        raise Misconfigured("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY names a SOCKS proxy; give an HTTP proxy") from None
    except (ValueError, httpx.InvalidURL):
        raise Misconfigured("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY is not the address of a proxy") from None


@cache
def trusted() -> SSLContext:
    """The certificates of the environment, for all clients of this process: reading them takes some 30 ms.

    Raises `Misconfigured` where they cannot be read.
    """
    try:
        return httpx.create_ssl_context()
    except OSError:
        raise Misconfigured("SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read") from None


def read_body(response: httpx.Response, deadline: Deadline, doing: str) -> bytes:
    """The body. Raises `ValueError` where it is too long, `DeadlineExceeded` where it still comes when time is over."""
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        deadline.check(doing)
        if len(content) > LARGEST:
            raise ValueError("the body is too long")
    return bytes(content)


def answers(url: str, timeout_s: float) -> bool:
    """Whether anything at the address speaks HTTP, whatever it says."""
    try:
        with http_client(timeout=timeout_s) as client, client.stream("GET", url):
            return True
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def seconds(text: str | None) -> float | None:
    """The seconds that a header asks for, 0 or more; None without one, or for a date."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
