"""The public keys (JSON Web Key Set) that an issuer of access tokens publishes."""

import httpx

from bio_mcp.adapters.http import http_client
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed

TIMEOUT_S = 3.0  # for the whole answer
MAX_BYTES = 256 * 1024
HEADERS = {"accept": "application/json", "accept-encoding": "identity"}


def fetch(url: str, *, timeout_s: float = TIMEOUT_S, max_bytes: int = MAX_BYTES) -> bytes:
    """Fetch the key set at `url` as bytes. Redirects are not followed, as they could lead from https to http.

    Raises `UpstreamFailed`, whose message contains neither the address nor the answer.
    """
    deadline = Deadline(timeout_s)
    try:
        with http_client(timeout=timeout_s) as client, client.stream("GET", url, headers=HEADERS) as response:
            if response.status_code == httpx.codes.OK:
                return _body(response, deadline, max_bytes)
            problem = f"status {response.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, DeadlineExceeded) as error:
        problem = type(error).__name__
    raise UpstreamFailed(f"the issuer's keys could not be read ({problem}); try again in a minute")


def _body(response: httpx.Response, deadline: Deadline, max_bytes: int) -> bytes:
    body = b""
    for chunk in response.iter_bytes():
        deadline.check("the issuer's keys were whole")
        body += chunk
        if len(body) > max_bytes:
            raise UpstreamFailed("the issuer's keys are longer than any set of keys; check MCP_AUTH_JWKS_URL")
    return body
