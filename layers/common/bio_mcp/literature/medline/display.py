"""Retraction status from a record in the MEDLINE display format."""

import re

from bio_mcp.literature.medline.retraction_status import retraction_status
from bio_mcp.literature.records import Correction, PublicationType, RetractionStatus

TAGS = {  # of NLM's description of the format -> the DTD's RefType
    "RIN": "RetractionIn",
    "RRI": "RetractedandRepublishedIn",
    "PRIN": "PartialRetractionIn",
    "ROF": "RetractionOf",
    "PROF": "PartialRetractionOf",
    "ECI": "ExpressionOfConcernIn",
    "EIN": "ErratumIn",
    "CRI": "CorrectedandRepublishedIn",
    "RPI": "RepublishedIn",
}
_FIELD = re.compile(r"^([A-Z]{2,4}) *- (.*)", re.MULTILINE)


def displayed_status(record: str) -> RetractionStatus:
    """The retraction status that `retraction_status` gives to the same record as XML."""
    fields = _FIELD.findall(record)
    types = [PublicationType("", text.strip()) for tag, text in fields if tag == "PT"]
    return retraction_status(types, [Correction(TAGS[tag]) for tag, _ in fields if tag in TAGS])
