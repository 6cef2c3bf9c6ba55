"""Where people sign in and clients get tokens, as a Lambda function, which reaches nothing but who may do what.

A snapshot (SnapStart) has the client of its store and the templates of its pages. It has no connection, and no secret:
keys are read, and secrets made, when a request needs them.
"""

from collections.abc import Callable
from typing import Any

from bio_mcp import wiring
from bio_mcp.doors.auth import server as sign_in
from bio_mcp.doors.auth.access import access_if_complete
from bio_mcp.doors.auth.sessions import Sessions
from bio_mcp.doors.aws.gateway import behind_gateway
from bio_mcp.doors.aws.remote import SNAPSHOT
from bio_mcp.doors.aws.tool_function import Handler
from bio_mcp.doors.console import people
from bio_mcp.doors.console.rendering import compile_templates
from bio_mcp.doors.web import pages_alone
from bio_mcp.lazy import Lazy
from bio_mcp.settings import Settings


def authorize_handler(backends: Callable[[], Any] = wiring.backends) -> Handler:
    """The handler for signing in and, where this installation gives out its own tokens, for its authorization server.
    Without access tokens there is neither."""
    settings = Settings.from_env()
    authorizations, documents = Lazy(lambda: backends().authorizations), Lazy(wiring.client_documents)
    access = access_if_complete(settings, authorizations)
    sessions = Sessions(authorizations, https=True)
    if settings.initialization == SNAPSHOT:
        compile_templates()
        authorizations()
    pages = [
        *sign_in.routes(access, sessions, authorizations, lambda address: documents()(address)),
        *people.routes(access, sessions, authorizations, Lazy(lambda: backends().limits)),
    ]
    return behind_gateway(pages_alone(settings, pages), settings)
