"""HTTP clients, which say in plain words what is wrong with the environment that httpx is configured by."""

from typing import Any

import httpx

from bio_mcp.errors import InvalidInput


def http_client(**options: Any) -> httpx.Client:
    """httpx's client, with the proxies and certificates that the environment names. Raises `InvalidInput`."""
    try:
        return httpx.Client(**options)
    except ImportError:
        raise InvalidInput("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY names a SOCKS proxy; give an HTTP proxy") from None
    except OSError:
        raise InvalidInput("SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read") from None
    except (ValueError, httpx.InvalidURL):
        raise InvalidInput("ALL_PROXY, HTTPS_PROXY or HTTP_PROXY is not the address of a proxy") from None
