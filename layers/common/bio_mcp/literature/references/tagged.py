"""Files of lines that begin with a tag, RIS and NBIB (MEDLINE), to references."""

import re
from collections.abc import Iterator, Mapping

from bio_mcp.literature.references.works import CitedWork, Kind, refuse_too_many, work

_RIS = re.compile(r"^\s*([A-Z][A-Z0-9])(?:  ?- ?| - )(.*)$")
_NBIB = re.compile(r"^([A-Z]{2,4}) *- (.*)$")
_RIS_ARTICLES = frozenset(("JOUR", "JFULL", "MGZN", "EJOUR", "INPR", "GEN", "ABST", "NEWS", ""))
_PMID_NOTE = re.compile(r"PMID:?\s*(\d{1,9})", re.IGNORECASE)
Fields = dict[str, list[str]]


def read_ris(text: str) -> list[CitedWork]:
    """The records of an RIS file, each ended by `ER` or by the next `TY`. Raises `InvalidInput` for too many."""
    return [_ris(fields, line) for line, fields in _records(text, _RIS, "TY", "ER")]


def read_nbib(text: str) -> list[CitedWork]:
    """The records of PubMed's MEDLINE format. Raises `InvalidInput` for too many."""
    return [_nbib(fields, line) for line, fields in _records(text, _NBIB, "PMID", "")]


def _records(text: str, tagged: re.Pattern[str], first: str, last: str) -> Iterator[tuple[int, Fields]]:
    """Line and fields of each record. A line without a tag goes on with the value before it; an empty one, in a format
    without an end, ends the record."""
    fields: Fields = {}
    started, tag, count = 0, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        found = tagged.match(line)
        ends = (found and found[1] in (first, last)) or (not last and not line.strip())
        if ends and fields:
            yield started, fields
            count, fields = count + 1, {}
            refuse_too_many(count)
        if found and found[1] != last:
            tag, started = found[1], started if fields else number
            fields.setdefault(tag, []).append(found[2].strip())
        elif not found and fields and line.strip():
            fields[tag][-1] += f" {line.strip()}"
    if fields:
        yield started, fields


def _first(fields: Mapping[str, list[str]], *tags: str) -> str:
    return next((fields[tag][0] for tag in tags if fields.get(tag) and fields[tag][0]), "")


def _ris(fields: Fields, line: int) -> CitedWork:
    start, end = _first(fields, "SP"), _first(fields, "EP")
    noted = _PMID_NOTE.search(" ".join(fields.get("N1", []) + fields.get("AN", []) + fields.get("C7", [])))
    number = _first(fields, "AN") if "pubmed" in _first(fields, "DB", "DP").casefold() else ""
    return work(
        title=_first(fields, "TI", "T1", "CT", "BT"),
        authors=[*fields.get("AU", []), *fields.get("A1", [])],
        journal=_first(fields, "T2", "JF", "JO", "JA", "J2"),
        year=_first(fields, "PY", "Y1", "DA"),
        volume=_first(fields, "VL"),
        issue=_first(fields, "IS"),
        pages=f"{start}-{end}" if start and end and "-" not in start else start,
        doi=_first(fields, "DO") or next((each for each in fields.get("UR", []) if "doi.org/10." in each), ""),
        pmid=number or (noted[1] if noted else ""),
        pmcid=_first(fields, "C2"),
        kind="article" if _first(fields, "TY") in _RIS_ARTICLES else "other",
        key=_first(fields, "ID"),
        line=line,
    )


def _nbib(fields: Fields, line: int) -> CitedWork:
    ids = [*fields.get("AID", []), *fields.get("LID", [])]
    doi = next((each.removesuffix("[doi]").strip() for each in ids if each.endswith("[doi]")), "")
    pii = next((each.removesuffix("[pii]").strip() for each in ids if each.endswith("[pii]")), "")
    return work(
        title=_first(fields, "TI", "BTI", "TT"),
        authors=fields.get("FAU") or fields.get("AU") or fields.get("CN", []),
        journal=_first(fields, "JT", "TA"),
        year=_first(fields, "DP", "DEP"),
        volume=_first(fields, "VI"),
        issue=_first(fields, "IP"),
        pages=_first(fields, "PG") or (pii if re.fullmatch(r"e?\d{3,9}", pii) else ""),
        doi=doi,
        pmid=_first(fields, "PMID"),
        pmcid=_first(fields, "PMC"),
        kind=_nbib_kind(fields),
        key=_first(fields, "PMID"),
        line=line,
    )


def _nbib_kind(fields: Fields) -> Kind:
    return "preprint" if "Preprint" in fields.get("PT", []) else "article"
