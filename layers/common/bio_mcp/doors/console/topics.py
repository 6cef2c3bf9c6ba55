"""The page Topics: what is followed, how it syncs and what is new, which each person marks as read.

A topic is a followed query, and its name the query's key.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict
from email.message import EmailMessage
from email.policy import SMTP
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from bio_mcp.call import Outcome
from bio_mcp.doors.console.console import CONSOLE, Answer, Console, Shown, form_error, see_other
from bio_mcp.doors.console.feed import origin_of
from bio_mcp.doors.console.pages import facts_of
from bio_mcp.doors.console.rendering import PRIVATE, render
from bio_mcp.ingesting import notices
from bio_mcp.jobs.runner import FIRST_STEP_S
from bio_mcp.ports import Backends
from bio_mcp.syncing.news import count_unread, unfollowed, unread
from bio_mcp.syncing.queries import OF_THE_INSTALLATION, FollowedQuery, list_queries, report_on, seconds_left
from bio_mcp.tool import Context, resource
from bio_mcp.tools.checkpoint import stop_following
from bio_mcp.tools.news import mark_read, news_of, reader_id
from bio_mcp.tools.pubmed import search_pubmed
from bio_mcp.tools.sync_delta import sync_delta

PATH, DIGEST = "/topics", "/topics.eml"
EML = "message/rfc822"
MOST_TOPICS = 100
LONGEST_NAME = 80  # characters of a name that is made from a term
CONFIRMATIONS = ("confirm", "max_records")  # arguments of a sync by which somebody says yes
_TAG = re.compile(r"\[[^\]]*\]")


@resource("console://topics", name="topics page", family=CONSOLE, scope="read", timeout=15)
def topics_page(backends: Backends, context: Context, topic: str = "", everything: str = "") -> Shown:
    """The followed topics, and what is unread of the one that is asked for, else of the first that has something
    unread; with `everything` what was read too."""
    reader = reader_id(context.caller)
    followed, left_out = list_queries(None, MOST_TOPICS, backends)
    if topic and topic not in {each.checkpoint.query_key for each in followed}:
        followed += list_queries(topic, MOST_TOPICS, backends)[0]
    current = {each.checkpoint.query_key: each for each in followed}  # of several terms the one synced last
    topics = []
    for name, query in current.items():
        context.deadline.check("counting what is unread")
        if name not in OF_THE_INSTALLATION:
            topics.append(_topic(query, reader, backends))
    if topic and topic not in {each["name"] for each in topics}:
        raise unfollowed(topic, backends)
    chosen = topic or next((each["name"] for each in sorted(topics, key=lambda each: not each["unread"])), "")
    return Shown(
        topics=topics,
        left_out=left_out,
        chosen=next((each for each in topics if each["name"] == chosen), None),
        news=_news(chosen, None if everything else reader, backends) if chosen else None,
        everything=bool(everything),
        marks=reader is not None,
        moving=any(each["moving"] for each in topics),
    )


def _topic(query: FollowedQuery, reader: str | None, backends: Backends) -> dict[str, Any]:
    """A topic: all that it matches is here up to the day `settled_to`."""
    name = query.checkpoint.query_key
    count, more = count_unread(name, reader, backends)
    sync = None
    if query.job:
        report = report_on(query.job, backends.now())
        facts = facts_of(query.job, backends.now())
        sync = {**facts, **asdict(report), "left_s": seconds_left(query.job, report)}
    return {
        "name": name,
        "term": query.checkpoint.term,
        "settled_to": query.settled_to,
        "unread": count,
        "more": more,
        "moving": bool(sync and sync["moving"]),
        "sync": sync,
    }


def _news(topic: str, reader: str | None, backends: Backends) -> dict[str, Any]:
    """What is unread, or without a reader everything, by day, the retracted papers apart."""
    found = unread(topic, reader, backends)
    papers = [{**news_of(each).model_dump(mode="json"), "retracted": each.is_retracted} for each in found.items]
    others = [each for each in papers if not each["retracted"]]
    return {
        "count": len(papers),
        "retracted": [each for each in papers if each["retracted"]],
        "days": [{"day": day, "papers": list(of)} for day, of in groupby(others, key=lambda each: each["at"][:10])],
        "position": "" if reader is None else found.position,
        "more": found.more,
        "warnings": found.warnings,
    }


@resource("console://terms", name="followed terms", family=CONSOLE, scope="read", timeout=5)
def followed_terms(backends: Backends) -> Shown:
    """The term of each topic, by name; what the installation does for itself has a name too, and none."""
    terms = {each.query_key: each.term for each in backends.checkpoints.all() if each.term is not None}
    return Shown(terms=terms | dict.fromkeys((*OF_THE_INSTALLATION, notices.QUERY_KEY)))


@resource("console://unread/{topic}", name="unread papers", family=CONSOLE, scope="read", timeout=10)
def unread_page(backends: Backends, context: Context, topic: str) -> Shown:
    """What is unread of a topic."""
    return Shown(topic=topic, news=_news(topic, reader_id(context.caller), backends))


def routes(console: Console, endpoint: str) -> list[tuple[str, str, Answer]]:
    """Path, method and answer of each page and form. `endpoint` is the endpoint's public URL, if there is one."""
    return [
        (PATH, "GET", partial(page, console)),
        (PATH, "POST", partial(follow, console)),
        (f"{PATH}/sync", "POST", partial(sync, console)),
        (f"{PATH}/read", "POST", partial(read, console)),
        (f"{PATH}/remove", "POST", partial(stop, console)),
        (DIGEST, "GET", partial(digest, console, endpoint)),
    ]


def address_of(topic: str) -> str:
    return f"{PATH}?{urlencode({'topic': topic})}"


