"""Notices about works, by PubMed, publishers and Retraction Watch, and the status that they give a work."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.identifiers import normal
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


PAPER, NATURE = "OriginalPaperDOI", "RetractionNature"
SOURCE = "retraction-watch"
LONGEST_FIELD = 1 << 20  # characters
_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\b", re.ASCII)  # month first, with or without a time of day
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def notices_by_doi(lines: Iterable[str]) -> dict[str, tuple[Notice, ...]]:
    """The notices about each DOI in the file. Rows without a paper's DOI are left out.

    Raises `InvalidInput` for a file that has not Retraction Watch's columns, or is no CSV.
    """
    found: defaultdict[str, list[Notice]] = defaultdict(list)
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        rows = csv.DictReader(lines)
        if not {PAPER, NATURE} <= set(rows.fieldnames or ()):
            raise InvalidInput(f"this is not Retraction Watch's file: it has no columns {PAPER} and {NATURE}")
        for row in rows:
            if doi := normal(identifiers.doi, row.get(PAPER)):
                nature, own = (row.get(NATURE) or "").strip(), normal(identifiers.doi, row.get("RetractionDOI"))
                found[doi].append(Notice(kind_of(nature), own, _date(row.get("RetractionDate")), nature, SOURCE))
    except csv.Error:
        raise InvalidInput("this is not Retraction Watch's file: it cannot be read as CSV") from None
    finally:
        csv.field_size_limit(before)
    return {doi: tuple(sorted(each, key=lambda notice: (notice.date, notice.kind))) for doi, each in found.items()}


def _date(text: str | None) -> str:
    """The day, as "2019-07-26"; "" for none."""
    if match := _DATE.match((text or "").strip()):
        month, day, year = match.groups()
        return f"{year}-{int(month):02}-{int(day):02}"
    return found[0] if (found := _ISO.match((text or "").strip())) else ""


# The DTD's RefType -> its tag in NLM's display format, the status that it gives, and how a citation
# names it ("" where it does not), in the order in which a reader must know of them.
CORRECTIONS: dict[str, tuple[str, RetractionStatus, str]] = {
    "RetractionIn": ("RIN", RetractionStatus.RETRACTED, "Retraction in"),
    "PartialRetractionIn": ("PRIN", RetractionStatus.RETRACTED, "Partial retraction in"),
    "RetractedandRepublishedIn": ("RRI", RetractionStatus.RETRACTED, "Retracted and republished in"),
    "RetractionOf": ("ROF", RetractionStatus.NOTICE, "Retraction of"),
    "PartialRetractionOf": ("PROF", RetractionStatus.NOTICE, "Partial retraction of"),
    "ExpressionOfConcernIn": ("ECI", RetractionStatus.CONCERN, "Expression of concern in"),
    "ExpressionOfConcernFor": ("ECF", RetractionStatus.CLEAR, "Expression of concern for"),
    "CorrectedandRepublishedIn": ("CRI", RetractionStatus.CORRECTED, "Corrected and republished in"),
    "RepublishedIn": ("RPI", RetractionStatus.CORRECTED, "Corrected and republished in"),
    "ErratumIn": ("EIN", RetractionStatus.CORRECTED, "Erratum in"),
    "ErratumFor": ("EFR", RetractionStatus.CLEAR, "Erratum for"),
    "CommentIn": ("CIN", RetractionStatus.CLEAR, ""),
    "CommentOn": ("CON", RetractionStatus.CLEAR, ""),
    "UpdateIn": ("UIN", RetractionStatus.CLEAR, ""),
    "UpdateOf": ("UOF", RetractionStatus.CLEAR, ""),
    "CorrectedandRepublishedFrom": ("CRF", RetractionStatus.CLEAR, ""),
    "RepublishedFrom": ("RPF", RetractionStatus.CLEAR, ""),
    "RetractedandRepublishedFrom": ("RRF", RetractionStatus.CLEAR, ""),
    "OriginalReportIn": ("ORI", RetractionStatus.CLEAR, ""),
    "SummaryForPatientsIn": ("SPIN", RetractionStatus.CLEAR, ""),
}
KINDS = {tag: kind for kind, (tag, _, _) in CORRECTIONS.items()}
"""RefTypes by tag."""
