"""The small utilities: EInfo, ESpell and ECitMatch."""

import re
from collections.abc import Sequence
from typing import Any

from bio_mcp.adapters.entrez.answer import Answer, well_formed
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.ports.ncbi import Citation, CitationMatch
from bio_mcp.ports.pubmed import EntrezDatabase, LinkName, SearchField, Spelling


def read_info(answer: Answer) -> EntrezDatabase:
    """Read EInfo's description of a database. Raises `NcbiUnreadable`."""
    return well_formed(
        lambda: _info(answer.json["einforesult"]["dbinfo"]),
        "NCBI's description of the database is not in its known form; try again",
    )


def _info(dbinfo: Any) -> EntrezDatabase:
    info = dbinfo[0] if isinstance(dbinfo, list) else dbinfo
    return EntrezDatabase(
        name=info["dbname"],
        menu_name=info["menuname"],
        description=info["description"],
        count=int(info["count"]),
        last_update=info["lastupdate"],
        fields=tuple(_field(field) for field in info["fieldlist"]),
        links=tuple(LinkName(link["name"], link["description"], link["dbto"]) for link in info.get("linklist") or ()),
    )


def _field(field: Any) -> SearchField:
    terms = str(field.get("termcount", ""))
    return SearchField(
        name=field["name"],
        full_name=field["fullname"],
        description=field["description"],
        is_date=field["isdate"] == "Y",
        is_numerical=field["isnumerical"] == "Y",
        is_hidden=field["ishidden"] == "Y",
        terms=int(terms) if terms.isdecimal() else None,
    )


def read_spelling(answer: Answer) -> Spelling:
    """Read ESpell's answer; a correction equal to the query is None. Raises `NcbiUnreadable`."""
    root = answer.xml()
    query = root.findtext("Query")
    if query is None:
        raise NcbiUnreadable("NCBI's spelling answer does not name the query; try again")
    corrected = (root.findtext("CorrectedQuery") or "").strip()
    return Spelling(query, corrected if corrected and corrected != query else None)


def citation_lines(citations: Sequence[Citation]) -> str:
    """ECitMatch's `bdata`: one line per citation, with its number as key. Raises `InvalidInput`."""
    if not citations:
        raise InvalidInput("no citations were given; give at least one")
    return "\r".join(_line(number, citation) for number, citation in enumerate(citations))


def _line(number: int, citation: Citation) -> str:
    parts = (citation.journal, citation.year, citation.volume, citation.first_page, citation.author)
    if any(re.search(r"[|\r\n]", part) for part in parts):
        raise InvalidInput("a citation cannot contain '|' or a line break")
    return "|".join((*parts, f"c{number}")) + "|"


def read_matches(answer: Answer, citations: Sequence[Citation]) -> list[CitationMatch]:
    """One match per citation, in order. Raises `NcbiUnreadable` if one was not answered."""
    lines = answer.body.decode("utf-8", "replace").splitlines()
    verdicts = {parts[5].strip(): parts[6].strip() for line in lines if len(parts := line.split("|")) >= 7}
    if any(f"c{number}" not in verdicts for number in range(len(citations))):
        raise NcbiUnreadable("NCBI did not answer every citation; try again")
    return [_match(citation, verdicts[f"c{number}"]) for number, citation in enumerate(citations)]


def _match(citation: Citation, verdict: str) -> CitationMatch:
    if verdict.isdecimal():
        return CitationMatch(citation, verdict)
    return CitationMatch(citation, None, verdict or "NOT_FOUND")
