"""`bio-mcp skill`: copies the skills to where a client looks for them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import InvalidInput
from bio_mcp.skills import FILE, Skill, all_skills

DIRECTORIES: Mapping[str, tuple[str, str]] = {
    "claude": (".claude/skills", ".claude/skills"),
    "claude-code": (".claude/skills", ".claude/skills"),
    "codex": (".agents/skills", ".agents/skills"),
    "cursor": (".cursor/skills", ".cursor/skills"),
    "vscode": (".copilot/skills", ".github/skills"),
    "windsurf": (".codeium/windsurf/skills", ".windsurf/skills"),
}
"""Where each client looks for skills: below the home directory, and below a project's."""


@click.group("skill")
def skill_command() -> None:
    """Install the skills: procedures for the agent of your client."""


@skill_command.command("install")
@click.option("--client", type=click.Choice(list(DIRECTORIES)), default="claude", show_default=True, help="For which.")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="For the project in this directory alone.  [default: for you, in all projects]",
)
@click.option("--force", is_flag=True, help="Replace skills of the same name that differ.")
@answering
def install_command(session: Session, client: str, project: Path | None, force: bool) -> None:
    """Copy the skills to where the client finds them when it starts.

    A skill of the same name that differs, as one that you changed, is left as it is, and the exit code is 1.
    """
    of_user, of_project = DIRECTORIES[client]
    directory = project / of_project if project else Path.home() / of_user
    became = {each.name: _install(each, directory, force) for each in all_skills()}
    session.answer({"directory": str(directory), "skills": became}, render)
    session.code = 1 if "different" in became.values() else 0


def _install(skill: Skill, directory: Path, force: bool) -> str:
    """Put a skill into a directory of skills; say what became of it: installed, replaced, unchanged or different."""
    file = directory / skill.name / FILE
    try:
        there = file.read_bytes() if file.exists() else None
        if there == skill.content:
            return "unchanged"
        if there is not None and not force:
            return "different"
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_bytes(skill.content)
        new.replace(file)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from None
    return "installed" if there is None else "replaced"


def render(body: Mapping[str, Any]) -> None:
    """Print a row per skill, and what is left to do."""
    terminal.show(terminal.table(("skill", "is"), list(body["skills"].items())))
    terminal.say(f"In {body['directory']}; a client that runs finds them when it is started again.")
    if "different" in body["skills"].values():
        terminal.warn("What is different was left as it is; --force replaces it.")
