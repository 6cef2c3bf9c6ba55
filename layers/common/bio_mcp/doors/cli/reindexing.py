"""`bio-mcp reindex`: makes the passage index from the stored papers, also by another model beside the one in use."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.ports import Backends
from bio_mcp.ports.indexes import PaperIndex, Role
from bio_mcp.progress import Progress
from bio_mcp.syncing import reindexing
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import BIO_MCP

WEEK = 7 * 24 * 3600


class Reindex(Request):
    """No arguments."""

    pass


class Reindexed(Response):
    """The size of the new index; `another_model` if it replaced one of another model."""

    another_model: bool
    documents: int
    indexed: int
    chunks: int


class StartRequest(Request):
    """The name of an installed model; the configured one if empty."""

    model: str = ""


class IndexState(Response):
    """An index by its role; `behind` counts the papers that the searched one has and it lacks, or has older."""

    role: str
    model: str
    papers: int
    chunks: int
    behind: int


class IndexStates(Response):
    """The indexes of the papers, the searched one first."""

    indexes: list[IndexState]


@tool("corpus.reindex", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def reindex_corpus(request: Reindex, backends: Backends, context: Context) -> Reindexed:  # noqa: ARG001  a tool's form
    """Rebuild the passages of every stored paper, and the whole index if it was made by another model."""
    another = reindexing.reindex(backends, context.progress)
    size = corpus_size(backends)
    return Reindexed(another_model=another, documents=size.documents, indexed=size.indexed, chunks=size.chunks)


@tool("corpus.reindex.start", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def start_reindex(request: StartRequest, backends: Backends, context: Context) -> IndexStates:
    """Embed the papers by another model into an index beside the one that is searched."""
    index = reindexing.begin(backends.models.named(request.model), backends)
    reindexing.fill(index, backends, context.progress)
    return _states(backends)


@tool("corpus.reindex.status", family=BIO_MCP, scope="admin", timeout=600, read_only=False)
def reindex_status(request: Reindex, backends: Backends) -> IndexStates:  # noqa: ARG001  a tool's form
    """Say which indexes there are, and what each lacks."""
    return _states(backends)


@tool("corpus.reindex.switch", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def switch_index(request: Reindex, backends: Backends, context: Context) -> IndexStates:  # noqa: ARG001
    """Search the next index from now on."""
    reindexing.switch(Role.NEXT, backends, context.progress)
    return _states(backends)


@tool("corpus.reindex.rollback", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def roll_back_index(request: Reindex, backends: Backends, context: Context) -> IndexStates:  # noqa: ARG001
    """Search the previous index again."""
    reindexing.switch(Role.PREVIOUS, backends, context.progress)
    return _states(backends)


@tool("corpus.reindex.remove", family=BIO_MCP, scope="admin", timeout=600, read_only=False)
def remove_index(request: Reindex, backends: Backends) -> IndexStates:  # noqa: ARG001  a tool's form
    """Delete the index that is not searched."""
    backends.indexes.remove()
    return _states(backends)


def _states(backends: Backends) -> IndexStates:
    return IndexStates(indexes=[_state(each, backends) for each in backends.indexes.all()])


def _state(index: PaperIndex, backends: Backends) -> IndexState:
    papers, chunks = index.passages.count()
    behind = 0 if index.role is Role.SEARCHED else sum(1 for _ in reindexing.behind(index, backends))
    return IndexState(role=index.role, model=index.fingerprint, papers=papers, chunks=chunks, behind=behind)


@click.group("reindex", invoke_without_command=True)
@answering
def reindex_command(session: Session) -> None:
    """Rebuild the search index from the stored papers: after a restore, or for the configured embedding model.

    With `BIO_MCP_MULTILINGUAL` the second index, for questions in Thai, is completed as well. It may be stopped at any
    time: run it again, and no text is embedded twice. Searches go on meanwhile. The commands below change the model in
    steps of their own, with a way back.
    """
    if click.get_current_context().invoked_subcommand is None:
        with _counted("indexing") as progress:
            body = session.ask(reindex_corpus, {}, progress=progress)
        session.answer(body, render)


@reindex_command.command("start")
@click.option("--model", default="", help="An installed model, or openai:NAME.  [default: the configured one]")
@answering
def start_command(session: Session, model: str) -> None:
    """Embed the papers by another model, beside the index that is searched. Stopped, it is run again.

    From its beginning on syncs and imports write to both indexes.
    """
    with _counted("embedding") as progress:
        body = session.ask(start_reindex, {"model": model}, progress=progress)
    session.answer(body, render_states)


@reindex_command.command("status")
@answering
def status_command(session: Session) -> None:
    """Show the indexes of the papers, their models, and what each lacks."""
    session.answer(session.ask(reindex_status, {}), render_states)


@reindex_command.command("switch")
@answering
def switch_command(session: Session) -> None:
    """Search the next index from now on, in every process. The old one goes on being written to, for a way back."""
    with _counted("completing") as progress:
        body = session.ask(switch_index, {}, progress=progress)
    session.answer(body, render_states)


@reindex_command.command("rollback")
@answering
def rollback_command(session: Session) -> None:
    """Search the previous index again."""
    with _counted("completing") as progress:
        body = session.ask(roll_back_index, {}, progress=progress)
    session.answer(body, render_states)


@reindex_command.command("remove")
@answering
def remove_command(session: Session) -> None:
    """Delete the index that is not searched, with its vectors."""
    session.answer(session.ask(remove_index, {}), render_states)


@contextmanager
def _counted(what: str) -> Iterator[Progress]:
    """A progress bar of papers and their rate."""
    with terminal.progress(what) as update:
        rate = terminal.Rate()

        def progress(done: int, total: int | None, _papers: str) -> None:
            update(done, total, f"{done:,} papers, {rate(done):,.0f}/s")

        yield progress


def render(body: Mapping[str, Any]) -> None:
    """Print the size of the index."""
    made = "The index is now of the configured model" if body["another_model"] else "The index is complete"
    papers, passages = terminal.counted(body["indexed"], "paper"), terminal.counted(body["chunks"], "passage")
    terminal.say(f"{made}: {papers}, {passages}.")


def render_states(body: Mapping[str, Any]) -> None:
    """Print a row for each index."""
    rows = [
        (each["role"], each["model"], f"{each['papers']:,}", f"{each['chunks']:,}", f"{each['behind']:,}")
        for each in body["indexes"]
    ]
    terminal.show(terminal.table(("index", "model", "papers", "passages", "behind"), rows, right=(2, 3, 4)))
