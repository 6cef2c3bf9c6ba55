"""The search page: hits, each with why it stands where it does; and an answer, when it is asked for."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from bio_mcp.call import Outcome
from bio_mcp.doors.console.console import CONSOLE, Console, Shown, status_of
from bio_mcp.doors.console.rendering import PRIVATE
from bio_mcp.literature.quality import DESIGNS, design, year
from bio_mcp.ports import Backends
from bio_mcp.retrieval.passages import YearCount
from bio_mcp.tool import MAX_TEXT, resource
from bio_mcp.tools.answer import rag_answer
from bio_mcp.tools.exports import export_details, exported_part
from bio_mcp.tools.search import rag_search

FIELDS = ("q", "year_from", "year_to", "kind", "order", "top_k")  # of the search box
ORDERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "evidence": ("better evidence first", {}),
    "match": ("by match alone", {"quality_bias": False}),
    "newest": ("newest first", {"sort": "date"}),
}
"""Each order's name, and the arguments that ask for it."""
KINDS = tuple(name for _, name in sorted(DESIGNS.values(), key=lambda each: (-each[0], each[1])))
COUNTS = (10, 20, 50)  # of hits that may be asked for
MAX_FORM = 12 * MAX_TEXT  # bytes: a character of a question may take four, each sent as three
LONGEST_NUMBER = 16  # characters that count as a number


@resource("console://overview", name="overview", family=CONSOLE, scope="read", timeout=5)
def overview(backends: Backends) -> Shown:
    """What there is to search."""
    return Shown(papers=backends.documents.count())


@resource("console://years/{pmids}", name="hits by year", family=CONSOLE, scope="read", timeout=5)
def hits_by_year(backends: Backends, pmids: str) -> Shown:
    """Papers, named by their PMIDs with commas between them, by year and study design."""
    found = backends.documents.get_many(pmids.split(",")).values()
    counts = Counter((year(each.article), design(each.article)) for each in found)
    return Shown(years=[YearCount(*of, count) for of, count in counts.items()])


async def results(console: Console, request: Request) -> Response:
    """The page with the search box and, once something is asked, what was found."""
    asked = {name: request.query_params.get(name, "").strip() for name in FIELDS}
    question, cursor = asked["q"], request.query_params.get("cursor", "")
    arguments = _arguments(question, asked) | ({"cursor": cursor} if cursor else {})
    what, arguments = (rag_search, arguments) if question else (overview, {})
    outcome = await console.ask(what, arguments, request)
    form = {
        "question": question,
        "asked": asked,
        "counts": COUNTS,
        "kinds": KINDS,
        "orders": {name: shown for name, (shown, _) in ORDERS.items()},
        "first": int(cursor.partition("-")[0]) + 1 if cursor and not outcome.failed else 1,
        "more": urlencode(asked | {"cursor": outcome.body.get("next_cursor", "")}),
        "years": await _years(console, outcome, request),
    }
    return _page(console, request, "search.html", outcome, **form, searched=bool(question))


async def _years(console: Console, outcome: Outcome, request: Request) -> list[dict[str, Any]]:
    """The hits by year and study design; none where that cannot be read, as the hits are shown all the same."""
    pmids = ",".join(hit["doc_id"].removeprefix("pmid:") for hit in outcome.body.get("results", ()))
    if not pmids:
        return []
    read = await console.ask(hits_by_year, {"pmids": pmids}, request)
    years: list[dict[str, Any]] = read.body.get("years", [])
    return [each for each in years if each["year"] is not None]


async def answer(console: Console, request: Request) -> Response:
    """The page of an answer. It is posted for, as it may cost money: no page of another origin can ask for it."""
    question = (await _form(request)).get("q", "").strip()
    outcome = await console.ask(rag_answer, {"question": question}, request)
    return _page(console, request, "answer.html", outcome, question=question)


def _page(console: Console, request: Request, template: str, outcome: Outcome, **values: Any) -> Response:
    """The page of an answer or, with the same boxes to ask again, of its failure."""
    error = outcome.body["error"] if outcome.failed else None
    status = status_of(error) if error else HTTPStatus.OK
    return console.page(request, template, status, data=outcome.body, error=error, **values)


def _arguments(question: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a search; what is no number goes as it is, and the tool says what is wrong with it."""
    filters: dict[str, Any] = {name: _number(asked[name]) for name in ("year_from", "year_to") if asked[name]}
    if asked["kind"]:
        filters["publication_types"] = [asked["kind"]]
    return {
        "query": question,
        "top_k": _number(asked["top_k"] or str(COUNTS[0])),
        "include_weak": True,
        "explain": True,
        **ORDERS.get(asked["order"], ORDERS["evidence"])[1],
        **({"filters": filters} if filters else {}),
    }


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_NUMBER else text


async def _form(request: Request) -> dict[str, str]:
    """The first value of each field of a form; nothing of a form that is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM:
            return {}
    fields = parse_qs(body.decode("ascii", "replace"), errors="replace")
    return {name: values[0] for name, values in fields.items()}


async def download(console: Console, request: Request) -> Response:
    """The file of an export: part by part, or from where it is stored, if that has an address for the caller."""
    outcome = await console.ask(export_details, {"id": request.path_params["id"]}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    file = outcome.body
    if file.get("url"):
        return RedirectResponse(file["url"], 302, PRIVATE)
    headers = {**PRIVATE, "content-disposition": f'attachment; filename="{quote(file["name"])}"'}
    return StreamingResponse(_parts(console, request, file["parts"]), headers=headers, media_type=file["mime_type"])


async def _parts(console: Console, request: Request, parts: int) -> AsyncIterator[bytes]:
    """The text of each part. A part that fails breaks the download off, so that no shorter file is taken for whole."""
    for number in range(1, parts + 1):
        named = {"id": request.path_params["id"], "part": str(number)}
        outcome = await console.ask(exported_part, named, request)
        if outcome.failed:
            raise ConnectionAbortedError(f"part {number} of an export could not be read")
        yield outcome.body["text"].encode()
