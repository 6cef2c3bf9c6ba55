"""Retraction status from a record in the MEDLINE display format."""

import re

from bio_mcp.literature.display_tags import KINDS
from bio_mcp.literature.medline.retraction_status import retraction_status
from bio_mcp.literature.records import Correction, PublicationType, RetractionStatus

_FIELD = re.compile(r"^([A-Z]{2,4}) *- (.*)", re.MULTILINE)


def displayed_status(record: str) -> RetractionStatus:
    """The retraction status that `retraction_status` gives to the same record as XML."""
    fields = _FIELD.findall(record)
    types = [PublicationType("", text.strip()) for tag, text in fields if tag == "PT"]
    return retraction_status(types, [Correction(KINDS[tag]) for tag, _ in fields if tag in KINDS])
