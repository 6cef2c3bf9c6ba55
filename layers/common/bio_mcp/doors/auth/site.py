"""The pages and endpoints by which people sign in and programs are connected."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from bio_mcp.doors.auth import signing_in
from bio_mcp.doors.auth.access import Access
from bio_mcp.doors.auth.people import People
from bio_mcp.doors.auth.rate import RateLimiter
from bio_mcp.doors.auth.server import routes as server
from bio_mcp.doors.auth.sessions import Sessions
from bio_mcp.ports.authorizations import Authorizations

REQUESTS_A_MINUTE = 300  # of an address, in each process


def routes(
    access: Access | None,
    sessions: Sessions,
    authorizations: Callable[[], Authorizations],
    read_document: Callable[[str], bytes],
) -> list[BaseRoute]:
    """Sign-in and sign-out wherever there are access tokens, and the authorization server wherever it is the issuer.

    They come before the console's routes, the last of which takes every path.
    """
    if access is None:
        return []
    rate = RateLimiter(REQUESTS_A_MINUTE)
    pages = signing_in.routes(People(authorizations), sessions, rate)
    if not access.issues_tokens:
        return pages
    return [*pages, *server.routes(access, sessions, authorizations, read_document, rate)]
