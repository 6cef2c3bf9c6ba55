"""`bio-mcp pubmed`: PubMed itself, live; what is found there need not be in the corpus."""

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import console
from bio_mcp.doors.cli.options import as_json, pmid, pmids, words
from bio_mcp.doors.cli.papers import flag
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools import budget
from bio_mcp.tools.pubmed import LINKS, SORTS, TIMEOUT_S, fetch_details, relate, search_pubmed

KINDS = {name.removeprefix("pubmed_").partition("_")[0]: name for name in LINKS}
STYLES = {"ris": "ris", "bibtex": "bibtex", "apa": "apa_string", "mla": "mla_string"}
MORE_STYLES = {"vancouver": "vancouver", "csl": "csl_json"}
RAW = {"xml": "full_xml", "medline": "medline_text"}
MOST_SUMMARIES = 100


@click.group("pubmed", help=f"Ask PubMed itself, within {TIMEOUT_S} seconds. Nothing is added to the corpus.")
def pubmed_command() -> None:
    """The commands below."""


@pubmed_command.command("search")
@words("term")
@click.option("--max", "most", type=click.INT, default=20, show_default=True, help="hits to show, at most 1000")
@click.option(
    "--sort", type=click.Choice(list(SORTS)), default="relevance", show_default=True, help="order of the hits"
)
@click.option("--from", "first", help="first day: YYYY, YYYY/MM or YYYY/MM/DD")
@click.option("--to", "last", help="last day: YYYY, YYYY/MM or YYYY/MM/DD")
@click.option("--date", "kind", type=click.Choice(["pdat", "edat", "mdat"]), help="day published, entered or revised")
@click.option("--type", "types", multiple=True, help="publication type, such as Review; repeat for more")
@as_json
@click.pass_obj
def search_command(session: Session, /, as_json: bool, **given: Any) -> None:
    """Search PubMed for TERM, in PubMed's own syntax."""
    session.as_json = as_json
    range_ = {"minDate": given["first"], "maxDate": given["last"], "dateType": given["kind"]}
    arguments = {
        "queryTerm": given["term"],
        "maxResults": given["most"],
        "sortBy": given["sort"],
        "fetchBriefSummaries": max(0, min(given["most"], MOST_SUMMARIES)),
        "dateRange": {name: value for name, value in range_.items() if value},
        "filterByPublicationTypes": list(given["types"]),
    }
    session.answer(session.ask(search_pubmed, arguments), render_search)


@pubmed_command.command("fetch")
@pmids
@click.option("--as", "form", type=click.Choice(list(RAW)), help="NCBI's own XML or MEDLINE text")
@as_json
@click.pass_obj
def fetch_command(session: Session, pmids: tuple[str, ...], form: str | None, as_json: bool) -> None:
    """Show the PubMed records of PMIDS."""
    session.as_json = as_json
    level = RAW[form] if form else "abstract_plus"
    arguments = {"pmids": list(pmids), "detailLevel": level, "maxCharacters": budget.MOST}
    session.answer(session.ask(fetch_details, arguments), render_fetch)


@pubmed_command.command("related")
@pmid
@click.option("--kind", type=click.Choice(list(KINDS)), default="similar", show_default=True, help="how it is related")
@click.option("--max", "most", type=click.INT, default=10, show_default=True, help="articles, at most 50")
@as_json
@click.pass_obj
def related_command(session: Session, pmid: str, kind: str, most: int, as_json: bool) -> None:
    """List articles similar to PMID, citing it or cited by it."""
    session.as_json = as_json
    arguments = {"sourcePmid": pmid, "relationshipType": KINDS[kind], "maxRelatedResults": most}
    session.answer(session.ask(relate, arguments), render_related)


@pubmed_command.command("cite")
@pmids
@click.option(
    "--style",
    type=click.Choice([*STYLES, *MORE_STYLES]),
    default="apa",
    show_default=True,
    help="csl is JSON for reference managers",
)
@as_json
@click.pass_obj
def cite_command(session: Session, pmids: tuple[str, ...], style: str, as_json: bool) -> None:
    """Print the citations of PMIDS."""
    session.as_json = as_json
    named, field = (STYLES | MORE_STYLES)[style], "citationStyles" if style in STYLES else "moreStyles"
    wanted = {"relationshipType": "citation_formats", "citationStyles": [], "moreStyles": [], field: [named]}
    session.answer_each(
        "citations",
        pmids,
        lambda pmid: session.ask(relate, {"sourcePmid": pmid, **wanted}),
        lambda answer: console.say_unwrapped(answer["citations"][named]),
    )


def render_search(body: Mapping[str, Any]) -> None:
    """How many there are and what was asked, then the hits."""
    console.say(f"{console.many(body['totalFound'], 'article')} for {body['effectiveESearchTerm']}")
    if body["suggestedTerm"]:
        console.say(f"PubMed would spell it: {body['suggestedTerm']}")
    if body["briefSummaries"]:
        console.show(*(_summary(each) for each in body["briefSummaries"]))
    elif body["pmids"]:
        console.say(", ".join(body["pmids"]))
    _warn(body)


def render_fetch(body: Mapping[str, Any]) -> None:
    """NCBI's own text as it is; or each record, then what is not there."""
    if "content" in body:
        console.say_unwrapped(body["content"])
    else:
        for each in body["articles"]:
            console.show(*_record(each), "")
    if body["notFoundPmids"]:
        console.warn(f"PubMed has no record {', '.join(body['notFoundPmids'])}")
    _warn(body)


def render_related(body: Mapping[str, Any]) -> None:
    """The articles, by score where there is one."""
    console.say(f"{body['retrievedCount']} of {console.many(body['totalCount'], 'article')}")
    console.show(*(_summary(each) for each in body["relatedArticles"]))
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
        Text(each["abstractText"] or ""),
    ]


def _name(author: Mapping[str, Any]) -> str:
    return author.get("collectiveName") or " ".join(filter(None, [author["lastName"], author["initials"]]))


def _summary(each: Mapping[str, Any]) -> RenderableType:
    """PMID and title, then authors, source with its date, and score, below a blank line."""
    title = Text.assemble(
        (f"{each['pmid']}  ", "dim"), *flag(each["retraction"]), (each["title"] or "(no title)", "bold")
    )
    score = f"score {each['score']:.2f}" if each.get("score") is not None else ""
    facts = [each["authors"] or "", _dated(each["source"] or "", each.get("pubDate") or ""), score]
    line = " ".join(f"{fact.rstrip('.')}." for fact in facts if fact)
    return Group("", title, Padding(Text(line, style="italic"), (0, 0, 0, len(each["pmid"]) + 2), expand=False))


def _dated(source: str, date: str) -> str:
    """The source with the date, unless it says the year itself, as "J Pain. 2021 Jun 7" does."""
    return source if not date or date[:4] in source else f"{source}. {date}".removeprefix(". ")


def _warn(body: Mapping[str, Any]) -> None:
    for reason in (*body["reasons"], *body.get("warnings", ())):
        console.warn(reason)
