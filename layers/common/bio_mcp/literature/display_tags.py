"""The tags by which MEDLINE's display format (NBIB) names references of one paper to another."""

KINDS = {  # tag of NLM's description of the format -> the DTD's RefType
    "RIN": "RetractionIn",
    "RRI": "RetractedandRepublishedIn",
    "PRIN": "PartialRetractionIn",
    "ROF": "RetractionOf",
    "PROF": "PartialRetractionOf",
    "ECI": "ExpressionOfConcernIn",
    "EIN": "ErratumIn",
    "CRI": "CorrectedandRepublishedIn",
    "RPI": "RepublishedIn",
    "CIN": "CommentIn",
    "CON": "CommentOn",
    "EFR": "ErratumFor",
    "ECF": "ExpressionOfConcernFor",
    "UIN": "UpdateIn",
    "UOF": "UpdateOf",
    "CRF": "CorrectedandRepublishedFrom",
    "RPF": "RepublishedFrom",
    "RRF": "RetractedandRepublishedFrom",
    "ORI": "OriginalReportIn",
    "SPIN": "SummaryForPatientsIn",
}
"""RefTypes that are not here have no tag."""
