"""`bio-mcp search` and `bio-mcp get`: find papers, and read one."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, pmids, words
from bio_mcp.doors.cli.papers import hits, paper
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools import budget
from bio_mcp.tools.get_doc import rag_get
from bio_mcp.tools.search import rag_search

ABOUT_SCORES = (
    "Scores only order this answer. They do not say how well a paper fits, and cannot be compared between answers."
)


OPTIONS = {
    "top_k": "papers to show",
    "quality_bias": "better evidence and newer papers rank higher",
    "journals": "this NLM id or full title; repeat for more",
    "publication_types": "this MeSH id or name, e.g. meta-analysis; repeat for more",
}


@click.command("search")
@words("query")
@options_of(rag_search, helps=OPTIONS)
@answering
def search_command(session: Session, /, **given: Any) -> None:
    """Search the corpus for QUERY: a question, or words."""
    body = session.ask(rag_search, arguments_of(rag_search, given))
    session.answer(body, lambda answer: render_hits(answer, given["query"]))


@click.command("get")
@pmids
@answering
def get_command(session: Session, pmids: tuple[str, ...]) -> None:
    """Show the papers of PMIDS: 34093513 or pmid:34093513."""

    def read(pmid: str) -> dict[str, Any]:
        return session.ask(rag_get, {"doc_id": f"pmid:{pmid}", "max_characters": budget.MOST})

    session.answer_each("papers", pmids, read, render_paper)


def render_paper(body: Mapping[str, Any]) -> None:
    """Print one paper in full."""
    terminal.show(paper(body))


def render_hits(body: Mapping[str, Any], query: str) -> None:
    """Print the hits, then the warnings."""
    if not body["results"]:
        terminal.say("No paper in the corpus matches. `bio-mcp doctor` shows how many it has.")
    else:
        terminal.show(hits(body["results"], query), terminal.styled(ABOUT_SCORES, "dim"))
    for reason in (*body["reasons"], *body["warnings"]):
        terminal.warn(reason)
