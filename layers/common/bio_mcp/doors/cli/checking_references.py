"""`bio-mcp check-refs`: which references of a file are wrong, invented or retracted."""

import sys
from pathlib import Path
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.reference_reports import REPORTS, failing
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.reading import FORMATS, read_references
from bio_mcp.literature.references.word import read_docx
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports import Backends
from bio_mcp.querying.references.run import Report, check_all
from bio_mcp.syncing.jobs import Share
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import REVIEW

FAILS = ("retracted", "not_found", "doubtful", "unknown", "concern", "corrected", "unchecked")
BY_DEFAULT = FAILS[:4]
LARGEST = 64_000_000  # bytes of a file


class File(Request):
    """The file is read here, and named to nobody."""


class Verdicts(Response):
    """A row for each reference."""

    references: list[dict[str, Any]]
    reasons: list[str]


@click.command("check-refs")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "form", type=click.Choice(FORMATS), help="Format of FILE, if it is not recognized.")
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
    chosen = _chosen(fail_on)
    body = _check(session, _read(file, form))
    session.code = 1 if failing(body["references"], chosen) else session.code
    if session.as_json or (report == "text" and not output):
        session.answer(body, lambda shown: terminal.say_unwrapped(REPORTS["text"](shown, "", chosen)))
        return
    text = REPORTS[report](body, _named(file), chosen)
    if output:
        _write(output, text)
    else:
        terminal.say_unwrapped(text)


def _chosen(fail_on: str) -> frozenset[str]:
    words = frozenset(word.strip() for word in fail_on.split(",") if word.strip()) - {"none"}
    if unknown := sorted(words - set(FAILS)):
        raise click.UsageError(f"--fail-on: {', '.join(unknown)} is none of {', '.join(FAILS)}, none.")
    return words


def _named(file: Path) -> str:
    """The file as a report names it: relative to where the command runs, if it is below."""
    here = Path.cwd()
    return (file.resolve().relative_to(here) if file.resolve().is_relative_to(here) else Path(file.name)).as_posix()


def _read(file: Path, form: str | None) -> list[CitedWork]:
    try:
        content = sys.stdin.buffer.read(LARGEST + 1) if str(file) == "-" else _content(file)
    except OSError as error:
        raise InvalidInput(f"FILE cannot be read: {(error.strerror or 'no reason given').lower()}") from None
    if len(content) > LARGEST:
        raise InvalidInput("FILE is larger than any list of references; split it")
    if content.startswith(b"PK\x03\x04"):
        return read_docx(content)
    return read_references(_decoded(content), form)  # type: ignore[arg-type]


def _content(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(LARGEST + 1)


def _decoded(content: bytes) -> str:
    """The text: UTF-16 by its mark, UTF-8, or else Windows' western code page."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _check(session: Session, works: list[CitedWork]) -> dict[str, Any]:
    """Check them all, and show how far it is."""

    @tool("references.file", family=REVIEW, scope="live", timeout=3600, open_world=True)
    def check_file(request: File, backends: Backends, context: Context) -> Verdicts:  # noqa: ARG001  a tool's form
        """Check the references of a file."""
        report: Report = check_all(works, Share(backends, context.deadline, context.progress))
        return Verdicts(references=report.rows, reasons=report.reasons)

    with terminal.progress("checking references") as update:
        return session.ask(check_file, {}, progress=lambda done, total, _: update(done, total, f"{done}/{total}"))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"The report cannot be written: {(error.strerror or 'no reason given').lower()}.") from None
