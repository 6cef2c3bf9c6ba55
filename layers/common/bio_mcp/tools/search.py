"""Search the corpus."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Literal, cast
from uuid import UUID

from pydantic import Field, WithJsonSchema

from bio_mcp.answering.search import Question, Retrieved, Sort, find_reranked, page, unconnected
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.descriptions import in_short
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.retrieval.excerpts import best_chunk, cut, snippet
from bio_mcp.retrieval.passages import StoredChunk, chunk_uuid
from bio_mcp.retrieval.query import Kind
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.ranking import Places, Ranked, places_in_legs, rounded
from bio_mcp.retrieval.relevance import LIKELY, is_unanswered, is_weak
from bio_mcp.scope import reading_at_once
from bio_mcp.tool import ABSENT, Context, Request, Response, if_known, said, tool, unpublished
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.chatgpt import AnyQuery, Sources, source
from bio_mcp.tools.fields import BIO_MCP, CHATGPT, DOC_ID, SearchFilters, filters_of, reading_tool, unknown_names

_PAGE = ("top_k", "cursor", "explain", "max_characters")  # what may change from page to page
ROOM = 434  # bytes of a hit where there are more than `FEW`, which have the room of so many: cut passages leave it
FEW = 10
LEAST_PASSAGE, MOST_TITLE = 40, 120  # characters, in a hit that is brief


class RagSearch(Request):
    query: str = Field(min_length=1)
    top_k: int = Field(default=20, ge=1, le=100)
    quality_bias: bool = True
    filters: SearchFilters = ABSENT
    sort: Literal["relevance", "evidence", "date"] = "relevance"
    cursor: str = Field(default=ABSENT, max_length=40, json_schema_extra=unpublished)
    group_by_doc: bool = Field(default=True, description="false: every passage")
    synonyms: bool = True
    include_weak: bool = False
    explain: bool = Field(default=False, description="ranks and whole passages too")
    max_characters: answer_size.MaxCharacters = answer_size.DEFAULT


class SearchHit(Response):
    """A passage that was found, with its paper. `sim` and `bm25` are raw; only `score` orders."""

    doc_id: str = Field(pattern=DOC_ID, description="for rag_get")
    uuid: str = Field(min_length=10, description="of the passage")
    score: float = Field(description="orders this answer only: the best has 1, times its quality; a named paper 2 more")
    relevance: float = if_known(ge=0, le=1, description="probability that the paper fits the query")
    title: str = said(default="", description="of the paper")
    authors: str = said(default="", description="the first two")
    journal: str = said(default="", description="abbreviated")
    year: int = if_known(description="of publication")
    url: str = Field(default="", description="of its DOI, else of PubMed")
    study: str = said(default="", description="its design, participants and first effect, as stated")
    snippet: str = said(default="", description="of the passage")
    retraction: RetractionStatus = Field(
        default=RetractionStatus.UNKNOWN, exclude_if=lambda status: status is RetractionStatus.CLEAR
    )
    match: Literal["weak"] = said(default=ABSENT, description="if neither meaning nor words fit")
    sim: float | None = Field(default=None, description="cosine to the query; this and what follows by explain")
    bm25: float | None = Field(default=None, description="null: none of its words")
    quality: float | None = Field(default=None, description="of the evidence, 0 to 9")
    chunk_id: str = Field(default="", description="the passage")
    section: str = said(default="", description="of the abstract")
    explanation: str = Field(default="", description="of the score")
    word_rank: int | None = Field(default=None, description="place by words alone")
    vector_rank: int | None = Field(default=None, description="by meaning alone")

    @property
    def brief(self) -> "SearchHit":
        """The hit without what explains its place, and with its title cut."""
        kept = {name: getattr(self, name) for name in self.model_fields_set - _EXPLAINING}
        short = {"score": round(self.score, 3), "title": cut(self.title, MOST_TITLE)}
        likely = {} if self.relevance is None else {"relevance": round(self.relevance, 2)}
        return SearchHit(**kept | short | likely)


_EXPLAINING = set("sim bm25 quality chunk_id section explanation word_rank vector_rank".split())


class Interpreted(Response):
    """How a query was read: in words, with what each misspelt word was read as."""

    kind: Kind
    text: str
    corrected: dict[str, str] = said(default=ABSENT)


AS_IT_STANDS = Interpreted(kind=Kind.QUESTION, text="Read as a question.")
_INTERPRETED = "how the query was read: kind (question, boolean, identifier, author), text, corrected"


class RagResults(Response):
    """Hits, best first, how the query was read, and warnings for the user.

    `total` counts all papers that match a query that is no question; of a question, those that fit. `weak` ones are
    left out.
    """

    results: list[SearchHit] = Field(description="best first")
    interpreted: Annotated[
        Interpreted, WithJsonSchema({"type": "object", "description": _INTERPRETED})  # clients pay for what is listed
    ] = if_known()
    total: int = Field(default=ABSENT, description="papers that match; of a question, those that fit")
    weak: int = said(default=0, description="weak ones that are left out")
    next_cursor: str = said(default=ABSENT, description="for the next page")
    status: Literal["complete", "partial"] = Field(default="complete", description="partial: hits are missing")
    reasons: list[str] = Field(default_factory=list, description="why partial")
    warnings: list[str] = Field(default_factory=list, description="tell the user")


@reading_tool(
    "rag.search",
    family=BIO_MCP,
    command="search",
    output_listed=True,
    timeout=8,
    in_default_list=True,
    next_step=next_steps.after_search,
)
@reading_at_once()
def rag_search(request: RagSearch, backends: Backends, context: Context) -> RagResults:
    """Search the local corpus, perhaps few papers of PubMed; searchPubMedArticles searches PubMed itself.

    `query`: a question, PubMed's syntax, author and year, or identifiers. `score` orders one answer, `relevance`
    compares. quality_bias: better evidence and newer papers rank higher.
    """
    question = Question(
        request.query, filters_of(request.filters), request.quality_bias, request.synonyms, Sort(request.sort)
    )
    first = 0 if request.cursor is None else _place(request, request.cursor)
    unknown = unknown_names(request.filters, backends) if request.filters else []
    retrieved = find_reranked(question, backends, context.deadline)
    context.deadline.check("reading the passages")
    apart = unconnected(retrieved, backends)
    found = page(
        retrieved, question.sort, first, request.top_k, backends, without=() if request.include_weak else apart
    )
    pmids = [each.candidate.pmid for each in found.places]
    documents = backends.documents.get_many(pmids)
    chunks = backends.passages.chunks(pmids, None if request.group_by_doc else retrieved.vector)
    shown = [each for each in found.places if each.candidate.pmid in documents and chunks.get(each.candidate.pmid)]
    view = _View(retrieved, backends.chunk_namespace, request.group_by_doc, places_in_legs(retrieved.ranked))
    hits = _ordered([hit for each in shown for hit in view.hits(each, documents, chunks)], request)
    doubts = _doubts(retrieved, hits, apart, request.top_k, backends)
    if not request.include_weak:  # passages of papers that fit
        hits = [hit for hit in hits if not hit.match] or hits
    lost = len(pmids) - len(shown)
    last = first + len(pmids)
    answer = RagResults.of(
        found,
        results=[hit if request.explain else hit.brief for hit in hits[: request.top_k]],
        interpreted=_read_as(retrieved, request),
        next_cursor=_cursor(request, last) if request.group_by_doc and last < found.reachable else "",
        status="partial" if lost else "complete",
        reasons=[f"{lost} papers were deleted during the search"] if lost else [],
        warnings=[*unknown, *retrieved.warnings, *doubts],
    )
    answer = _in_room(answer, request, retrieved.terms)

    def goes_on(left_out: Sequence[SearchHit]) -> dict[str, str]:
        if not request.group_by_doc:
            return {}
        return {"next_cursor": _cursor(request, first + pmids.index(left_out[0].doc_id.removeprefix("pmid:")))}

    advice = "ask for more characters, for fewer papers, or for the next page"
    return answer_size.within(answer, "results", request.max_characters, advice, goes_on)


def _read_as(retrieved: Retrieved, request: RagSearch) -> Interpreted | None:
    """How the query was read; None for a question that was read as it stands, unless all is explained."""
    interpreted = Interpreted.of(retrieved.read, corrected=dict(retrieved.read.corrected))
    return interpreted if request.explain or interpreted != AS_IT_STANDS else None


def _ordered(hits: list[SearchHit], request: RagSearch) -> list[SearchHit]:
    """Papers are in order; passages of several go by their own score."""
    if request.group_by_doc:
        return hits
    return sorted(hits, key=lambda hit: (-hit.score, -(hit.quality or 0), -int(hit.doc_id[5:]), hit.chunk_id))


def _in_room(answer: RagResults, request: RagSearch, terms: Collection[str]) -> RagResults:
    """The answer with its passages cut to what `ROOM` leaves them, unless whole ones or every one are asked for. What
    short ones do not need is the others'."""
    if request.explain or not request.group_by_doc:
        return answer
    hits = answer.results
    lengths = sorted(len(hit.snippet) for hit in hits)
    left = sum(lengths) + ROOM * max(FEW, len(hits)) - len(answer.model_dump_json(exclude_unset=True).encode())
    if left >= sum(lengths):
        return answer
    shares = ((left - sum(lengths[:short])) // (len(hits) - short) for short in range(len(hits)))
    most = max(LEAST_PASSAGE, *shares)
    shorter = [hit.model_copy(update={"snippet": snippet(hit.snippet, terms, most)}) for hit in hits]
    return answer.model_copy(update={"results": shorter})


def _cursor(request: RagSearch, place: int) -> str:
    """The place of a paper in what this request finds."""
    asked = request.model_dump_json(exclude={*_PAGE})
    return f"{place}-{sha256(asked.encode()).hexdigest()[:12]}"


def _place(request: RagSearch, cursor: str) -> int:
    """The place that a cursor names. Raises `InvalidInput` for that of another request."""
    place = cursor.partition("-")[0]
    if not request.group_by_doc:
        raise InvalidInput("pages are of papers: leave group_by_doc true", field="cursor")
    if not (place.isascii() and place.isdecimal() and cursor == _cursor(request, int(place))):
        raise InvalidInput("it is no next_cursor of this query with these filters and sort", field="cursor")
    return int(place)


@tool(
    "search",
    family=CHATGPT,
    scope="read",
    timeout=8,
    output_listed=True,
    beyond="deep research of ChatGPT calls tools of these names and shapes alone",
)
def search_sources(request: AnyQuery, backends: Backends, context: Context) -> Sources:
    """Search biomedical papers from PubMed by words and meaning; fetch reads one of them.

    Titles of retracted papers say so first.
    """
    found = cast(RagResults, rag_search.run(RagSearch(query=request.query, explain=True), backends, context))
    hits = [hit for hit in found.results if hit.match != "weak"]
    return Sources(results=[source(hit.doc_id, hit.title, hit.retraction) for hit in hits])


def _doubts(
    retrieved: Retrieved, hits: Sequence[SearchHit], apart: Collection[str], most: int, backends: Backends
) -> list[str]:
    """A warning where none of the best `most` papers fits the query, whatever the scores look like; `apart` are
    unconnected with it."""
    all_weak = all(each.candidate.pmid in apart for each in retrieved.ranked[:most])
    if not hits or retrieved.read.kind is not Kind.QUESTION or not is_unanswered(retrieved.answerable, all_weak):
        return []
    best = max((hit.sim for hit in hits if hit.sim is not None), default=0.0)
    filtered = " that pass the filters" if retrieved.filters else ""
    return [
        f"Probably none of the papers{filtered} fits the query (the probability that one of the first ten does is "
        f"{retrieved.answerable:.2f}, the best cosine {best:.2f}); scores only order them. The corpus holds "
        f"{backends.passages.count()[0]} papers: look in PubMed itself "
        "(searchPubMedArticles), or sync a PubMed query on the topic."
    ]


@dataclass(frozen=True, slots=True)
class _View:
    """Turns ranked papers into hits."""

    retrieved: Retrieved
    namespace: UUID
    one_per_paper: bool
    places: Mapping[str, Places]

    def hits(
        self, place: Ranked, documents: Mapping[str, Document], chunks: Mapping[str, list[StoredChunk]]
    ) -> list[SearchHit]:
        """The paper's best passage, or every passage, each with its share of the score by cosine.

        Passages overlap: of each is shown what no better one has, and one that has nothing else is left out.
        """
        document, own = documents[place.candidate.pmid], chunks[place.candidate.pmid]
        if self.one_per_paper:
            chunk = best_chunk(own, place.candidate.chunk_id, self.retrieved.terms)
            return [self._hit(place, document, chunk, chunk.text)]
        best = max(chunk.sim or 0.0 for chunk in own)
        hits: list[SearchHit] = []
        for rank, chunk in enumerate(ordered := sorted(own, key=lambda each: (-(each.sim or 0.0), each.chunk_id))):
            share = max(0.0, chunk.sim or 0.0) / best if best > 0 else 1.0
            text = unrepeated(chunk.text, [each.text for each in ordered[:rank]])
            if text or not chunk.text:
                hits.append(self._hit(place, document, chunk, text, share))
        return hits

    def _hit(self, place: Ranked, document: Document, chunk: StoredChunk, text: str, share: float = 1.0) -> SearchHit:
        """One hit: the passage with the paper's fields. `text` is what it has to say, `share` its part of the paper's
        score."""
        candidate, article, terms = place.candidate, document.article, self.retrieved.terms
        by_words, by_meaning = self.places.get(candidate.pmid, Places(None, None))
        likely = self.retrieved.relevance.get(candidate.pmid)
        cited = in_short(article)
        title, sim = article.title or article.vernacular_title or "", candidate.sim if chunk.sim is None else chunk.sim
        may_be_weak = self.retrieved.read.kind is Kind.QUESTION and not place.named and (likely or 0.0) < LIKELY
        weak = may_be_weak and is_weak(sim, f"{title} {chunk.text}", terms)
        return SearchHit.of(
            cited,
            candidate,
            chunk,
            place,
            doc_id=f"pmid:{candidate.pmid}",
            uuid=chunk_uuid(candidate.pmid, chunk.chunk_id, self.namespace),
            sim=rounded(sim),
            bm25=rounded(candidate.bm25),
            quality=place.quality_points,
            score=round(place.score * share, 6),
            relevance=None if likely is None else round(likely, 3),
            title=title,
            snippet=snippet(text, terms) or title,
            word_rank=by_words,
            vector_rank=by_meaning,
            study=study_of(article).short,
            match="weak" if weak else ABSENT,
        )
