"""`bio-mcp lookup`: look up headings, spelling, ids, references, full text and books at NCBI itself."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from bio_mcp.doors import console
from bio_mcp.doors.cli.options import as_json, words
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


@click.group(
    "lookup",
    help=f"Look up headings, spelling, ids, references, full text and books at NCBI, within {TIMEOUT_S} seconds.",
)
def lookup_command() -> None:
    """The commands below."""


@lookup_command.command("mesh")
@words("term")
@click.option("--max", "most", type=click.INT, default=5, show_default=True, help="headings to show, at most 50")
@as_json
@click.pass_obj
def mesh_command(session: Session, term: str, most: int, as_json: bool) -> None:
    """Find MeSH headings for TERM."""
    _answer(session, as_json, lookup_mesh, {"term": term, "maxResults": most}, render_mesh)


@lookup_command.command("spell")
@words("query")
@as_json
@click.pass_obj
def spell_command(session: Session, query: str, as_json: bool) -> None:
    """Print how PubMed would spell QUERY."""
    _answer(
        session, as_json, check_spelling, {"query": query}, lambda body: console.say(body["correctedQuery"] or query)
    )


@lookup_command.command("ids")
@click.argument("ids", nargs=-1, required=True)
@as_json
@click.pass_obj
def ids_command(session: Session, ids: tuple[str, ...], as_json: bool) -> None:
    """Translate PMIDs, PMCIDs and DOIs into each other."""
    _answer(session, as_json, convert_ids, {"ids": list(ids)}, render_ids)


@lookup_command.command("match")
@click.option("--journal", default="", help="title or abbreviation")
@click.option("--year", default="", help="year of publication")
@click.option("--volume", default="", help="volume of the journal")
@click.option("--page", default="", help="first page")
@click.option("--author", default="", help="surname and initials")
@click.option("--title", default="", help="title of the article")
@as_json
@click.pass_obj
def match_command(session: Session, /, as_json: bool, page: str, **known: str) -> None:
    """Find the PMID of a reference, and check it against the record."""
    citation = {**known, "firstPage": page}
    _answer(session, as_json, match_citations, {"citations": [citation]}, render_match)


@lookup_command.command("text")
@click.argument("id")
@click.option("--section", "sections", multiple=True, help="words of a section's title; repeat for more")
@click.option("--max", "most", type=click.INT, default=200_000, show_default=True, help="characters, at most 200000")
@click.option("--tables/--no-tables", default=True, help="with the tables, as text")
@as_json
@click.pass_obj
def text_command(session: Session, /, as_json: bool, most: int, tables: bool, **given: Any) -> None:
    """Print the open-access full text of ID: a PMCID, PMID or DOI."""
    given |= {"sections": list(given["sections"]), "maxCharacters": most, "includeTables": tables}
    _answer(session, as_json, get_full_text, given, render_text)


@lookup_command.command("book")
@click.argument("id")
@as_json
@click.pass_obj
def book_command(session: Session, /, as_json: bool, **given: str) -> None:
    """Print the Bookshelf record of ID: a PMID or NBK accession."""
    _answer(session, as_json, get_book, given, render_book)


def _answer(session: Session, as_json: bool, asked: Tool, arguments: dict[str, Any], render: Render) -> None:
    session.as_json = as_json
    session.answer(session.ask(asked, arguments), render)


def render_mesh(body: Mapping[str, Any]) -> None:
    """Each heading with what to search for, its synonyms and its definition."""
    console.say(console.many(body["totalFound"], "heading"))
    for each in body["terms"]:
        synonyms = f"also: {'; '.join(each['entryTerms'][:8])}" if each["entryTerms"] else ""
        console.say(*filter(None, (f"{each['ui']}  {each['searchTerm']}", synonyms, each["scopeNote"])))


def render_ids(body: Mapping[str, Any]) -> None:
    """A row for each id."""
    columns = ("requested", "found", "pmid", "pmcid", "doi")
    rows = [[each[column] or "" for column in columns] for each in body["records"]]
    console.show(console.table(("id", "", "PMID", "PMCID", "DOI"), rows))
    _reasons(body)


def render_match(body: Mapping[str, Any]) -> None:
    """The verdict, the citation of the record, and what differs."""
    for each in body["matches"]:
        named = " ".join(filter(None, (each["verdict"], each["pmid"], *each["candidatePmids"])))
        differing = f"differs: {', '.join(each['differs'])}" if each["differs"] else ""
        console.say(*filter(None, (named, each["citation"], differing, _plain(each["reason"]))))
    _reasons(body)


def _plain(reason: str | None) -> str:
    """NCBI's own "NOT_FOUND;INVALID_JOURNAL" as words; a sentence as it is."""
    return reason.lower().replace("_", " ").replace(";", ", ") if reason and reason.isupper() else reason or ""


def render_text(body: Mapping[str, Any]) -> None:
    """Title, licence, then the sections with their tables."""
    console.say(body["title"], " ".join(body["licence"].get(part, "") for part in ("name", "url")).strip())
    _sections(body)
    _reasons(body)


def render_book(body: Mapping[str, Any]) -> None:
    """The citation, the summary by sections, the contents."""
    console.say(body["citation"])
    _sections(body)
    console.say("", *body["contents"])


def _sections(body: Mapping[str, Any]) -> None:
    for section in body["sections"]:
        console.say(
            "", f"{'#' * section['level']} {section['title']}".rstrip(), section["text"], *section.get("tables", ())
        )


def _reasons(body: Mapping[str, Any]) -> None:
    for reason in body["reasons"]:
        console.warn(reason)
