"""`bio-mcp reindex`: rebuilds the passage index from the stored papers."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.ports import Backends
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.syncing.reindexing import reindex
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import BIO_MCP


class Reindex(Request):
    """No arguments."""

    pass


class Reindexed(Response):
    """The size of the new index; `another_model` if it replaced one of another model."""

    another_model: bool
    documents: int
    indexed: int
    chunks: int


@tool("corpus.reindex", family=BIO_MCP, scope="admin", timeout=7 * 24 * 3600, read_only=False)
def reindex_corpus(request: Reindex, backends: Backends, context: Context) -> Reindexed:  # noqa: ARG001  a tool's form
    """Rebuild the passages of every stored paper, and the whole index if it was made by another model."""
    another = reindex(backends, context.progress)
    size = corpus_size(backends)
    return Reindexed(another_model=another, documents=size.documents, indexed=size.indexed, chunks=size.chunks)


@click.command("reindex")
@answering
def reindex_command(session: Session) -> None:
    """Rebuild the search index from the stored papers: after a restore, or for another embedding model.

    With `BIO_MCP_MULTILINGUAL` the second index, for questions in Thai, is completed as well. It may be stopped at any
    time: run it again, and no text is embedded twice.
    """
    with terminal.progress("indexing") as update:
        rate = terminal.Rate()

        def progress(done: int, total: int | None, _papers: str) -> None:
            update(done, total, f"{done:,} papers, {rate(done):,.0f}/s")

        body = session.ask(reindex_corpus, {}, progress=progress)
    session.answer(body, render)


def render(body: Mapping[str, Any]) -> None:
    """Print the size of the index."""
    made = "The index is now of the configured model" if body["another_model"] else "The index is complete"
    papers, passages = terminal.counted(body["indexed"], "paper"), terminal.counted(body["chunks"], "passage")
    terminal.say(f"{made}: {papers}, {passages}.")
