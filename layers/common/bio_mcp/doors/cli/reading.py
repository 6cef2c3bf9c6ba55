"""`bio-mcp search` and `bio-mcp get`: find papers and read one."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import console
from bio_mcp.doors.cli.options import arguments_of, as_json, options_of
from bio_mcp.doors.cli.papers import hits, paper
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools.get_doc import rag_get
from bio_mcp.tools.search import rag_search


@click.command("search")
@click.argument("query")
@options_of(rag_search, without=("query",))
@as_json
@click.pass_obj
def search_command(session: Session, /, as_json: bool, **given: Any) -> None:
    """Search the corpus for QUERY: a question, or words."""
    session.as_json = as_json
    body = session.ask(rag_search, arguments_of(rag_search, given))
    session.answer(body, lambda answer: render_hits(answer, given["query"]))


@click.command("get")
@click.argument("pmid")
@options_of(rag_get, without=("doc_id",))
@as_json
@click.pass_obj
def get_command(session: Session, /, pmid: str, as_json: bool, **given: Any) -> None:
    """Show the paper PMID: 34093513 or pmid:34093513."""
    session.as_json = as_json
    doc_id = pmid if pmid.startswith("pmid:") else f"pmid:{pmid}"
    body = session.ask(rag_get, arguments_of(rag_get, {**given, "doc_id": doc_id}))
    session.answer(body, lambda answer: console.out().print(paper(answer)))


def render_hits(body: Mapping[str, Any], query: str) -> None:
    """The hits, then what the answer lacks."""
    if not body["results"]:
        console.say("No paper in the corpus matches. `bio-mcp doctor` tells how many it holds.")
        return
    console.out().print(hits(body["results"], query, console.out().width))
    for reason in (*body["reasons"], *body["warnings"]):
        console.warn(reason)
