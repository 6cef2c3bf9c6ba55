"""Errors of the indexes of papers, whatever engine they are in."""

from collections.abc import Collection, Sequence

from bio_mcp.errors import Conflict, IndexUnavailable, NotFound
from bio_mcp.ports.indexes import PaperIndex, Role


def unknown_role(role: Role) -> NotFound:
    """Return the failure for a role that no index has."""
    begin = " Begin one with bio-mcp reindex start --model NAME." if role is Role.NEXT else ""
    return NotFound(f"There is no {role} index of the papers.{begin}")


def back_from(to: Role, there: Collection[Role]) -> Role:
    """Return what the index that was searched becomes by the switch to a role of those that are `there`.

    Raises `NotFound` for a role that is not there, or that of the index which is searched.
    """
    if to not in there or to is Role.SEARCHED:
        raise unknown_role(to)
    return Role.NEXT if to is Role.PREVIOUS else Role.PREVIOUS


def check_begun(there: Sequence[PaperIndex], fingerprint: str, settings: str = "", *, force: bool) -> None:
    """Raise where no index of this model and these settings can be begun, or continued, beside those that are there.

    One like that which is searched is begun only by `force`.
    """
    searched = next((each for each in there if each.role is Role.SEARCHED), None)
    if searched is None:
        raise IndexUnavailable("There is no index of the papers yet: import or sync first.", retryable=False)
    wanted = _described(fingerprint, settings)
    others = [each for each in there if each is not searched]
    for each in others:
        found = _described(each.fingerprint, each.settings)
        if each.role is Role.PREVIOUS or found != wanted:
            raise Conflict(
                f"There is a {each.role} index beside the one that is searched, of {found}: switch to it or remove it "
                f"(bio-mcp reindex remove) before one of {wanted} is begun."
            )
    if not (others or force) and _described(searched.fingerprint, searched.settings) == wanted:
        raise Conflict(
            f"The index that is searched is of {wanted} already; bio-mcp reindex start --force makes it again."
        )


def _described(fingerprint: str, settings: str) -> str:
    return f"the model {fingerprint} ({settings})" if settings else f"the model {fingerprint}"
