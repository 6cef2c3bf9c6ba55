"""`bio-mcp search`, `get`, `answer` and `news`: what the papers of the corpus say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
from rich.console import RenderableType
from rich.text import Text

from bio_mcp.answering.answers import claims
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, pmids, words
from bio_mcp.doors.cli.render import View, entry, markdown, render
from bio_mcp.doors.cli.session import Session
from bio_mcp.literature.clock import instant
from bio_mcp.literature.identifiers import doi_page, pubmed_page
from bio_mcp.ports import Backends
from bio_mcp.tools.answer import rag_answer
from bio_mcp.tools.answer_size import MOST
from bio_mcp.tools.get_doc import rag_get
from bio_mcp.tools.news import DAYS, MOST_ENTRIES, whats_new
from bio_mcp.tools.search import rag_search

HITS = View(
    ranked="{}. ",
    hidden=frozenset("section interpreted total weak score quality".split()),
    empty="`bio-mcp pubmed search` asks PubMed itself, and `bio-mcp sync` brings papers here.",
    foot="relevance: the probability that the paper fits",
)
EXPLAINED = replace(HITS, hidden=frozenset("section interpreted total weak".split()))
HITS_SHOWN = 10
CITED = View(hidden=frozenset("uri span role".split()))
SUREST = 0.99  # as is shown
HOW = {"extractive": "Quoted word for word"}  # by mode; else a model wrote it
HELPS = {
    "lang": "language of the question",
    "year_from": "of publication",
    "year_to": "of publication",
    "journals": "this title, abbreviation, ISSN or NLM id; repeat for more",
    "publication_types": "this type of PubMed's, e.g. meta-analysis; repeat for more",
    "languages": "this language, e.g. German or ger; repeat for more",
    "species": "by MeSH headings",
    "retracted": "leave retracted papers out, or show them alone",
    "has_abstract": "with an abstract, or without one",
    "mesh": "this MeSH heading; repeat for more, of which a paper has all",
    "participants_min": "of the study, as its abstract states",
}
HEADINGS = {"retracted": "Retracted", "new": "New", "changed": "Changed", "deleted": "Withdrawn from PubMed"}
"""By kind of news, in the order in which they are shown."""
SEARCH_HELPS = {
    "quality_bias": "better evidence and newer papers rank higher",
    "sort": "date: the newest first",
    "cursor": "go on where the last answer ended, which says how",
    "group_by_doc": "one passage of each paper, or every passage",
    "synonyms": "look up other names of diseases and drugs too",
    "explain": "why each hit stands where it does, and its whole passage",
    "include_weak": "show matches that fit neither by meaning nor by words too",
}


@click.command("search")
@words("query")
@click.option("--top-k", type=int, default=HITS_SHOWN, show_default=True, help="papers to show, at most 100")
@options_of(rag_search, without=("query", "top_k"), helps=HELPS | SEARCH_HELPS)
@answering
def search_command(session: Session, /, **given: Any) -> None:
    """Find papers of your corpus for QUERY, the best evidence first.

    QUERY is a question or words, PubMed's syntax ('asthma[ti] AND child*'), an author and year, PMIDs or DOIs.
    """
    body = session.ask(rag_search, arguments_of(rag_search, given))
    first = int(given["cursor"].partition("-")[0]) if given["cursor"] else 0
    view = EXPLAINED if given["explain"] else HITS
    session.answer(body, lambda body: replace(hits_view(body, view), first=first + 1), given["query"])


def hits_view(body: Mapping[str, Any], view: View) -> View:
    """Hits, after how the query was read and how many match, and with the way to the next page."""
    total = body["total"]
    counted = f" {total:,} paper{' matches' if total == 1 else 's match'}."
    asked = body.get("interpreted")
    head = "{interpreted[text]}" + (counted if asked["kind"] != "question" else "") if asked else ""
    foot = [view.foot]
    if "weak" in body:
        foot.append(f"{body['weak']:,} weak match{'' if body['weak'] == 1 else 'es'} left out: --include-weak")
    if "next_cursor" in body:
        foot.append(f"more: --cursor {body['next_cursor']}")
    return replace(view, head=head, foot=f"{'; '.join(foot)}.")


PAPER = View(labels={"edat": "came to PubMed", "lr": "revised"}, hidden=frozenset({"year", "doc_id"}))
PAPER_ORDER = "title authors journal pdat pmid pmcid doi pub_types study quality".split()


@click.command("get")
@pmids
@answering
def get_command(session: Session, pmids: tuple[str, ...]) -> None:
    """Show the papers of PMIDS: 34093513, pmid:34093513, a PMCID or a DOI."""

    def ask(named: str) -> dict[str, Any]:
        doc_id = f"pmid:{named}" if named.isdecimal() else named
        return session.ask(rag_get, {"doc_id": doc_id, "max_characters": MOST})

    def show(body: Mapping[str, Any]) -> None:
        quality = body["quality"]
        shown = {**body, "pmid": body["doc_id"].removeprefix("pmid:")}
        shown["quality"] = f"{quality['total']} of 9: {', '.join(quality['reasons'])}"
        shown |= {name: shown[name][:10] for name in ("edat", "lr") if shown.get(name)}
        first = {name: shown.pop(name) for name in PAPER_ORDER if name in shown}
        render({**first, **shown, "warnings": []}, PAPER)

    session.answer_each("papers", pmids, ask, show)


@click.command("answer")
@click.argument("question", nargs=-1, metavar="QUESTION")
@click.option("--show", "answer_id", metavar="ID", help="Show the answer of this id as it was given, and its flags.")
@options_of(rag_answer, without=("question",), helps=HELPS)
@answering
def answer_command(session: Session, /, question: tuple[str, ...], answer_id: str | None, **given: Any) -> None:
    """Answer QUESTION from the corpus, by sentences of its papers quoted word for word; or show an earlier answer."""
    if bool(question) == bool(answer_id):
        raise click.UsageError("give a QUESTION, or --show and the ID of an answer")
    if answer_id:
        session.answer(_stored(answer_id, session.own), show_answer)
    else:
        arguments = arguments_of(rag_answer, {**given, "question": " ".join(question)})
        session.answer(session.ask(rag_answer, arguments), show_answer)


def _stored(answer_id: str, backends: Backends) -> dict[str, Any]:
    stored = backends.answers.get(answer_id)
    papers = backends.documents.get_many(list({each.pmid for each in stored.spans}))
    titles = {pmid: paper.article.title for pmid, paper in papers.items()}
    return {
        "answer_id": stored.answer_id,
        "question": stored.question,
        "answer": stored.text,
        "citations": [
            {
                "id": f"pmid:{each.pmid}",
                "title": titles.get(each.pmid, "(no longer in the corpus)"),
                "version": each.version,
                "span": each.where,
                "quote": each.quote,
            }
            for each in stored.spans
        ],
        "answer_conf": stored.confidence,
        "asked": instant(stored.asked),
        "retracted_since": [f"pmid:{pmid}" for pmid in stored.flagged],
    }


def show_answer(body: Mapping[str, Any]) -> None:
    """Print an answer, or why it is withheld, and its papers, each with the numbers of its sentences; a sentence that
    the answer does not have is quoted. An earlier answer has also its question, its day and its flags."""
    for doc_id in body.get("retracted_since", ()):
        terminal.warn(f"PMID {doc_id.removeprefix('pmid:')}, which it cites, was retracted since.")
    asked, answer_id = body.get("asked"), body["answer_id"]
    stated = [f"{text} {''.join(f'[{number}]' for number in cited)}".strip() for text, cited in claims(body["answer"])]
    text = f"No answer: {body['reason']}." if body.get("withheld") else "\n".join(stated)
    parts: list[RenderableType] = [*([Text(body["question"], "bold")] if asked else []), Text(text), ""]
    cited: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for number, each in enumerate(body["citations"], 1):
        cited.setdefault(each["id"], []).append((number, each))
    for citations in cited.values():
        paper = {
            **citations[0][1],
            "quote": "\n".join(each["quote"] for _, each in citations if each["quote"] not in text),
        }
        parts.append(entry(paper, CITED, rank=f"[{', '.join(str(number) for number, _ in citations)}] "))
    if asked:
        foot = f"Given on {asked[:10]} with confidence {min(SUREST, body['answer_conf']):.2f}."
    elif body["withheld"]:
        foot = "`bio-mcp search` shows what comes nearest, and `bio-mcp pubmed search` asks PubMed."
    else:
        how = HOW.get(body["mode"], "Written by a model from these papers")
        kept = f"`bio-mcp answer --show {answer_id}` shows it again, and what was retracted since."
        foot = f"{how}. Confidence {min(SUREST, body['scores']['answer_conf']):.2f}. {kept}"
    terminal.show(*parts, *([Text(foot, "dim")] if foot else []))


@click.command("news")
@click.argument("query_key")
@click.option("--since", metavar="DATE", help=f"A date, or `next` of an answer as JSON. [default: {DAYS} days ago]")
@click.option("--limit", type=click.IntRange(1), default=1_000, show_default=True, help="Entries to look through.")
@answering
def news_command(session: Session, /, query_key: str, since: str | None, limit: int) -> None:
    """Show what became of the papers that QUERY_KEY found: new, changed (what differs), retracted, withdrawn.

    It reads the corpus; `bio-mcp sync` brings it up to date. JSON has `next`, to be given as --since the next time.
    """
    body: dict[str, Any] = {"more": True}
    news: list[Any] = []
    while body["more"] and limit > 0:
        arguments = {"query_key": query_key, "limit": min(limit, MOST_ENTRIES), "max_characters": MOST}
        body = session.ask(whats_new, arguments | ({"since": since} if since else {}))
        since, limit = body["next"], limit - MOST_ENTRIES
        news += body["news"]
    session.answer({**body, "news": news}, lambda body: terminal.show(*digest(body)))


def digest(body: Mapping[str, Any]) -> Iterator[str]:
    """Lines of Markdown: a section for each kind of news, an item for each paper."""
    yield f"# News of {markdown(body['query_key'])}"
    for kind, heading in HEADINGS.items():
        news = [each for each in body["news"] if each["kind"] == kind]
        if news:
            yield from ("", f"## {heading} ({len(news)})", "", *(line for each in news for line in _item(each)))
    if not body["news"]:
        yield from ("", "Nothing new; --since DATE looks further back.")
    if body["more"]:
        yield from ("", f"There is more: give --since {body['next']!r}.")


def _item(news: Mapping[str, Any]) -> Iterator[str]:
    title = markdown(news.get("title") or f"PMID {news['pmid']}")
    journal = " ".join(str(news[name]) for name in ("journal", "year") if news.get(name))
    source = [", ".join(news.get("authors", ())), journal, f"{news['at'][:10]}"]
    links = [f"[PubMed]({pubmed_page(news['pmid'])})"]
    links += [f"[DOI]({doi_page(news['doi'])})"] if news.get("doi") else []
    yield f"- **{title}** {'. '.join(filter(None, map(markdown, source)))}. {' '.join(links)}"
    yield from (f"  - {markdown(each)}" for each in news.get("notices", ()))
    if news["kind"] == "changed":
        yield from (f"  - {line}" for line in _changes(news.get("changed")))


def _changes(changed: Sequence[Mapping[str, str]] | None) -> Iterator[str]:
    if changed is None:
        yield "what differs is no longer known"
    for each in changed or ():
        parts = [f"~~{markdown(each['removed'])}~~"] if each.get("removed") else []
        parts += [markdown(each["added"])] if each.get("added") else []
        yield f"{each['field']}: {' → '.join(parts)}"
