"""What `check-refs` prints: for people, for a pull request, and SARIF for code scanning."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from bio_mcp import __version__

Row = Mapping[str, Any]
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    "retracted": "The cited paper was retracted.",
    "not_found": "PubMed has no such paper: the reference may be invented.",
    "doubtful": "The reference differs from the record of the paper that it seems to mean.",
    "unknown": "The reference could not be checked, as a service could not be asked.",
    "concern": "An expression of concern was published about the cited paper.",
    "corrected": "A correction of the cited paper was published.",
    "unchecked": "No article, or too little stated: the reference was not checked.",
}
_LEVELS = {
    "retracted": "error",
    "not_found": "error",
    "doubtful": "warning",
    "unknown": "warning",
    "concern": "warning",
}
_MARKS = {"found": "ok", "retracted": "RETRACTED", "not_found": "NOT FOUND", "concern": "CONCERN"}


def problem_of(row: Row) -> str | None:
    """The rule that a reference breaks; None for one that is found and clear. A retraction counts before all else."""
    if row["retraction"] == "retracted":
        return "retracted"
    if row["verdict"] != "found":
        return str(row["verdict"])
    return str(row["retraction"]) if row["retraction"] in ("concern", "corrected") else None


def failing(rows: Sequence[Row], chosen: frozenset[str]) -> list[Row]:
    """The references whose verdict, or what became of the paper, is among `chosen`."""
    return [row for row in rows if {problem_of(row), row["verdict"], row["retraction"]} & chosen]


def differences(row: Row) -> list[str]:
    """`year: 2012, is 2014` for each field."""
    return [f"{each['field']}: {each['stated'] or 'none'}, is {each['true'] or 'none'}" for each in row["differs"]]


def _label(row: Row) -> str:
    problem = problem_of(row) or "found"
    return _MARKS.get(problem, problem)


def _place(row: Row, position: int) -> str:
    return str(row["key"] or (f"line {row['line']}" if row["line"] else position))


def _summary(rows: Sequence[Row]) -> str:
    counts = Counter(problem_of(row) or "found" for row in rows)
    return f"{len(rows)} references: " + ", ".join(
        f"{many} {name.replace('_', ' ')}" for name, many in sorted(counts.items())
    )


def as_text(body: Mapping[str, Any], _file: str, _chosen: frozenset[str]) -> str:
    """A line for each reference, and what differs below it."""
    lines = []
    for position, row in enumerate(body["references"], 1):
        pmid = f"  PMID {row['pmid']}" if row["pmid"] else ""
        lines.append(f"{_label(row):<10} {_place(row, position)}: {row['reference'][:160]}{pmid}")
        details = [*differences(row), *([row["reason"]] if row["reason"] else [])]
        lines += [f"{'':<11}{each}" for each in details]
    return "\n".join([*lines, _summary(body["references"]), *body["reasons"]])


def as_markdown(body: Mapping[str, Any], file: str, _chosen: frozenset[str]) -> str:
    """A table of what is wrong, as for a comment on a pull request."""
    wrong = [(place, row) for place, row in enumerate(body["references"], 1) if problem_of(row)]
    rows = [f"| {' | '.join((*map(_cell, _cells(row, place)), _linked(row)))} |" for place, row in wrong]
    head = (
        ["| reference | verdict | as written | what differs | record |", "| --- | --- | --- | --- | --- |"]
        if rows
        else []
    )
    notes = [f"- {_cell(each)}" for each in body["reasons"]]
    return "\n".join(
        [
            f"## References of {_cell(file)}",
            "",
            _summary(body["references"]),
            "",
            *head,
            *rows,
            *([""] if notes else []),
            *notes,
        ]
    )


def _cells(row: Row, position: int) -> tuple[str, ...]:
    return _place(row, position), _label(row), row["reference"][:160], _what(row)


def _what(row: Row) -> str:
    return "; ".join([*differences(row), *([row["reason"]] if row["reason"] else [])])


def _linked(row: Row) -> str:
    return f"[{row['pmid']}](https://pubmed.ncbi.nlm.nih.gov/{row['pmid']}/)" if row["pmid"] else ""


def _cell(text: str) -> str:
    """Text that is no Markdown and no HTML."""
    plain = " ".join(text.split())
    for mark in ("\\", "`", "*", "_", "[", "]", "<", ">", "|", "#", "!"):
        plain = plain.replace(mark, f"\\{mark}")
    return plain


def as_sarif(body: Mapping[str, Any], file: str, chosen: frozenset[str]) -> str:
    """SARIF 2.1.0: a result for each reference with a problem, at its line; errors are what fails the command."""
    rows = [(place, row, problem) for place, row in enumerate(body["references"], 1) if (problem := problem_of(row))]
    results = [_result(row, problem, place, file, failing([row], chosen)) for place, row, problem in rows]
    rules = [{"id": name, "shortDescription": {"text": text}, "helpUri": _HELP} for name, text in RULES.items()]
    driver = {"name": "bio-mcp check-refs", "version": __version__, "informationUri": _HELP, "rules": rules}
    notes = [{"level": "warning", "message": {"text": each}} for each in body["reasons"]]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


_HELP = "https://pubmed.ncbi.nlm.nih.gov/help/"


def _result(row: Row, problem: str, position: int, file: str, fails: Sequence[Row]) -> dict[str, Any]:
    message = f"{RULES[problem]} {_place(row, position)}: {row['reference'][:300]}. {_what(row)}".strip()
    location = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": max(row["line"], 1)}}
    known = sha256(f"{problem}\n{row['key']}\n{row['reference']}".encode()).hexdigest()
    return {
        "ruleId": problem,
        "level": "error" if fails else _LEVELS.get(problem, "note"),
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"reference/v1": known},
    }


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file)


def as_json(body: Mapping[str, Any], _file: str, _chosen: frozenset[str]) -> str:
    """All that was found out."""
    return json.dumps(body, ensure_ascii=False, indent=2)


REPORTS: dict[str, Callable[[Mapping[str, Any], str, frozenset[str]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "sarif": as_sarif,
    "json": as_json,
}
