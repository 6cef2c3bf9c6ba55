"""Errors of the indexes of papers, whatever engine they are in."""

from collections.abc import Sequence

from bio_mcp.errors import Conflict, IndexUnavailable, NotFound
from bio_mcp.ports.indexes import PaperIndex, Role


def unknown_role(role: Role) -> NotFound:
    """Return the failure for a role that no index has."""
    begin = " Begin one with bio-mcp reindex start --model NAME." if role is Role.NEXT else ""
    return NotFound(f"There is no {role} index of the papers.{begin}")


def check_begun(there: Sequence[PaperIndex], fingerprint: str) -> None:
    """Raise where no index for the model `fingerprint` can be begun, or continued, beside those that are there."""
    if not there:
        raise IndexUnavailable("There is no index of the papers yet: import or sync first.", retryable=False)
    for each in there:
        if each.role is Role.SEARCHED and each.fingerprint == fingerprint:
            raise Conflict(f"The index that is searched is of the model {fingerprint} already.")
        if each.role is Role.PREVIOUS or (each.role is Role.NEXT and each.fingerprint != fingerprint):
            raise Conflict(
                f"There is a {each.role} index beside the one that is searched, of the model {each.fingerprint}: "
                "switch to it or remove it (bio-mcp reindex remove) before another is begun."
            )
