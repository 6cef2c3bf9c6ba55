"""What a section of a document may tell: statements, mentions alone, or nothing."""

import re
from enum import IntEnum

from bio_mcp.literature.layout.section_names import bare, is_after_text, is_contents, is_references
from bio_mcp.literature.parsed import ParsedSection, SectionKind


class Telling(IntEnum):
    """How far a section is believed."""

    NOTHING = 0  # the titles of other works, and thanks
    MENTIONS = 1  # what was asked and done, and rows of tables
    STATEMENTS = 2


_ASKING = re.compile(
    r"aims?|objectives?|purpose|hypothes[ei]s|research questions?|.*\bmethods?|methodology|experimental( section)?|"
    r"study design|(search|selection) .*|(inclusion|exclusion|eligibility) criteria|.*\bprotocol|"
    r"future (work|research).*|limitations?|วัตถุประสงค์|วิธี.*|ข้อจำกัด.*|methodik|zielsetzung|fragestellung",
    re.IGNORECASE,
)


def telling(section: ParsedSection) -> Telling:
    """Return what may be taken from a section, by its kind and by each heading above it."""
    headings = [bare(each) for each in section.path or ((section.heading,) if section.heading else ())]
    if section.kind is SectionKind.REFERENCES or any(map(_is_beside, headings)):
        return Telling.NOTHING
    if section.kind is not SectionKind.BODY or any(_ASKING.fullmatch(each) for each in headings):
        return Telling.MENTIONS
    return Telling.STATEMENTS


def _is_beside(heading: str) -> bool:
    return is_references(heading) or is_contents(heading) or is_after_text(heading)
