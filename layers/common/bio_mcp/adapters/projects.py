"""What the projects of every store have in common."""

from collections.abc import Iterable

from bio_mcp.errors import NotFound

NAMED = 20  # projects that a message lists


def unknown_project(project_id: str, there_are: Iterable[str]) -> NotFound:
    """The failure that says which projects can be asked for instead."""
    names = sorted(there_are)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    listed = ", ".join(names[:NAMED]) or "none yet"
    return NotFound(
        f"Project {project_id!r} not found. Available projects: {listed}{more}", available_projects=names[:NAMED]
    )
