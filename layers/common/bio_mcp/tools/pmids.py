"""PMIDs in requests: every tool takes the same ones, and gets them without leading zeros."""

from typing import Annotated

from pydantic import AfterValidator, Field

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import bare_pmid
from bio_mcp.schemas import unpublished

PMID = r"^\d+$"
DOC_ID = r"^pmid:[0-9]+$"


def _checked(text: str) -> str:
    try:
        return bare_pmid(text)
    except InvalidInput as problem:
        raise ValueError(str(problem)) from None


def _checked_doc_id(text: str) -> str:
    return f"pmid:{_checked(text.removeprefix('pmid:'))}"


AnsweredPmid = Annotated[str, Field(pattern=PMID, max_length=40, json_schema_extra=unpublished)]
"""A PMID in an answer, as NCBI or the corpus has it: only what a caller gives is checked."""
Pmid = Annotated[AnsweredPmid, AfterValidator(_checked)]
DocId = Annotated[
    str, Field(pattern=DOC_ID, max_length=40, json_schema_extra=unpublished), AfterValidator(_checked_doc_id)
]
