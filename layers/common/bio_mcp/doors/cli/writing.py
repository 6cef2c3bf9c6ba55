"""What a writer needs: `bio-mcp check-refs` says which references are wrong, invented or retracted (for people, for a
pull request, and as SARIF for code scanning), `bio-mcp export` writes papers for other programs."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from rich.console import RenderableType
from rich.text import Text

from bio_mcp import __version__
from bio_mcp.answering.search import LEAST_RELEVANCE
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of
from bio_mcp.doors.cli.render import View, markdown
from bio_mcp.doors.cli.session import Session, refused, warn_of_addressing
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.exporting.formats import FORMATS, NAMES, Name
from bio_mcp.exporting.run import finished
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.references import files as reading
from bio_mcp.literature.references.word import read_docx
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports import Backends
from bio_mcp.querying.references.checking import PROBLEMS, problem_of
from bio_mcp.querying.references.run import check_all
from bio_mcp.settings import words_of
from bio_mcp.tool import Context
from bio_mcp.tools.exports import export_papers
from bio_mcp.untrusted import notes, sanitized

Row = Mapping[str, Any]
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"retracted": "error", "not_found": "error"} | dict.fromkeys(("doubtful", "unknown", "concern"), "warning")
_MARKS = {"found": "ok", "retracted": "RETRACTED", "not_found": "NOT FOUND", "concern": "CONCERN"}
_COLOURS = {"found": "green", "retracted": "bold red", "not_found": "bold red", "unchecked": "dim"}  # others: yellow


def fails(row: Row, chosen: frozenset[str]) -> bool:
    """Whether the verdict, or what became of the paper, is among `chosen`."""
    return not chosen.isdisjoint({problem_of(row), row["verdict"], row["retraction"]})


def differences(row: Row) -> list[str]:
    """`year: 2012, is 2014` for each field, `title lacks “female”` where most of it agrees, and the reason if that says
    more than the verdict."""
    differs = [
        f"{each['field']} {each['words']}"
        if each.get("words")
        else f"{each['field']}: {each['stated']}, is {each['true']}"
        for each in row["differs"]
    ]
    return [*differs, row["reason"]] if row["reason"] and row["verdict"] != "not_found" else differs


def _named(row: Row, position: int) -> tuple[str, str]:
    """The mark of a reference, and what it is called: its key, its line or its place."""
    problem = problem_of(row) or "found"
    place = row["key"] or (f"line {row['line']}" if row["line"] else position)
    return _MARKS.get(problem, problem), str(place)


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
        mark, place = _named(row, position)
        lines.append(f"{mark:<10} {place}: {row['reference']}{pmid}")
        lines += [f"{'':<11}{each}" for each in differences(row)]
    return "\n".join([*lines, _summary(body["references"]), *body["reasons"]])


def as_table(body: Mapping[str, Any]) -> list[RenderableType]:
    """The same for a terminal: a row for each reference, and below the table how many are of each verdict."""
    rows = []
    for position, row in enumerate(body["references"], 1):
        mark, place = _named(row, position)
        colour = _COLOURS.get(problem_of(row) or "found", "yellow")
        cell = Text.assemble((place, "bold"), f"  {row['reference']}")
        for each in differences(row):
            cell.append(f"\n{each}", colour)
        rows.append((Text(mark, colour), cell, Text(row["pmid"] or "")))
    table = terminal.table(("verdict", "reference", "PMID"), rows, whole=(0, 2))
    return [table, Text(_summary(body["references"]), "bold"), *map(Text, body["reasons"])]


def as_markdown(body: Mapping[str, Any], file: str, _chosen: frozenset[str]) -> str:
    """A table of what is wrong, as for a comment on a pull request."""
    wrong = [(place, row) for place, row in enumerate(body["references"], 1) if problem_of(row)]
    lines = [f"## References of {markdown(file)}", "", _summary(body["references"]), ""]
    if wrong:
        lines += ["| reference | verdict | as written | what differs | record |", "| --- | --- | --- | --- | --- |"]
    for position, row in wrong:
        mark, place = _named(row, position)
        cells = place, mark, row["reference"], "; ".join(differences(row))
        record = f"[{row['pmid']}](https://pubmed.ncbi.nlm.nih.gov/{row['pmid']}/)" if row["pmid"] else ""
        lines.append(f"| {' | '.join((*map(markdown, cells), record))} |")
    if body["reasons"]:
        lines += ["", *(f"- {markdown(each)}" for each in body["reasons"])]
    return "\n".join(lines)


def as_sarif(body: Mapping[str, Any], file: str, chosen: frozenset[str]) -> str:
    """SARIF 2.1.0: a result for each reference with a problem, at its line; errors are what fails the command."""
    rows = [(place, row, problem) for place, row in enumerate(body["references"], 1) if (problem := problem_of(row))]
    results = [_result(row, problem, place, file, fails(row, chosen)) for place, row, problem in rows]
    rules = [{"id": name, "shortDescription": {"text": text}, "helpUri": _HELP} for name, text in PROBLEMS.items()]
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


def _result(row: Row, problem: str, position: int, file: str, failed: bool) -> dict[str, Any]:
    _, place = _named(row, position)
    message = f"{PROBLEMS[problem]} {place}: {row['reference'][:300]}. {'; '.join(differences(row))}".strip()
    location = {"artifactLocation": {"uri": quote(file)}, "region": {"startLine": max(row["line"], 1)}}
    known = sha256(f"{problem}\n{row['key']}\n{row['reference']}".encode()).hexdigest()
    return {
        "ruleId": problem,
        "level": "error" if failed else _LEVELS.get(problem, "note"),
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"reference/v1": known},
    }


REPORTS: dict[str, Callable[[Mapping[str, Any], str, frozenset[str]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "sarif": as_sarif,
    "json": lambda body, _file, _chosen: json.dumps(body, ensure_ascii=False, indent=2),
}

FAILS = tuple(PROBLEMS)
BY_DEFAULT = FAILS[:4]
LARGEST = 64_000_000  # bytes of a file
SUFFIXES = {each.suffix: name for name, each in FORMATS.items()}


@click.command("check-refs")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "form", type=click.Choice(reading.FORMATS), help="Format of FILE, if it is not recognized.")
@click.option(
    "--format", "report", type=click.Choice(tuple(REPORTS)), default="text", show_default=True, help="Of the report."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to FILE.")
@click.option(
    "--fail-on",
    default=",".join(BY_DEFAULT),
    show_default=True,
    metavar="LIST",
    help=f"Verdicts that make the exit code 1, of {', '.join(FAILS)}; none.",
)
@answering
def check_refs_command(
    session: Session, file: Path, form: str | None, report: str, output: Path | None, fail_on: str
) -> None:
    """Check the references of FILE: BibTeX, RIS, NBIB, CSL-JSON, DOCX or plain text; - is standard input.

    Each is found, doubtful (with what differs), not_found, retracted, unchecked (a book or web page), or unknown where
    PubMed could not be asked.
    """
    chosen, works = _chosen(fail_on), _read(file, form)

    def check(backends: Backends, context: Context) -> dict[str, Any]:
        checked = check_all(works, RunContext(backends, context.deadline, context.progress))
        return {"references": checked.rows, "reasons": checked.reasons}

    with terminal.progress("checking references") as update:
        body = session.do("references.file", check, lambda done, total, _: update(done, total, f"{done}/{total}"))
    session.code = 1 if any(fails(row, chosen) for row in body["references"]) else session.code
    if session.as_json or (report == "text" and not output):
        session.answer(body, _show)
        return
    below = file.resolve().is_relative_to(Path.cwd())
    named = (file.resolve().relative_to(Path.cwd()) if below else Path(file.name)).as_posix()
    text = REPORTS[report](body, named, chosen)
    warn_of_addressing(body)
    if not output:
        terminal.say_unwrapped(text)
        return
    with refused("The report cannot be written"):
        output.write_text(f"{text}\n", encoding="utf-8")


def _show(body: Mapping[str, Any]) -> None:
    if terminal.is_screen():
        terminal.show(*as_table(body))
    else:
        terminal.say_unwrapped(as_text(body, "", frozenset()))


def _chosen(fail_on: str) -> frozenset[str]:
    words = frozenset(words_of(fail_on)) - {"none"}
    if unknown := sorted(words - set(FAILS)):
        raise click.UsageError(f"--fail-on: {', '.join(unknown)} is none of {', '.join(FAILS)}, none.")
    return words


def _read(file: Path, form: str | None) -> list[CitedWork]:
    with (
        refused("FILE cannot be read"),
        nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as opened,
    ):
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InvalidInput("FILE is larger than any list of references; split it")
    if content.startswith(b"PK\x03\x04"):
        return read_docx(content)
    return reading.read_references(reading.decoded(content), form)  # type: ignore[arg-type]


@click.command("export")
@click.argument("query", nargs=-1)
@click.option("--pmid", "pmids", multiple=True, metavar="PMID", help="This paper; repeat for more.")
@click.option("--query-key", metavar="KEY", help="All papers that this followed query found, and those of its review.")
@click.option("--project", metavar="ID", help="The documents of this project, and the papers of its review.")
@click.option("--limit", type=click.INT, metavar="N", help="Papers of QUERY, the best first. [default: all that match]")
@click.option(
    "--least-relevance",
    type=click.FLOAT,
    metavar="P",
    help=f"Of a question's papers, from 0 (all that are found) to 1. [default: {LEAST_RELEVANCE}]",
)
@click.option("--format", type=click.Choice(NAMES), help="What to write. [default: by the ending of FILE, or ris]")
@click.option("-o", "--output", metavar="FILE", help="Where to write it, - for standard output. [default: a new name]")
@answering
def export_command(session: Session, /, output: str | None, **given: Any) -> None:
    """Write papers to a file: those of the corpus that match QUERY, those of --pmid, of a followed query or a project.

    A question matches what is relevant enough to it; words with AND, OR and NOT match what has them. The file has
    abstracts, MeSH headings, notices of retractions and what a review decided. Zotero, EndNote and Mendeley read ris,
    nbib and bibtex; ASReview and Rayyan read ris and csv.
    """
    given["query"] = " ".join(given["query"]) or None
    given["format"] = format_of(output or "", given["format"])
    exported(session, arguments_of(export_papers, given), output)


def exported(session: Session, arguments: Mapping[str, Any], output: str | None) -> None:
    """Export by these arguments of the tool, write the file to `output`, and say what became of it."""
    body = session.ask_to_the_end(export_papers, arguments, "exporting")
    if body["absent"]:
        absent = f"{body['absent']:,} papers are in no source: {', '.join(body['missing'][:10])}"
        body["warnings"] = [absent, *body["warnings"]]
    least = arguments.get("least_relevance", LEAST_RELEVANCE)
    notes = []
    if body["left_out"]:
        notes.append(
            f"{terminal.counted(body['left_out'], 'paper')} less relevant than {least:g} "
            f"{'is' if body['left_out'] == 1 else 'are'} left out; --least-relevance moves that."
        )
    if body["reviewed"]:
        notes.append(f"{body['reviewed']:,} of them are there as papers of the review alone.")
    head = ""
    if body["state"] != "complete":
        session.code = 1
    elif arguments.get("query") and not body["papers"]:
        session.code, head = 1, "Nothing was written."
    elif written := _write(session, body, output or body["file"]["name"]):
        body["written"] = written
        head = f"{terminal.counted(body['papers'], 'paper')}, {{file[bytes]:,}} bytes, written to {{written}}"
    else:
        for each in (*notes, *body["warnings"]):
            terminal.warn(each)
        return
    hidden = frozenset(body) - {"state" if body["state"] != "complete" else ""}
    session.answer(body, View(hidden=hidden, head="\n".join(filter(None, (head, *notes)))))


def format_of(output: str, asked: Name | None) -> Name:
    """The format that --format or the ending of FILE names. Raises `InvalidInput` where they contradict each other."""
    suffix = Path(output).suffix.lower()
    named = SUFFIXES.get(suffix)
    if suffix in ("", ".txt") and (asked or not suffix):
        return asked or "ris"
    if named and asked in (None, named):
        return named
    formats = ", ".join(f"{name} ({each.suffix})" for name, each in FORMATS.items())
    contradicts = f"{suffix} is the ending of {named}, not of {asked}" if named else f"no format ends in {suffix}"
    raise InvalidInput(f"{contradicts}: give FILE the ending of its format, one of {formats}")


def _write(session: Session, body: Mapping[str, Any], output: str) -> str | None:
    """Copy the file to where it was asked for; returns its path, None for standard output."""
    blobs = session.own.blobs
    try:
        _, cursor = finished(body["job_id"], session.own)
        if output == "-":
            written: dict[str, Any] = {}
            for part in cursor.parts:
                text = blobs.get(part).decode()
                terminal.pipe([text])
                written = written or (read if notes(read := sanitized({"file": text})) else {})
            warn_of_addressing(written)
            return None
        pieces = blobs.stream(cursor.file)
    except NotFound:
        raise InvalidInput("the exported file is gone; export again") from None
    with refused("The file cannot be written"), Path(output).open("wb") as file:
        file.writelines(pieces)
    return output
