"""`bio-mcp lookup`: looks up headings, spelling, ids, references, full text and books at NCBI."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, words
from bio_mcp.doors.cli.session import Session
from bio_mcp.tool import Tool
from bio_mcp.tools.lookup import (
    TIMEOUT_S,
    check_spelling,
    convert_ids,
    get_book,
    get_full_text,
    lookup_mesh,
    match_citations,
)

Render = Callable[[Mapping[str, Any]], None]
CITED = {
    "journal": "title or abbreviation",
    "year": "year of publication",
    "volume": "volume of the journal",
    "firstPage": "first page",
    "author": "surname and initials",
    "title": "title of the article",
}
SHOWN = {
    "sections": "words of a section's title; repeat for more",
    "maxCharacters": "characters",
    "includeTables": "with the tables, as text",
}


@click.group(
    "lookup",
    help=f"Look up headings, spelling, ids, references, full text and books at NCBI, within {TIMEOUT_S} seconds.",
)
def lookup_command() -> None:
    """The commands below."""


@lookup_command.command("mesh")
@words("term")
@options_of(lookup_mesh, helps={"maxResults": "headings to show"})
@answering
def mesh_command(session: Session, /, **given: Any) -> None:
    """Find MeSH headings for TERM."""
    _answer(session, lookup_mesh, given, render_mesh)


@lookup_command.command("spell")
@words("query")
@options_of(check_spelling)
@answering
def spell_command(session: Session, /, **given: Any) -> None:
    """Print how PubMed would spell QUERY."""
    _answer(session, check_spelling, given, lambda body: terminal.say(body["correctedQuery"] or body["query"]))


@lookup_command.command("ids")
@click.argument("ids", nargs=-1, required=True)
@options_of(convert_ids)
@answering
def ids_command(session: Session, /, **given: Any) -> None:
    """Translate PMIDs, PMCIDs and DOIs into each other. The exit code is 1 where NCBI could not be asked about one."""
    body = session.ask(convert_ids, arguments_of(convert_ids, given))
    session.code = 1 if any(each["found"] == "unknown" for each in body["records"]) else 0
    session.answer(body, render_ids)


@lookup_command.command("match")
@options_of(match_citations, helps=CITED)
@answering
def match_command(session: Session, /, **given: Any) -> None:
    """Find the PMID of a reference, and check it against the record. The exit code is 1 where NCBI failed at that."""
    body = session.ask(match_citations, arguments_of(match_citations, given) or {"citations": [{}]})
    session.code = 1 if any(each["verdict"] == "unverified" for each in body["matches"]) else 0
    session.answer(body, render_match)


@lookup_command.command("text")
@click.argument("id")
@options_of(get_full_text, whole=("maxCharacters",), helps=SHOWN)
@answering
def text_command(session: Session, /, **given: Any) -> None:
    """Print the open-access full text of ID: a PMCID, PMID or DOI."""
    _answer(session, get_full_text, given, render_text)


@lookup_command.command("book")
@click.argument("id")
@options_of(get_book, whole=("maxCharacters",), helps=SHOWN)
@answering
def book_command(session: Session, /, **given: Any) -> None:
    """Print the Bookshelf record of ID: a PMID or NBK accession."""
    _answer(session, get_book, given, render_book)


def _answer(session: Session, tool: Tool, given: Mapping[str, Any], render: Render) -> None:
    session.answer(session.ask(tool, arguments_of(tool, given)), render)


def render_mesh(body: Mapping[str, Any]) -> None:
    """Print each heading with its search term, synonyms and definition."""
    terminal.say(terminal.counted(body["totalFound"], "heading"))
    for each in body["terms"]:
        synonyms = f"also: {'; '.join(each['entryTerms'][:8])}" if each["entryTerms"] else ""
        terminal.say(*filter(None, (f"{each['ui']}  {each['searchTerm']}", synonyms, each["scopeNote"])))


def render_ids(body: Mapping[str, Any]) -> None:
    """Print a row per id."""
    columns = ("requested", "found", "pmid", "pmcid", "doi")
    rows = [[each[column] or "" for column in columns] for each in body["records"]]
    terminal.show(terminal.table(("id", "", "PMID", "PMCID", "DOI"), rows))
    _reasons(body)


def render_match(body: Mapping[str, Any]) -> None:
    """Print each verdict with the record's citation and the differences."""
    for each in body["matches"]:
        named = " ".join(filter(None, (each["verdict"], each["pmid"], *each["candidatePmids"])))
        differing = f"differs: {', '.join(each['differs'])}" if each["differs"] else ""
        terminal.say(*filter(None, (named, each["citation"], differing, _plain(each["reason"]))))
    _reasons(body)


def _plain(reason: str | None) -> str:
    """NCBI's "NOT_FOUND;INVALID_JOURNAL" in words; a sentence as it is."""
    return reason.lower().replace("_", " ").replace(";", ", ") if reason and reason.isupper() else reason or ""


def render_text(body: Mapping[str, Any]) -> None:
    """Print title and licence, then the sections with their tables."""
    terminal.say(body["title"], " ".join(body["licence"].get(part, "") for part in ("name", "url")).strip())
    _sections(body)
    _reasons(body)


def render_book(body: Mapping[str, Any]) -> None:
    """Print the citation, the summary by sections, and the contents."""
    terminal.say(body["citation"])
    _sections(body)
    terminal.say("", *body["contents"])


def _sections(body: Mapping[str, Any]) -> None:
    for section in body["sections"]:
        terminal.say(
            "", f"{'#' * section['level']} {section['title']}".rstrip(), section["text"], *section.get("tables", ())
        )


def _reasons(body: Mapping[str, Any]) -> None:
    for reason in body["reasons"]:
        terminal.warn(reason)
