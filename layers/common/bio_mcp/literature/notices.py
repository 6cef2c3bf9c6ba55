"""Notices about works, by publishers and by Retraction Watch, and the status that they give a work."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bio_mcp.literature.records import GRAVITY, RetractionStatus

NoticeKind = Literal["retraction", "reinstatement", "concern", "correction", "other"]

_KINDS: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "partial_retraction": "retraction",
    "retraction_and_replacement": "retraction",
    "removal": "retraction",
    "withdrawal": "retraction",
    "reinstatement": "reinstatement",
    "expression_of_concern": "concern",
    "concern": "concern",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about a work. `doi` is the notice's own, None where it has none; `date` is "2019-07-26", "2019" or "".

    `kind` is what it means for the work, `label` its publisher's word for it, `source` who says so ("publisher",
    "retraction-watch").
    """

    kind: NoticeKind
    doi: str | None = None
    date: str = ""
    label: str = ""
    source: str = ""


def kind_of(word: str) -> NoticeKind:
    """What a notice of that type means, by Crossref's types and Retraction Watch's natures, in any case."""
    return _KINDS.get("_".join(word.lower().replace("-", " ").split()), "other")


def status_of(notices: Iterable[Notice]) -> RetractionStatus:
    """The status that the notices give a work; `clear` without one.

    A reinstatement takes back the retractions and concerns dated before it or on its day; one without a date takes back
    none. A part that was retracted counts as in PubMed's records: the paper is retracted.
    """
    known = list(notices)
    mended = max((each.date for each in known if each.kind == "reinstatement"), default="")
    holds = {each.kind for each in known if each.kind == "correction" or not mended or each.date > mended}
    if "retraction" in holds:
        return RetractionStatus.RETRACTED
    if "concern" in holds:
        return RetractionStatus.CONCERN
    return RetractionStatus.CORRECTED if "correction" in holds else RetractionStatus.CLEAR


def graver(one: RetractionStatus, other: RetractionStatus) -> RetractionStatus:
    """The graver of two sources' statuses; what is not known to one is what the other says."""
    return min(one, other, key=GRAVITY.index)
