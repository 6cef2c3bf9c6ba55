"""What the project stores of every mode share."""

from collections.abc import Iterable

from bio_mcp.errors import NotFound

MAX_LISTED = 20


def unknown_project(project_id: str, existing: Iterable[str]) -> NotFound:
    """The failure for an unknown project; it lists up to `MAX_LISTED` others."""
    names = sorted(existing)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    listed = ", ".join(names[:MAX_LISTED]) or "none yet"
    return NotFound(
        f"Project {project_id!r} not found. Available projects: {listed}{more}", available_projects=names[:MAX_LISTED]
    )
