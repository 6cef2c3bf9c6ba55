"""The search page: hits with their facets, selected papers cited or exported, and answers, each with its address."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from bio_mcp.answering.answers import claims
from bio_mcp.call import Outcome
from bio_mcp.doors.console.console import CONSOLE, Console, Form, Shown, see_other
from bio_mcp.doors.console.rendering import PRIVATE
from bio_mcp.exporting.formats import Name
from bio_mcp.literature.citing import cite
from bio_mcp.literature.clock import instant
from bio_mcp.literature.descriptions import in_short
from bio_mcp.literature.quality import DESIGNS, HUMANS, design
from bio_mcp.literature.quality import year as year_of
from bio_mcp.literature.records import Article
from bio_mcp.literature.study_facts import Effect, printed
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.tool import MAX_ITEMS, resource
from bio_mcp.tools.answer import rag_answer
from bio_mcp.tools.answer_size import MOST as MOST_CHARACTERS
from bio_mcp.tools.exports import export_details, export_papers, exported_part
from bio_mcp.tools.search import rag_search

READ, SHOWN = 100, 20  # papers that are read at once, to count them, and that a page shows
ORDERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "": ("better evidence first", {}),
    "match": ("best match first", {"quality_bias": False}),
    "newest": ("newest first", {"sort": "date"}),
}
"""Each order's name, and the arguments that ask for it."""
KINDS = tuple(name for _, name in sorted(DESIGNS.values(), key=lambda each: (-each[0], each[1])))
STYLES = {
    "vancouver": "Vancouver",
    "apa_string": "APA",
    "mla_string": "MLA",
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl_json": "CSL-JSON",
}
FORMAT_NAMES: Mapping[Name, str] = {
    "ris": "RIS",
    "nbib": "NBIB",
    "bibtex": "BibTeX",
    "csl-json": "CSL-JSON",
    "csv": "CSV",
    "text": "Plain text",
}
SINCE = (1, 5, 10)  # years, of the facet
MOST_NAMED = 8  # values of a facet
LONGEST_NUMBER = 16  # characters that count as a number


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its filters and its place, as an address has them. What is empty is left out of addresses."""

    q: str = ""
    year_from: str = ""
    year_to: str = ""
    kind: str = ""
    journal: str = ""
    humans: str = ""
    full_text: str = ""
    order: str = ""
    cursor: str = ""
    page: str = ""
    weak: str = ""

    @classmethod
    def of(cls, given: QueryParams | Form) -> "Asked":
        """The fields of a query or form that have a text."""
        return cls(**{name: given.get(name, "").strip() for name in cls.__dataclass_fields__})

    def query(self, **changed: str) -> str:
        """The query of an address for this question with some of it changed; another one begins at the first page."""
        given = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "weak"}
        if not changed.keys() & {"cursor", "page"}:
            given |= {"cursor": "", "page": ""}
        return urlencode({name: text for name, text in (given | changed).items() if text})

    @property
    def number(self) -> int:
        """The page of the papers that are read at once, from 1."""
        return int(self.page) if self.page in map(str, range(1, READ // SHOWN + 1)) else 1

    @property
    def filters(self) -> dict[str, Any]:
        """The filters of `rag_search`; what is no number goes as it is, and the tool says what is wrong with it."""
        found: dict[str, Any] = {name: _number(getattr(self, name)) for name in ("year_from", "year_to")}
        found |= {"publication_types": self.kind and [self.kind], "journals": self.journal and [self.journal]}
        return {name: each for name, each in (found | {"species": self.humans and "humans"}).items() if each != ""}

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `rag_search`."""
        return {
            "query": self.q,
            "top_k": READ,
            "max_characters": MOST_CHARACTERS,
            "explain": True,
            **ORDERS.get(self.order, ORDERS[""])[1],
            **({"filters": self.filters} if self.filters else {}),
            **({"cursor": self.cursor} if self.cursor else {}),
        }

    def chips(self) -> Iterator[dict[str, str]]:
        """The filters that are set, each with the query of the address without it."""
        names = {
            "year_from": f"From {self.year_from}",
            "year_to": f"To {self.year_to}",
            "kind": self.kind,
            "journal": self.journal,
            "humans": "Humans",
            "full_text": "Free full text",
        }
        for name, shown in names.items():
            if getattr(self, name):
                yield {"name": shown, "without": self.query(**{name: ""})}


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_NUMBER else text


@resource("console://overview", name="overview", family=CONSOLE, scope="read", timeout=5)
def overview(backends: Backends) -> Shown:
    """What there is to search."""
    return Shown(papers=backends.documents.count())


@resource("console://facts/{pmids}", name="facts of hits", family=CONSOLE, scope="read", timeout=5)
def facts_of_hits(backends: Backends, pmids: str) -> Shown:
    """What the papers are counted by, by PMID. `pmids` has commas between them."""
    found = backends.documents.get_many(pmids.split(","))
    return Shown(papers={pmid: _facts(each.article) for pmid, each in found.items()}, this_year=backends.today().year)


