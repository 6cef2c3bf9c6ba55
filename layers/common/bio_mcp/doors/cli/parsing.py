"""`bio-mcp parse`: shows a file as its reader sees it, before anything of it is stored."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.languages import three_letters
from bio_mcp.literature.parsed import LARGEST_FILE, ParsedDocument, ParsedSection

LANGUAGES = "languages of scanned pages, the likeliest first, as ISO codes: eng,deu,tha [default: eng,deu]"


def _languages(_context: click.Context, _parameter: click.Parameter, given: str) -> tuple[str, ...]:
    languages = tuple(filter(None, (each.strip() for each in given.split(","))))
    if unknown := [each for each in languages if not three_letters(each)]:
        raise click.BadParameter(f"{unknown[0]!r} is no code of a language; give codes such as eng,deu,tha.")
    return languages


@click.command("parse")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--ocr-languages", default="", callback=_languages, help=LANGUAGES)
@answering
def parse_command(session: Session, file: Path, ocr_languages: tuple[str, ...]) -> None:
    """Show the sections of FILE: PDF, DOCX, HTML, Markdown, JATS XML, text, or an image of a page."""
    document = session.backends.parser.parse(_content(file), file.name, ocr_languages)
    session.answer(_body(document), render)


def _content(file: Path) -> bytes:
    """The file's bytes, and no more of a large one than shows that it is too large."""
    if not file.is_file():  # a pipe would be waited for, and a device has no end
        raise InvalidInput("There is no such file; give the path of one.")
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput("The file cannot be opened; check that you may read it.") from error


def _body(document: ParsedDocument) -> dict[str, Any]:
    return {
        **{
            name: getattr(document, name) for name in ("title", "doi", "pmid", "pages", "ocr", "confidence", "language")
        },
        "sections": [_section(each) for each in document.sections],
        "warnings": list(document.warnings),
    }


def _section(section: ParsedSection) -> dict[str, Any]:
    return {
        "heading": section.heading,
        "path": list(section.path),
        "page_span": list(section.page_span) if section.page_span else None,
        "kind": section.kind.value,
        "text": section.text,
    }


def render(body: Mapping[str, Any]) -> None:
    """Print what is known of the document, then its sections with their pages."""
    pages = "unknown" if body["pages"] is None else str(body["pages"])
    recognised = f"yes, confidence {terminal.number(body['confidence'], 2)}" if body["ocr"] else "no"
    rows = [("title", body["title"]), ("DOI", body["doi"]), ("PMID", body["pmid"]), ("language", body["language"])]
    shown = [(name, value) for name, value in rows if value]
    terminal.show(terminal.pairs([*shown, ("pages", pages), ("recognised", recognised)]))
    for section in body["sections"]:
        terminal.say("", _head(section))
        terminal.say(*filter(None, [section["text"]]))
    for warning in body["warnings"]:
        terminal.warn(warning)


def _head(section: Mapping[str, Any]) -> Text:
    span = section["page_span"]
    pages = [] if span is None else [f"p. {span[0]}" if span[0] == span[1] else f"pp. {span[0]}-{span[1]}"]
    kind = [] if section["kind"] == "body" else [section["kind"]]
    note = ", ".join([*kind, *pages])
    path = " > ".join(section["path"]) or "(no heading)"
    return Text.assemble((path, "bold"), (f"  {note}" if note else "", "dim"))
