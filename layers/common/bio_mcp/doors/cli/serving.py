"""`bio-mcp serve` and `bio-mcp stdio`: MCP over HTTP and over standard input and output."""

from typing import cast

import click

from bio_mcp.catalog import TOOLS
from bio_mcp.doors import console
from bio_mcp.doors.cli.session import Session
from bio_mcp.doors.logs import log_for_people
from bio_mcp.doors.worker import Queue, Worker
from bio_mcp.syncing.importing import corpus_size


@click.command("serve")
@click.option("--host", help="Address to listen on.  [default: MCP_HTTP_HOST or 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on; 0: any free one.  [default: MCP_HTTP_PORT or 3010]")
@click.pass_obj
def serve_command(session: Session, host: str | None, port: int | None) -> None:
    """Serve MCP over Streamable HTTP at /mcp until stopped."""
    from bio_mcp.doors.local import serve_locally
    from bio_mcp.doors.mcp import in_process
    from bio_mcp.doors.mcp_http import application

    settings = session.settings
    log_for_people(settings.log_level)
    app = application(settings, in_process(session.backends))
    papers = corpus_size(session.backends).documents

    def announce(base: str) -> None:
        console.say(
            f"bio-mcp serves {console.many(papers, 'paper')} at {base}/mcp",
            f"  claude mcp add --transport http bio-mcp {base}/mcp",
            "  Ctrl-C stops it. Other clients: README.md, Connect a client",
        )

    port = settings.http_port if port is None else port
    with Worker(cast(Queue, session.backends.continuations), TOOLS, session.backends):
        serve_locally(app, host or settings.http_host, port, announce)


@click.command("stdio")
@click.pass_obj
def stdio_command(session: Session) -> None:
    """Serve MCP over standard input and output, to the program that starts this."""
    from bio_mcp.doors.stdio import serve

    log_for_people(session.settings.log_level)
    with Worker(cast(Queue, session.backends.continuations), TOOLS, session.backends):
        serve(session.settings, session.backends)