def _facts(article: Article) -> dict[str, Any]:
    return {
        "year": year_of(article),
        "points": design(article),
        "kinds": [DESIGNS[each.ui][1] for each in article.publication_types if each.ui in DESIGNS],
        "journal": in_short(article).journal,
        "humans": any(each.ui == HUMANS for each in article.mesh),
        "full_text": bool(article.pmcid),
    }


async def results(console: Console, request: Request) -> Response:
    """The page with the search box and, once something is asked, what was found."""
    asked = Asked.of(request.query_params)
    if not asked.q:
        outcome = await console.ask(overview, {}, request)
        return _page(console, request, outcome, asked)
    return await _found(console, request, asked)


async def _found(console: Console, request: Request, asked: Asked, **more: Any) -> Response:
    """The page of what is found, with an answer above it if there is one."""
    outcome = await console.ask(rag_search, asked.arguments, request)
    hits: list[dict[str, Any]] = outcome.body.get("results", [])
    total = outcome.body.get("total", 0)
    facts: dict[str, Any] = {}
    this_year = date.max.year
    if hits:
        read = await console.ask(facts_of_hits, {"pmids": ",".join(map(_pmid, hits))}, request)
        facts, this_year = read.body.get("papers", {}), read.body.get("this_year", this_year)
    if asked.full_text:
        hits = [each for each in hits if facts.get(_pmid(each), {}).get("full_text")]
    place = int(asked.cursor.partition("-")[0]) if asked.cursor and not outcome.failed else 0
    counted = [facts[each] for each in map(_pmid, hits) if each in facts]
    first, pages = SHOWN * (asked.number - 1), -(-len(hits) // SHOWN)
    if asked.number < pages:
        more |= {"following": asked.query(page=str(asked.number + 1), cursor=asked.cursor)}
    elif following := outcome.body.get("next_cursor", ""):
        more |= {"following": asked.query(cursor=following, page="")}
    elif total <= READ and not asked.full_text:
        more |= {"weaker": outcome.body.get("weak", 0)}
    if asked.weak and more.get("weaker"):
        every = await console.ask(rag_search, {**asked.arguments, "include_weak": True}, request)
        if every.failed:
            return _page(console, request, every, asked, **more)
        fit = set(map(_pmid, hits))
        more |= {"weak": [each for each in every.body["results"] if _pmid(each) not in fit]}
    return _page(
        console,
        request,
        outcome,
        asked,
        total=len(hits) if asked.full_text else total,
        hits=hits[first : first + SHOWN],
        first=place + first + 1,
        read=(place + 1, place + len(outcome.body.get("results", []))),
        whole=total <= READ,
        facets=list(_facets(asked, counted, this_year)),
        years=_by_year(counted),
        **more,
    )


def _pmid(hit: Mapping[str, Any]) -> str:
    return str(hit["doc_id"]).removeprefix("pmid:")


def _facets(asked: Asked, papers: Sequence[Mapping[str, Any]], this_year: int) -> Iterator[dict[str, Any]]:
    """Ways to narrow the search, each with how many of these papers it leaves; one that would leave all is none."""

    def facet(name: str, choices: Sequence[tuple[str, int, str]]) -> Iterator[dict[str, Any]]:
        useful = [each for each in choices if 0 < each[1] < len(papers)]
        if useful:
            yield {
                "name": name,
                "choices": [dict(zip(("name", "count", "query"), each, strict=True)) for each in useful],
            }

    years = Counter(each["year"] for each in papers if each["year"])
    spans = [
        (
            f"Last {back} years" if back > 1 else "This year",
            sum(count for year, count in years.items() if year > this_year - back),
            asked.query(year_from=str(this_year - back + 1)),
        )
        for back in SINCE
    ]
    single = [
        (str(year), years[year], asked.query(year_from=str(year), year_to=str(year)))
        for year in sorted(years, reverse=True)[:MOST_NAMED]
    ]
    yield from facet("Year", spans if any(0 < count < len(papers) for _, count, _ in spans) else single)
    kinds = Counter(kind for each in papers for kind in each["kinds"]).most_common(MOST_NAMED)
    yield from facet("Study design", [(kind, count, asked.query(kind=kind)) for kind, count in kinds])
    journals = Counter(each["journal"] for each in papers if each["journal"]).most_common(MOST_NAMED)
    yield from facet("Journal", [(name, count, asked.query(journal=name)) for name, count in journals])
    others = [("Humans", "humans"), ("Free full text", "full_text")]
    yield from facet(
        "Only", [(text, sum(each[name] for each in papers), asked.query(**{name: "1"})) for text, name in others]
    )


def _by_year(papers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    counts = Counter((each["year"], each["points"]) for each in papers if each["year"])
    ordered = sorted(counts.items(), key=lambda each: (each[0][0], each[0][1] or 0))
    return [{"year": year, "design": points, "documents": count} for (year, points), count in ordered]


def _page(console: Console, request: Request, outcome: Outcome, asked: Asked, **values: Any) -> Response:
    """The search page or, with the same boxes to ask again, its failure."""
    error = outcome.body["error"] if outcome.failed else None
    shown = {
        "asked": asked,
        "chips": list(asked.chips()),
        "kinds": KINDS,
        "orders": {name: text for name, (text, _) in ORDERS.items()},
        "formats": FORMAT_NAMES,
        "answer": None,
        "answer_error": None,
        "searched": bool(asked.q),
        "weaker": 0,
        "weak": [],
        **values,
    }
    return console.page(request, "search.html", data=outcome.body, error=error, **shown)


@resource("console://answers/{answer_id}", name="answer page", family=CONSOLE, scope="read", timeout=5)
def answer_page(backends: Backends, answer_id: str) -> Shown:
    """An answer as it was given, one claim a row, and what the papers that it cites state of their studies."""
    stored = backends.answers.get(answer_id)
    papers = backends.documents.get_many(list(dict.fromkeys(each.pmid for each in stored.spans)))
    evidence: dict[str, dict[str, Any]] = {}
    for number, span in enumerate(stored.spans, 1):
        stated = _study(papers[span.pmid].article) if span.pmid in papers else {"title": f"PMID {span.pmid}"}
        paper = evidence.setdefault(span.pmid, {"pmid": span.pmid, "numbers": [], "quotes": [], **stated})
        paper["numbers"].append(number)
        paper["quotes"].append(span.quote)
    return Shown(
        answer_id=stored.answer_id,
        question=stored.question,
        claims=[{"text": text, "numbers": numbers} for text, numbers in claims(stored.text)],
        reason=stored.reason,
        warnings=stored.warnings,
        sources=[
            {"pmid": each.pmid, "quote": each.quote, "title": evidence[each.pmid]["title"]} for each in stored.spans
        ],
        evidence=list(evidence.values()),
        confidence=stored.confidence,
        asked=instant(stored.asked),
        flagged=stored.flagged,
    )


def _study(article: Article) -> dict[str, Any]:
    facts, cited = study_of(article).facts, in_short(article)
    counted = facts.participants
    effects: Sequence[Effect] = facts.effects
    return {
        "title": article.title or article.vernacular_title or "",
        "source": " · ".join(filter(None, [cited.authors, cited.journal, str(cited.year or "")])),
        "retraction": article.retraction,
        "design": facts.design,
        "participants": counted.n if counted else None,
        "studies": counted.studies if counted else None,
        "effects": [printed(each) for each in effects[:3]],
    }


async def answer(console: Console, request: Request) -> Response:
    """Answer the question for its filters, and lead to the answer's address.

    It is posted for, as it may cost money: no page of another origin can ask for it.
    """
    asked = Asked.of(await console.form(request))
    given = {"question": asked.q, **({"filters": asked.filters} if asked.filters else {})}
    outcome = await console.ask(rag_answer, given, request)
    if outcome.failed:
        return await _found(console, request, asked, answer_error=outcome.body["error"])
    address = f"/answers/{outcome.body['answer_id']}?{asked.query()}"
    return see_other(address)


async def answered(console: Console, request: Request) -> Response:
    """The page of an answer, with the papers below that are found for its question and the filters of the address."""
    outcome = await console.ask(answer_page, {"answer_id": request.path_params["answer_id"]}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    asked = Asked.of(request.query_params)
    if asked.q != outcome.body["question"]:
        asked = Asked(q=outcome.body["question"])
    return await _found(console, request, asked, answer=outcome.body)


@resource("console://citations/{pmids}", name="citations page", family=CONSOLE, scope="read", timeout=5)
def citations_page(backends: Backends, pmids: str) -> Shown:
    """The papers as each style cites them. `pmids` has commas between them."""
    order = pmids.split(",")
    found = backends.documents.get_many(order)
    articles = [found[pmid].article for pmid in order if pmid in found]
    texts = {name: "\n\n".join(cite(each, name) for each in articles) for name in STYLES}
    texts["csl_json"] = "[" + ",\n".join(cite(each, "csl_json") for each in articles) + "]"
    return Shown(
        citations=[{"style": shown, "text": texts[name]} for name, shown in STYLES.items()],
        count=len(articles),
        missing=[each for each in order if each not in found],
    )


def selected(given: QueryParams | Form, most: int = READ) -> list[str]:
    """The PMIDs that are ticked, each once, `most` of them; what is no PMID is left out."""
    return [each for each in dict.fromkeys(given.getlist("pmid")) if each.isascii() and each.isdecimal()][:most]


async def cited(console: Console, request: Request) -> Response:
    """The page of citations of the papers that are ticked."""
    pmids = selected(request.query_params)
    if not pmids:
        return console.nothing_selected(request)
    outcome = await console.ask(citations_page, {"pmids": ",".join(pmids)}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return console.page(request, "cite.html", data=outcome.body)


async def export(console: Console, request: Request) -> Response:
    """Export the papers that are ticked, and lead to the file."""
    form = await console.form(request)
    if not (pmids := selected(form, MAX_ITEMS)):
        return console.nothing_selected(request)
    outcome = await console.ask(export_papers, {"format": form.get("format", ""), "pmids": pmids}, request)
    if outcome.failed:
        return console.failure(request, outcome)
    return see_other(f"/exports/{outcome.body['job_id']}")


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
