"""`bio-mcp pubmed`: PubMed itself, live. The articles found need not be in the corpus."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, asks, options_of, pmid, pmids, values_of, words
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools.lookup import check_spelling, convert_ids, get_book, get_full_text, lookup_mesh, match_citations
from bio_mcp.tools.pubmed import LINKS, TIMEOUT_S, fetch_details, relate, search_pubmed

KINDS = {name.removeprefix("pubmed_").partition("_")[0]: name for name in LINKS}
LEVELS = {"abstract": "abstract_plus", "citation": "citation_data", "xml": "full_xml", "medline": "medline_text"}
CITING = ("citationStyles", "moreStyles")
STYLES = {style.partition("_")[0]: (field, style) for field in CITING for style in values_of(relate, field)}
OPTIONS = {
    "maxResults": ("--max", "how many to show"),
    "sortBy": ("--sort", "order of the hits"),
    "minDate": ("--from", "first day: YYYY, YYYY/MM or YYYY/MM/DD"),
    "maxDate": ("--to", "last day: YYYY, YYYY/MM or YYYY/MM/DD"),
    "dateType": ("--date", "day published, entered or revised"),
    "filterByPublicationTypes": ("--type", "publication type, such as Review; repeat for more"),
    "fetchBriefSummaries": ("--summaries", "first hits that are shown with title and authors"),
    "detailLevel": ("--as", "citation: without abstract; xml, medline: NCBI's own text"),
    "includeMeshTerms": ("", "MeSH headings, in --json"),
    "includeGrantInfo": ("", "who paid for it"),
    "includeAffiliations": ("", "where the authors work"),
    "maxCharacters": ("--max", "characters of the answer"),
    "relationshipType": ("--kind", "how it is related"),
    "maxRelatedResults": ("--max", "articles"),
    "sections": ("--section", "words of a section's title; repeat for more"),
    "includeTables": ("--tables", "with the tables, as text"),
    "journal": ("", "title or abbreviation"),
    "year": ("", "year of publication"),
    "volume": ("", "volume of the journal"),
    "firstPage": ("--page", "first page"),
    "author": ("", "surname and initials"),
    "title": ("", "title of the article"),
}
"""The option of a field of a tool, where it is not called as the field, and what it means."""
NAMES = {field: flag for field, (flag, _) in OPTIONS.items()}
HELPS = {field: meaning for field, (_, meaning) in OPTIONS.items()}
FOUND = View(
    hidden=frozenset({"pmids", "effectiveESearchTerm", "totalFound"}),
    head="{totalFound:,} found for {effectiveESearchTerm}",
    labels={"droppedTerms": "left out"},
    empty="`bio-mcp pubmed spell` corrects words, and `bio-mcp pubmed mesh` finds the headings for them.",
)
HEADINGS = View(
    hidden=frozenset({"totalFound", "name", "kind", "treeNumbers"}),
    head="{totalFound:,} found",
    empty="`bio-mcp pubmed spell` corrects words.",
)
RELATED = View(
    hidden=frozenset({"sourcePmid", "retrievedCount", "totalCount", "score"}), head="{retrievedCount} of {totalCount}"
)
IDS = View(tables={"records": ("requested", "found", "pmid", "pmcid", "doi")})
MATCHES = View(tables={"matches": ("verdict", "pmid", "candidatePmids", "citation", "differs", "reason")})
TEXT = View(hidden=frozenset({"places", "available", "source"}))
RECORDS = View(hidden=frozenset({"meshTerms", "keywords", "publicationTypes", "notFoundPmids"}))


pubmed_command = click.Group(
    "pubmed", help=f"Search and read PubMed live, within {TIMEOUT_S} seconds. Nothing is added to the corpus."
)


def _records_view(body: Mapping[str, Any]) -> View | None:
    """The records; NCBI's own text is printed as it is."""
    if body.get("notFoundPmids"):
        terminal.warn(f"PubMed has no record {', '.join(body['notFoundPmids'])}")
    if "content" not in body:
        return RECORDS
    terminal.say_unwrapped(body["content"])
    for reason in body["reasons"]:
        terminal.warn(reason)
    return None


live = partial(asks, pubmed_command, whole=("fetchBriefSummaries", "maxCharacters"), names=NAMES, helps=HELPS)
live("search", search_pubmed, "Find articles for TERM, in PubMed's own syntax.", words("queryTerm", "TERM"), show=FOUND)
live(
    "fetch",
    fetch_details,
    "Show the PubMed records of PMIDS.",
    pmids,
    show=_records_view,
    choices={"detailLevel": LEVELS},
)
live(
    "related",
    relate,
    "List articles similar to PMID, citing it or cited by it.",
    pmid,
    show=RELATED,
    without=(*CITING, "maxCharacters"),
    choices={"relationshipType": KINDS},
)
live(
    "mesh",
    lookup_mesh,
    "Find MeSH headings for TERM, each with the term to search PubMed with.",
    words("term"),
    show=HEADINGS,
)
live(
    "spell",
    check_spelling,
    "Print how PubMed would spell QUERY.",
    words("query"),
    show=lambda body: terminal.show(body["correctedQuery"] or body["query"]),
)
live(
    "text",
    get_full_text,
    "Print the open-access full text of ID: a PMCID, PMID or DOI.",
    click.argument("id"),
    show=TEXT,
)
live("book", get_book, "Print the Bookshelf record of ID: a PMID or NBK accession.", click.argument("id"))


@pubmed_command.command("cite")
@pmids
@click.option(
    "--style",
    type=click.Choice(list(STYLES)),
    default="apa",
    show_default=True,
    help="csl is JSON for reference managers",
)
@answering
def cite_command(session: Session, pmids: tuple[str, ...], style: str) -> None:
    """Print the citations of PMIDS, to be pasted."""
    field, named = STYLES[style]
    wanted = {"relationshipType": "citation_formats", **{each: [] for each in CITING}, field: [named]}
    session.answer_each(
        "citations",
        pmids,
        lambda pmid: session.ask(relate, {"sourcePmid": pmid, **wanted}),
        lambda answer: terminal.say_unwrapped(answer["citations"][named]),
    )


@pubmed_command.command("ids")
@click.argument("ids", nargs=-1, required=True)
@answering
def ids_command(session: Session, /, **given: Any) -> None:
    """Translate PMIDs, PMCIDs and DOIs into each other. The exit code is 1 where NCBI could not be asked about one."""
    body = session.ask(convert_ids, arguments_of(convert_ids, given))
    session.code = 1 if any(each["found"] == "unknown" for each in body["records"]) else 0
    session.answer(body, IDS)


@pubmed_command.command("match")
@options_of(match_citations, names=NAMES, helps=HELPS)
@answering
def match_command(session: Session, /, **given: Any) -> None:
    """Find the PMID of a reference, and check it against the record. The exit code is 1 where NCBI failed at that."""
    body = session.ask(match_citations, arguments_of(match_citations, given) or {"citations": [{}]})
    session.code = 1 if any(each["verdict"] == "unverified" for each in body["matches"]) else 0
    session.answer(body, MATCHES)
