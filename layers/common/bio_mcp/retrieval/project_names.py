"""Ids of projects, and the names of their collections."""

import re
from collections.abc import Iterable
from hashlib import sha256

from bio_mcp.errors import InvalidInput, NotFound

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")
_READABLE = re.compile(r"[a-z0-9._]+(?:/[a-z0-9._-]+)?")
MAX_ID = 100  # characters
MAX_LISTED = 20  # projects that exist, in a failure


def checked_project_id(project_id: str) -> str:
    """Return the id. Raises `InvalidInput` for one that no project can have."""
    if len(project_id) > MAX_ID or not _ID.fullmatch(project_id):
        raise InvalidInput(
            f"{project_id[:MAX_ID]!r} cannot be the id of a project: use lower-case letters, digits, '.', '_' and '-', "
            f"in parts joined by '/', at most {MAX_ID} characters, such as lab/heart-failure"
        )
    return project_id


def collection_name(project_id: str) -> str:
    """The name of a project's collection: `citeloom/clean-arch` has `proj-citeloom-clean-arch`. No two ids share one.

    An id whose name another could have too, as `a-b/c` that of `a/b-c`, has `proj--`, the id and a part of its hash.
    """
    flat = checked_project_id(project_id).replace("/", "-")
    if _READABLE.fullmatch(project_id):
        return f"proj-{flat}"
    return f"proj--{flat}-{sha256(project_id.encode()).hexdigest()[:12]}"


def unknown_project(project_id: str, existing: Iterable[str]) -> NotFound:
    """The failure for an unknown project; it lists up to `MAX_LISTED` others."""
    names = sorted(existing)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    listed = ", ".join(names[:MAX_LISTED]) or "none yet"
    return NotFound(
        f"Project {project_id!r} not found. Available projects: {listed}{more}", available_projects=names[:MAX_LISTED]
    )
