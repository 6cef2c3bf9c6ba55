"""HTTP clients whose errors explain what is wrong with the proxy and certificate variables that httpx reads."""

from typing import Any

import httpx

from bio_mcp.errors import Misconfigured


def http_client(**options: Any) -> httpx.Client:
    """An httpx client with the proxies and certificates of the environment. Raises `Misconfigured` if those are
    unusable."""
    try:
        return httpx.Client(**options)
    except ImportError:
        raise Misconfigured("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY names a SOCKS proxy; give an HTTP proxy") from None
    except OSError:
        raise Misconfigured("SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read") from None
    except (ValueError, httpx.InvalidURL):
        raise Misconfigured("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY is not the address of a proxy") from None


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
