"""Documents at https addresses of the allowed hosts, and of no others."""

import ssl
from collections.abc import Sequence
from pathlib import PurePosixPath
from socket import getaddrinfo
from urllib.parse import unquote

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.adapters.sources.addresses import Resolve, checked_url
from bio_mcp.adapters.sources.fetching import GuardedFetch
from bio_mcp.deadline import call_deadline
from bio_mcp.errors import UpstreamFailed
from bio_mcp.ports.sources import MAX_BYTES, SourceFile

REDIRECTS = 5
WHOLE_S = 120.0


class WebFiles:
    """Documents by their https addresses, at the `hosts` that may be asked.

    `private` allows private addresses, `context` has the certificates to trust; both are for tests.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        max_bytes: int = MAX_BYTES,
        *,
        backoff: Backoff | None = None,
        resolve: Resolve = getaddrinfo,
        private: bool = False,
        context: ssl.SSLContext | None = None,
        whole_s: float = WHOLE_S,
    ) -> None:
        self._hosts, self._backoff, self._whole_s = hosts, backoff or Backoff(tries=3), whole_s
        self._fetch = GuardedFetch(
            hosts,
            max_bytes=max_bytes,
            whole_s=whole_s,
            redirects=REDIRECTS,
            resolve=resolve,
            private=private,
            context=context,
        )

    def locate(self, source: str, *, local: bool) -> str:  # noqa: ARG002  who asks makes no difference
        """The address without a fragment, its host as it is looked up."""
        return checked_url(source, self._hosts).geturl()

    def files(self, location: str, *, local: bool) -> list[SourceFile]:  # noqa: ARG002
        """The one document at the address."""
        parts = checked_url(location, self._hosts)
        last = PurePosixPath(unquote(parts.path, errors="replace")).name or parts.hostname or ""
        return [SourceFile("".join(each for each in last if each.isprintable())[:200], location)]

    def read(self, address: str, *, local: bool) -> bytes:  # noqa: ARG002
        """The document, after at most `REDIRECTS` redirects."""
        deadline = call_deadline().share(self._whole_s)
        return retry(
            lambda: self._fetch.fetch(address, deadline), worth=UpstreamFailed, backoff=self._backoff, deadline=deadline
        )
