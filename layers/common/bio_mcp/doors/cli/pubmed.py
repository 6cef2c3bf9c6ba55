"""`bio-mcp pubmed`: PubMed itself, live. The articles found need not be in the corpus."""

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, pmid, pmids, values_of, words
from bio_mcp.doors.cli.papers import flag
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools.pubmed import LINKS, TIMEOUT_S, fetch_details, relate, search_pubmed

KINDS = {name.removeprefix("pubmed_").partition("_")[0]: name for name in LINKS}
LEVELS = {"abstract": "abstract_plus", "citation": "citation_data", "xml": "full_xml", "medline": "medline_text"}
CITING = ("citationStyles", "moreStyles")
STYLES = {style.partition("_")[0]: (field, style) for field in CITING for style in values_of(relate, field)}
MEANINGS = {
    "maxResults": "hits to show",
    "sortBy": "order of the hits",
    "minDate": "first day: YYYY, YYYY/MM or YYYY/MM/DD",
    "maxDate": "last day: YYYY, YYYY/MM or YYYY/MM/DD",
    "dateType": "day published, entered or revised",
    "filterByPublicationTypes": "publication type, such as Review; repeat for more",
    "fetchBriefSummaries": "first hits that are shown with title and authors",
    "detailLevel": "citation: without abstract; xml, medline: NCBI's own text",
    "includeMeshTerms": "MeSH headings, in --json",
    "includeGrantInfo": "who paid for it",
    "includeAffiliations": "where the authors work",
    "maxCharacters": "characters of the answer, whole records only",
    "relationshipType": "how it is related",
    "maxRelatedResults": "articles",
}


@click.group("pubmed", help=f"Ask PubMed itself, within {TIMEOUT_S} seconds. Nothing is added to the corpus.")
def pubmed_command() -> None:
    """The commands below."""


@pubmed_command.command("search")
@words("term")
@options_of(search_pubmed, whole=("fetchBriefSummaries",), helps=MEANINGS)
@answering
def search_command(session: Session, /, term: str, **given: Any) -> None:
    """Search PubMed for TERM, in PubMed's own syntax."""
    arguments = {"queryTerm": term, **arguments_of(search_pubmed, given)}
    session.answer(session.ask(search_pubmed, arguments), render_search)


@pubmed_command.command("fetch")
@pmids
@options_of(fetch_details, whole=("maxCharacters",), helps=MEANINGS, choices={"detailLevel": LEVELS})
@answering
def fetch_command(session: Session, /, **given: Any) -> None:
    """Show the PubMed records of PMIDS."""
    session.answer(session.ask(fetch_details, arguments_of(fetch_details, given)), render_fetch)


@pubmed_command.command("related")
@pmid
@options_of(relate, without=(*CITING, "maxCharacters"), helps=MEANINGS, choices={"relationshipType": KINDS})
@answering
def related_command(session: Session, /, pmid: str, **given: Any) -> None:
    """List articles similar to PMID, citing it or cited by it."""
    session.answer(session.ask(relate, {"sourcePmid": pmid, **arguments_of(relate, given)}), render_related)


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
    """Print the citations of PMIDS."""
    field, named = STYLES[style]
    wanted = {"relationshipType": "citation_formats", **{each: [] for each in CITING}, field: [named]}
    session.answer_each(
        "citations",
        pmids,
        lambda pmid: session.ask(relate, {"sourcePmid": pmid, **wanted}),
        lambda answer: terminal.say_unwrapped(answer["citations"][named]),
    )


def render_search(body: Mapping[str, Any]) -> None:
    """Print the number of hits and the term that was sent, then the hits."""
    terminal.say(f"{terminal.counted(body['totalFound'], 'article')} for {body['effectiveESearchTerm']}")
    if body["suggestedTerm"]:
        terminal.say(f"PubMed would spell it: {body['suggestedTerm']}")
    if body["briefSummaries"]:
        terminal.show(*(_summary(each) for each in body["briefSummaries"]))
    elif body["pmids"]:
        terminal.say(", ".join(body["pmids"]))
    _warn(body)


def render_fetch(body: Mapping[str, Any]) -> None:
    """Print NCBI's own text as it is, or each record; then the PMIDs that were not found."""
    if "content" in body:
        terminal.say_unwrapped(body["content"])
    else:
        for each in body["articles"]:
            terminal.show(*_record(each), "")
    if body["notFoundPmids"]:
        terminal.warn(f"PubMed has no record {', '.join(body['notFoundPmids'])}")
    _warn(body)


def render_related(body: Mapping[str, Any]) -> None:
    """Print the articles, by score if there is one."""
    terminal.say(f"{body['retrievedCount']} of {terminal.counted(body['totalCount'], 'article')}")
    terminal.show(*(_summary(each) for each in body["relatedArticles"]))
    _warn(body)


def _record(each: Mapping[str, Any]) -> list[Text]:
    names = [_name(author) for author in each["authors"]]
    journal = each["journalInfo"]
    printed = ". ".join(filter(None, [journal["title"], journal["publicationDate"].get("medlineDate")]))
    ids = ", ".join(filter(None, [f"PMID {each['pmid']}", each["pmcid"], each["doi"] and f"DOI {each['doi']}"]))
    return [
        Text.assemble(*flag(each["retraction"]), (each["title"] or "(no title)", "bold")),
        Text(", ".join(names)),
        Text(printed, style="italic"),
        Text(ids, style="dim"),
        Text(each.get("abstractText") or ""),
        *(Text(_grant(grant), style="dim") for grant in each.get("grantList", ())),
        *(Text(place, style="dim") for place in each.get("affiliations", ())),
    ]


def _grant(grant: Mapping[str, Any]) -> str:
    return "Grant: " + ", ".join(filter(None, (grant["grantId"], grant["agency"], grant["country"])))


def _name(author: Mapping[str, Any]) -> str:
    return author.get("collectiveName") or " ".join(filter(None, [author["lastName"], author["initials"]]))


def _summary(each: Mapping[str, Any]) -> RenderableType:
    """After a blank line: PMID and title, then authors, source with its date, and score."""
    title = Text.assemble(
        (f"{each['pmid']}  ", "dim"), *flag(each["retraction"]), (each["title"] or "(no title)", "bold")
    )
    score = f"score {each['score']:.2f}" if each.get("score") is not None else ""
    facts = [each["authors"] or "", _dated(each["source"] or "", each.get("pubDate") or ""), score]
    line = " ".join(f"{fact.rstrip('.')}." for fact in facts if fact)
    return Group("", title, Padding(Text(line, style="italic"), (0, 0, 0, len(each["pmid"]) + 2), expand=False))


def _dated(source: str, date: str) -> str:
    """The source followed by the date, unless it has the year already, as "J Pain. 2021 Jun 7" does."""
    return source if not date or date[:4] in source else f"{source}. {date}".removeprefix(". ")


def _warn(body: Mapping[str, Any]) -> None:
    for reason in (*body["reasons"], *body.get("warnings", ())):
        terminal.warn(reason)
