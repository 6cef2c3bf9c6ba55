"""`bio-mcp news`: what became of the papers of a followed query, as a digest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.literature.addresses import doi_page, pubmed_page
from bio_mcp.tools.budget import MOST
from bio_mcp.tools.news import DAYS, MOST_ENTRIES, whats_new

HEADINGS = {"retracted": "Retracted", "new": "New", "changed": "Changed", "deleted": "Withdrawn from PubMed"}
"""By kind, in the order in which they are shown."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")


@click.command("news")
@click.argument("query_key")
@click.option("--since", metavar="DATE", help=f"A date, or `next` of an answer as JSON. [default: {DAYS} days ago]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    show_default=True,
    help="Of the digest.",
)
@click.option("--limit", type=click.IntRange(1), default=1_000, show_default=True, help="Entries to look through.")
@answering
def news_command(session: Session, /, query_key: str, since: str | None, form: str, limit: int) -> None:
    """Show what became of the papers that QUERY_KEY found: new, changed (what differs), retracted, withdrawn.

    It reads the corpus; `bio-mcp sync` brings it up to date. JSON has `next`, to be given as --since the next time.
    """
    session.as_json = session.as_json or form == "json"
    session.answer(_collected(session, query_key, since, limit), lambda body: terminal.say(*digest(body)))


def _collected(session: Session, query_key: str, since: str | None, limit: int) -> dict[str, Any]:
    """The news of as many answers as there are, as one."""
    body: dict[str, Any] = {}
    news: list[Any] = []
    while not body or (body["more"] and limit > 0):
        arguments = {"query_key": query_key, "limit": min(limit, MOST_ENTRIES), "max_characters": MOST}
        body = session.ask(whats_new, arguments | ({"since": since} if since else {}))
        since, limit = body["next"], limit - MOST_ENTRIES
        news += body["news"]
    return {**body, "news": news}


def digest(body: Mapping[str, Any]) -> Iterator[str]:
    """Lines of Markdown: a section for each kind of news, an item for each paper."""
    yield f"# News of {_plain(body['query_key'])}"
    for kind, heading in HEADINGS.items():
        news = [each for each in body["news"] if each["kind"] == kind]
        if news:
            yield from ("", f"## {heading} ({len(news)})", "", *(line for each in news for line in _item(each)))
    if not body["news"]:
        yield from ("", "Nothing new.")
    if body["more"]:
        yield from ("", f"There is more: give --since {body['next']!r}.")
    for warning in body["warnings"]:
        yield from ("", f"> {_plain(warning)}")


def _item(news: Mapping[str, Any]) -> Iterator[str]:
    title = _plain(news.get("title") or f"PMID {news['pmid']}")
    source = [", ".join(news.get("authors", ())), _source(news), f"{news['at'][:10]}"]
    links = [f"[PubMed]({pubmed_page(news['pmid'])})"]
    links += [f"[DOI]({doi_page(news['doi'])})"] if news.get("doi") else []
    yield f"- **{title}** {'. '.join(filter(None, map(_plain, source)))}. {' '.join(links)}"
    yield from (f"  - {_plain(each)}" for each in news.get("notices", ()))
    if news["kind"] == "changed":
        yield from (f"  - {line}" for line in _changes(news.get("changed")))


def _source(news: Mapping[str, Any]) -> str:
    return " ".join(str(news[name]) for name in ("journal", "year") if news.get(name))


def _changes(changed: Sequence[Mapping[str, str]] | None) -> Iterator[str]:
    if changed is None:
        yield "what differs is no longer known"
    for each in changed or ():
        parts = [f"~~{_plain(each['removed'])}~~"] if each.get("removed") else []
        parts += [_plain(each["added"])] if each.get("added") else []
        yield f"{each['field']}: {' → '.join(parts)}"


def _plain(text: str) -> str:
    """The text in one line, with what Markdown would read as its own escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
