"""`bio-mcp reindex`: makes the passage index from the stored papers, also by another model beside the one in use."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.reindex_tools import (
    compare_indexes,
    reindex_corpus,
    reindex_status,
    remove_index,
    roll_back_index,
    start_reindex,
    switch_index,
)
from bio_mcp.doors.cli.session import Session
from bio_mcp.progress import Progress


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
@click.option("--force", is_flag=True, help="Also where neither model nor settings are others.")
@answering
def start_command(session: Session, model: str, force: bool) -> None:
    """Fill an index of another model beside the one that is searched, or of the same with the settings of now.

    Stopped, it is run again. Vectors of the same model are copied. From its beginning on syncs and imports write to
    both indexes.
    """
    with _counted("indexing") as progress:
        body = session.ask(start_reindex, {"model": model, "force": force}, progress=progress)
    session.answer(body, render_states)


@reindex_command.command("status")
@answering
def status_command(session: Session) -> None:
    """Show the indexes of the papers, their models, and what each lacks."""
    session.answer(session.ask(reindex_status, {}), render_states)


questions = click.option(
    "--set",
    "name",
    metavar="smoke|curated|FILE",
    default="curated",
    show_default=True,
    help="Questions: to the bundled sample, PubMedQA's, each by both models, or JSON lines of yours to the papers.",
)


@reindex_command.command("compare")
@questions
@answering
def compare_command(session: Session, name: str) -> None:
    """Ask judged questions of both indexes, and show what each finds; exits 1 if the next one finds less."""
    with terminal.progress("comparing") as progress:
        body = session.ask(compare_indexes, {"set": name}, progress=progress)
    session.code = 1 if body["worse"] else session.code
    session.answer(body, render_compared)


@reindex_command.command("switch")
@questions
@click.option("--unchecked", is_flag=True, help="Compare nothing, and switch.")
@answering
def switch_command(session: Session, name: str, unchecked: bool) -> None:
    """Search the next index from now on, in every process, unless it finds less by more than chance.

    The old one goes on being written to, for a way back.
    """
    with terminal.progress("switching" if unchecked else "comparing") as progress:
        body = session.ask(switch_index, {"set": name, "unchecked": unchecked}, progress=progress)
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
        (
            each["role"],
            each["model"],
            each["settings"],
            *(f"{each[count]:,}" for count in ("papers", "chunks", "behind")),
        )
        for each in body["indexes"]
    ]
    names = ("index", "model", "settings", "papers", "passages", "behind")
    terminal.show(terminal.table(names, rows, right=(3, 4, 5)))


def render_compared(body: Mapping[str, Any]) -> None:
    """Print a row for each figure, how alike the first papers are, and what is worse."""
    rows = [
        (each["name"], f"{each['searched']:.3f}", f"{each['next']:.3f}", f"{each['low']:+.3f} to {each['high']:+.3f}")
        for each in body["figures"]
    ]
    terminal.show(terminal.table(("figure", "searched", "next", "difference, 95 %"), rows, right=(1, 2, 3)))
    low, high = body["overlap_low"], body["overlap_high"]
    terminal.say(f"Of the first ten papers {body['overlap']:.0%} are the same in both ({low:.0%} to {high:.0%}).")
    for name in body["worse"]:
        terminal.fail(f"{name} is worse by more than chance")
