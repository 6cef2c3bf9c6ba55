"""Retraction status of a paper, from its publication types and CommentsCorrections.

The gravest finding wins: retracted, notice, concern, corrected, clear.

| finding | evidence in the record | why |
|---|---|---|
| retracted | type D016441; RetractionIn, RetractedandRepublishedIn | the published version was withdrawn |
| retracted | PartialRetractionIn | part was withdrawn; PubMed does not say which |
| notice | type D016440; RetractionOf, PartialRetractionOf | it withdraws another paper and reports nothing itself |
| concern | ExpressionOfConcernIn | the journal doubts it |
| corrected | ErratumIn, CorrectedandRepublishedIn | read it with its correction |
| corrected | RepublishedIn | the older DTDs' word for corrected and republished |
| clear | ExpressionOfConcernFor, type D000075742; ErratumFor, type D016425 | it speaks about another paper |
| clear | RetractedandRepublishedFrom, CorrectedandRepublishedFrom, RepublishedFrom | this is the mended version |
| clear | UpdateIn, UpdateOf | newer evidence, not an error |
| clear | CommentIn, CommentOn, ReprintIn, ReprintOf, OriginalReportIn, SummaryForPatientsIn | no doubt is raised |
| clear | Cites, AssociatedDataset, AssociatedPublication | no doubt is raised |

`unknown` is for records that do not come from PubMed. RefTypes are those of the DTD of 2025-01-01, and the two
partial ones of earlier years.
"""

import re
from collections.abc import Iterable

from bio_mcp.literature.notices import CORRECTIONS, KINDS
from bio_mcp.literature.records import GRAVITY, Correction, PublicationType, RetractionStatus

_FIELD = re.compile(r"^([A-Z]{2,4}) *- (.*)", re.MULTILINE)
_TYPE_UIS = {"D016441": RetractionStatus.RETRACTED, "D016440": RetractionStatus.NOTICE}
_TYPE_NAMES = {
    "Retracted Publication": RetractionStatus.RETRACTED,
    "Retraction of Publication": RetractionStatus.NOTICE,
    "Retraction Notice": RetractionStatus.NOTICE,
}
REF_TYPES = {kind: status for kind, (_, status, _) in CORRECTIONS.items()}


def retraction_status(types: Iterable[PublicationType], corrections: Iterable[Correction]) -> RetractionStatus:
    """The gravest finding that the record itself gives; `clear` when there is none.

    The publication type or the reference alone is enough.
    """
    findings = {_TYPE_UIS.get(kind.ui) or _TYPE_NAMES.get(kind.name) for kind in types}
    findings.update([REF_TYPES.get(correction.kind) for correction in corrections])
    return min(filter(None, findings), key=GRAVITY.index, default=RetractionStatus.CLEAR)


def displayed_status(record: str) -> RetractionStatus:
    """The retraction status that `retraction_status` gives, from a record in the MEDLINE display format."""
    fields = _FIELD.findall(record)
    types = [PublicationType("", text.strip()) for tag, text in fields if tag == "PT"]
    return retraction_status(types, [Correction(KINDS[tag]) for tag, _ in fields if tag in KINDS])