async def page(console: Console, request: Request) -> Response:
    """The page; with a term what following it would bring, which a button confirms."""
    term = request.query_params.get("term", "").strip()
    if term:
        return await _offer(console, request, term)
    return await _shown(console, request)


async def _shown(
    console: Console, request: Request, error: Mapping[str, Any] | None = None, term: str = ""
) -> Response:
    """The topics, and why what was asked for could not be done; with the term that was typed."""
    query = request.query_params
    given = {name: query[name] for name in ("topic", "everything") if query.get(name)}
    outcome = await console.ask(topics_page, given, request)
    if outcome.failed:
        return console.failure(request, outcome)
    data = outcome.body
    return console.page(request, "topics.html", data=data, error=error, term=term, address_of=address_of)


async def _offer(
    console: Console,
    request: Request,
    term: str,
    name: str = "",
    error: Mapping[str, Any] | None = None,
    confirm: Mapping[str, Any] | None = None,
) -> Response:
    """How many papers PubMed has by a term, and the button that follows it. `confirm` is what it says yes to."""
    followed = await console.ask(followed_terms, {}, request)
    if followed.failed:
        return console.failure(request, followed)
    terms = followed.body["terms"]
    if same := next((each for each in terms if terms[each] == term), None):
        return see_other(address_of(same))
    outcome = await console.ask(search_pubmed, {"queryTerm": term, "maxResults": 1}, request)
    if outcome.failed:
        return await _shown(console, request, outcome.body["error"], term)
    name, confirm = name or _name_of(term, terms), confirm or {}
    return console.page(request, "follow.html", data=outcome.body, error=error, term=term, name=name, confirm=confirm)


def _name_of(term: str, taken: Collection[str]) -> str:
    """A name for a term: its words without PubMed's tags, and a number where another topic has that name."""
    words = " ".join(_TAG.sub("", term).split())[:LONGEST_NAME].strip() or term[:LONGEST_NAME]
    names = (words, *(f"{words} {number}" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)


async def follow(console: Console, request: Request) -> Response:
    """Begin to follow a term. What PubMed does not know, or has very much of, is asked once more."""
    form = await console.form(request)
    term, name = form.text("term"), form.text("name")
    followed = await console.ask(followed_terms, {}, request)
    if followed.failed:
        return console.failure(request, followed)
    if followed.body["terms"].get(name, term) != term:
        taken = form_error(f"There is a topic {name!r} already. Choose another name.")
        return await _offer(console, request, term, name, taken)
    confirmed = {each: form.text(each) for each in CONFIRMATIONS if form.text(each)}
    outcome = await console.ask(
        sync_delta, {"query_key": name, "term": term, **confirmed}, request, seconds=FIRST_STEP_S
    )
    if not outcome.failed:
        return see_other(address_of(name))
    error = outcome.body["error"]
    if confirm := error["details"].get("confirm"):
        asked = {**error, "message": f"{error['details']['why']}. Follow it all the same?"}
        return await _offer(console, request, term, name, asked, {**confirmed, **confirm})
    return await _shown(console, request, error, term)


async def sync(console: Console, request: Request) -> Response:
    """Bring a topic up to date. It is planned here, and read by what works through the queue.

    A sync whose result nobody was told yet is answered by that: the page has shown it, so the next one begins.
    """
    form = await console.form(request)
    topic = form.text("topic")
    arguments = {"query_key": topic, "term": form.text("term")}
    outcome = await console.ask(sync_delta, arguments, request, seconds=FIRST_STEP_S)
    if not outcome.failed and outcome.body.get("ended"):
        outcome = await console.ask(sync_delta, arguments, request, seconds=FIRST_STEP_S)
    return await _done(console, request, outcome, address_of(topic))


async def read(console: Console, request: Request) -> Response:
    """Mark what a page showed of a topic as read."""
    form = await console.form(request)
    topic = form.text("topic")
    outcome = await console.ask(mark_read, {"query_key": topic, "position": form.text("position")}, request)
    return await _done(console, request, outcome, address_of(topic))


async def stop(console: Console, request: Request) -> Response:
    """Stop following a topic."""
    form = await console.form(request)
    outcome = await console.ask(stop_following, {"query_key": form.text("topic")}, request)
    return await _done(console, request, outcome, PATH)


async def _done(console: Console, request: Request, outcome: Outcome, address: str) -> Response:
    """The answer to a form: the way to a page, or the topics and why it could not be done."""
    return await _shown(console, request, outcome.body["error"]) if outcome.failed else see_other(address)


async def digest(console: Console, endpoint: str, request: Request) -> Response:
    """What is unread of a topic as an e-mail that a mail program opens as a draft (RFC 5322); nothing is sent."""
    topic = request.query_params.get("topic", "")
    outcome = await console.ask(unread_page, {"topic": topic}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    news, origin = outcome.body["news"], origin_of(endpoint, request)
    shown = {"topic": topic, "news": news, "origin": origin, "address": origin + address_of(topic)}
    message = EmailMessage(SMTP)
    retracted = f", {len(news['retracted'])} retracted" if news["retracted"] else ""
    message["Subject"] = " ".join(f"{topic}: {news['count']} unread{retracted}".split())
    message["X-Unsent"] = "1"
    message.set_content(render("digest.txt", **shown))
    message.add_alternative(render("digest.html", **shown), subtype="html")
    name = re.sub(r"[^\w.-]+", "-", topic).strip("-") or "topic"
    headers = {**PRIVATE, "content-disposition": f"attachment; filename*=utf-8''{quote(name)}.eml"}
    return Response(message.as_bytes(), headers=headers, media_type=EML)
