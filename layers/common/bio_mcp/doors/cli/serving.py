"""`bio-mcp serve` and `bio-mcp stdio`: MCP over HTTP and over standard input and output."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from bio_mcp.catalog import TOOLS
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.doors.logs import exporting, log_for_people
from bio_mcp.doors.queue_worker import worker
from bio_mcp.settings import Settings, words_of
from bio_mcp.syncing.importing import corpus_size

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from bio_mcp.doors.auth.access import Access

AUTHORIZATION_LINE = '    --header "Authorization: Bearer $TOKEN"'  # as `bio-mcp token` prints one
MAX_DEFAULT = 4  # processes: each has the model and the index in memory; one where sockets cannot be inherited

TOOLS_OPTION = click.option(
    "--tools",
    metavar="LIST",
    help="What clients are listed: default, all, families and single tools, as rag,getFullText.  "
    "[default: BIO_MCP_TOOLS or default]",
)


@click.command("serve")
@click.option("--host", help="Address to listen on.  [default: MCP_HTTP_HOST or 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on; 0: any free one.  [default: MCP_HTTP_PORT or 3010]")
@click.option("--workers", type=click.IntRange(1, 64), help="Processes.  [default: MCP_HTTP_WORKERS or one per core]")
@TOOLS_OPTION
@click.option("--along", type=int, hidden=True, help="The number of a socket that another process of serve opened.")
@answering
def serve_command(
    session: Session, host: str | None, port: int | None, workers: int | None, tools: str | None, along: int | None
) -> None:
    """Serve MCP over HTTP at /mcp, and a console for the browser at /, until stopped.

    To this machine only, unless access tokens are configured or reading takes none: docs/settings.md,
    MCP_AUTH_SECRET_KEY and BIO_MCP_PUBLIC_READ.
    """
    from bio_mcp.doors.auth.access import access
    from bio_mcp.doors.local import must_be_addresses, must_require_tokens, serve_locally, serve_on_socket

    settings = listing(session.settings, tools)
    log_for_people(settings.log_level)
    host, allowed = host or settings.http_host, access(settings, lambda: session.backends.authorizations)
    must_require_tokens(host, allowed is not None)
    must_be_addresses(settings.trusted_proxies)
    app = _application(session, settings, host, allowed)
    if along is not None:
        with exporting(settings.otlp_endpoint):
            serve_on_socket(app, along, settings.trusted_proxies)
        return
    announce = _announcing(session, settings.resource_url, access=allowed)
    port = settings.http_port if port is None else port
    count = workers or settings.http_workers or (min(os.cpu_count() or 1, MAX_DEFAULT) if os.name == "posix" else 1)
    with _worker(session), exporting(settings.otlp_endpoint):
        another = partial(command_on_socket, host, settings.listed_tools)
        serve_locally(app, host, port, announce, count, another, settings.trusted_proxies)


def listing(settings: Settings, tools: str | None) -> Settings:
    """The settings with what the option --tools says to list."""
    return replace(settings, listed_tools=words_of(tools)) if tools else settings


def _application(session: Session, settings: Settings, host: str, allowed: "Access | None") -> "ASGIApp":
    """The endpoint, and the console for who is signed in; for everybody where only this machine is served."""
    from bio_mcp import wiring
    from bio_mcp.doors.auth import server as sign_in
    from bio_mcp.doors.auth.access import is_loopback
    from bio_mcp.doors.auth.sessions import Sessions, SignedIn
    from bio_mcp.doors.console import people
    from bio_mcp.doors.console.routes import routes
    from bio_mcp.doors.mcp.http import application
    from bio_mcp.doors.readiness import parts_of
    from bio_mcp.doors.running import in_process

    invoke = in_process(session.backends)
    sessions = Sessions(lambda: session.backends.authorizations, https=settings.resource_url.startswith("https:"))
    pages = [
        *sign_in.routes(allowed, sessions, lambda: session.backends.authorizations, wiring.client_documents()),
        *people.routes(allowed, sessions, lambda: session.backends.authorizations, lambda: session.backends.limits),
        *routes(invoke, partial(SignedIn, access=allowed, sessions=sessions), resource=settings.resource_url),
    ]
    here = f"[{host}]:*" if ":" in host else f"{host}:*"  # requests may name the server so, at any port
    named, parts = replace(settings, allowed_hosts=(*settings.allowed_hosts, here)), parts_of(session.backends)
    return application(named, invoke, allowed, public=not is_loopback(host), pages=pages, parts=parts)


def command_on_socket(host: str, tools: Sequence[str], number: int) -> list[str]:
    """The command of a further process, which reads the same environment."""
    program = "import sys; from bio_mcp.doors.cli import main; sys.exit(main())"
    return [sys.executable, "-c", program, "serve", "--host", host, "--tools", ",".join(tools), "--along", str(number)]


def _announcing(session: Session, resource: str, *, access: "Access | None") -> Callable[[str], None]:
    papers = corpus_size(session.backends).documents
    by_token = access is not None and not (access.public_read or access.issues_tokens)

    def announce(base: str) -> None:
        command = f"  claude mcp add --transport http bio-mcp {resource or f'{base}/mcp'}"
        lines = [
            f"bio-mcp serves {terminal.counted(papers, 'paper')} at {base}/mcp, and a console for people at {base}/",
            *([f"{command} \\", AUTHORIZATION_LINE] if by_token else [command]),
            *(["  Invite people, who sign in: bio-mcp admin invite --subject NAME"] if access is not None else []),
            "  Ctrl-C stops it. Other clients: README.md, Connect a client",
        ]
        session.answer({"endpoint": f"{base}/mcp", "console": f"{base}/", "papers": papers}, "\n".join(lines))

    return announce


@click.command("stdio")
@TOOLS_OPTION
@click.pass_obj
def stdio_command(session: Session, tools: str | None) -> None:
    """Serve MCP over standard input and output, to the program that starts this."""
    from bio_mcp.doors.mcp.stdio import serve

    log_for_people(session.settings.log_level)
    with _worker(session), exporting(session.settings.otlp_endpoint):
        serve(listing(session.settings, tools), session.backends)


def _worker(session: Session) -> AbstractContextManager[object]:
    """The worker for the queue of a data directory. On AWS the sync function works through the queue."""
    if session.settings.mode != "embedded":
        return nullcontext()
    return worker(session.backends.continuations, TOOLS, session.backends)
