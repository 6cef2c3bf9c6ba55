"""Read one paper of the corpus."""

import json
from typing import Annotated, TypeVar

from pydantic import Field, WithJsonSchema

from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import utc
from bio_mcp.literature.identifiers import bare_pmid, doi_page, pmc_page, pubmed_page, registrations
from bio_mcp.literature.quality import QUALITY_VERSION, quality, year
from bio_mcp.literature.records import Article, Document, RetractionStatus
from bio_mcp.literature.study_facts import Effect, StudyFacts
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import Stated, abstract_text, study_of
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.tool import Request, Response, if_known, resource, said, stated, tool
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.chatgpt import MOST_AUTHORS, NO_ABSTRACT, RETRACTED, AnyId, WholeSource, source
from bio_mcp.tools.fields import BIO_MCP, CHATGPT, DOC_ID, PMID, TTM, DocId, reading_tool

FIRST_AUTHORS = 3  # which stay, however long the abstract is
ROOM_BESIDE = 70  # characters of what says what was left out
EFFECTS_SHARE = 4  # the part of an answer that is too long for all which is left to effects: a fourth
LONGEST_SOURCE = answer_size.DEFAULT - 2_000  # characters of a paper that is read as a source, which has further fields


class RagGet(Request):
    doc_id: DocId = Field(description='"pmid:" and the PMID, as pmid:384001')
    max_characters: answer_size.MaxCharacters = answer_size.DEFAULT


class PaperQuality(Response):
    """Evidence quality, 0 to 9; a component is null where the record does not say."""

    design: int | None = None
    recency: int | None = None
    journal: int | None = None
    human: int | None = None
    total: int
    reasons: list[str] = Field(default_factory=list)
    version: int = Field(default=QUALITY_VERSION, description="of the rules")


class StatedParticipants(Response):
    """How many people took part, and in a review in how many studies, with the place of that in the abstract."""

    n: int = if_known()
    studies: int = if_known()
    start: int = if_known()
    end: int = if_known()


class StatedEffect(Response):
    """An effect, with its place in the abstract. `level` is 95 for a 95 % interval; `p` is as printed, "< 0.001"."""

    measure: str
    value: int | float
    low: int | float = if_known()
    high: int | float = if_known()
    level: int | float = if_known()
    p: str = if_known()
    outcome: str = if_known()
    start: int = if_known()
    end: int = if_known()


class StatedStudy(Response):
    """What the abstract states of its study; `short` is that in a line. A place is absent where the abstract was cut
    before it."""

    design: str = if_known()
    humans: bool = if_known()
    participants: StatedParticipants = if_known()
    effects: list[StatedEffect] = said(default_factory=list)
    short: str = said(default="")


# Clients pay for schemas; what the fields mean stands in docs/tools.md.
_PLAIN = WithJsonSchema({"type": "object", "description": "design, humans, participants, effects; places: in abstract"})


class Paper(Response):
    """A paper in the terms of the `rag` contract. `pdat` is as precise as printed; `edat` and `lr` are ISO 8601 UTC."""

    doc_id: str = Field(pattern=DOC_ID)
    title: str | None
    abstract: str | None = None
    journal: str | None
    pub_types: list[str]
    pdat: str | None = None
    edat: str | None = None
    lr: str | None = None
    pmcid: str | None = None
    quality: PaperQuality
    version: int = Field(ge=1)
    doi: str | None = None
    authors: list[str] = Field(default_factory=list)
    year: int | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    trials: list[dict[str, str]] = said(default_factory=list)
    study: Annotated[StatedStudy, _PLAIN] = if_known()
    left_out: str | None = Field(default=None, description="what is missing for length: authors, or of the abstract")


class Study(Response):
    """A paper in the terms of the `ttm` contract."""

    pmid: str = Field(pattern=PMID)
    title: str
    abstract: str | None
    authors: list[str]
    journal: str | None
    year: int | None
    links: list[str]
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    left_out: str | None = None


@reading_tool(
    "rag.get",
    family=BIO_MCP,
    command="get",
    output_listed=True,
    timeout=5,
    in_default_list=True,
    also_uses=("documents.resolve",),
    next_step=next_steps.after_paper,
)
def rag_get(request: RagGet, backends: Backends) -> Paper:
    """Read one paper of the corpus: abstract, study in numbers, quality, retraction."""
    paper = paper_of(stored_document(request.doc_id.removeprefix("pmid:"), backends), backends)
    return fitted(paper, request.max_characters)


@tool(
    "fetch",
    family=CHATGPT,
    scope="read",
    timeout=5,
    output_listed=True,
    beyond="deep research of ChatGPT calls tools of these names and shapes alone",
    also_uses=("documents.resolve",),
)
def fetch_source(request: AnyId, backends: Backends) -> WholeSource:
    """Read a paper that search found: its abstract, and in `metadata` authors, journal, year, DOI and retraction."""
    paper = fitted(paper_of(stored_document(request.id.removeprefix("pmid:"), backends), backends), LONGEST_SOURCE)
    more = ["et al."] if len(paper.authors) > MOST_AUTHORS else []
    metadata = stated(
        authors=", ".join([*paper.authors[:MOST_AUTHORS], *more]),
        journal=paper.journal,
        year=str(paper.year or ""),
        doi=paper.doi,
        pmcid=paper.pmcid,
        publication_types=", ".join(paper.pub_types),
        retraction=paper.retraction.value,
        study=paper.study.short if paper.study else "",
    )
    found = source(paper.doc_id, paper.title, paper.retraction)
    mark = RETRACTED if found.title.startswith(RETRACTED) else ""
    return WholeSource.of(found, text=f"{mark}{paper.abstract or NO_ABSTRACT}", metadata=metadata)


@resource("resource://pubmed/paper/{pmid}", name="paper", family=BIO_MCP, scope="read", timeout=5)
def pubmed_paper(backends: Backends, pmid: str) -> Paper:
    """One paper of the corpus, as rag_get returns it."""
    return fitted(paper_of(stored_document(pmid, backends), backends), answer_size.DEFAULT)


@resource("paper://pmid/{id}", name="study", family=TTM, scope="read", timeout=5)
def study(backends: Backends, id: str) -> Study:
    """Bibliographic metadata of one paper of the corpus."""
    article = stored_document(id, backends).article
    whole = Study.of(
        article,
        title=article.title or article.vernacular_title or "",
        abstract=abstract_text(article) or None,
        authors=[each.short_name for each in article.authors],
        journal=_source(article),
        year=year(article),
        links=links_of(article),
    )
    return fitted(whole, answer_size.DEFAULT - answer_size.AUDIT)


def stored_document(pmid: str, backends: Backends) -> Document:
    """The stored paper. Raises `InvalidInput` for text that is no PMID, `NotFound` with advice how to get it."""
    pmid = bare_pmid(pmid)
    try:
        return backends.documents.get(pmid)
    except NotFound:
        raise NotFound(
            f"pmid:{pmid} is not in the corpus. Look with rag_search for what is, or sync a PubMed query that finds "
            f"it, for example pubmed_sync_delta with the term {pmid}[uid].",
            doc_id=f"pmid:{pmid}",
        ) from None


Readable = TypeVar("Readable", Paper, Study)
Placed = TypeVar("Placed", StatedParticipants, StatedEffect)


def fitted(record: Readable, most: int) -> Readable:
    """The record in `most` characters: effects go that take more than their share, the authors after the first ones,
    then the end of the abstract."""
    if answer_size.length(record) <= most:
        return record
    study = record.study if isinstance(record, Paper) else None
    if study:
        record = record.model_copy(update={"study": _fewer_effects(study, most // EFFECTS_SHARE)})
    bare = record.model_copy(update={"authors": [], "abstract": None, "left_out": "0 characters, 0 authors"})
    room = most - answer_size.length(bare) - len("".join(record.authors[:FIRST_AUTHORS])) - ROOM_BESIDE
    text = _cut_to(record.abstract or "", room)
    shown = record.model_copy(update={"authors": [], "abstract": text or None, "left_out": bare.left_out})
    names = answer_size.fitting(
        [len(each) + 3 for each in record.authors], most - answer_size.length(shown) - ROOM_BESIDE
    )
    gone = f"{len(record.abstract or '') - len(text)} characters of the abstract, {len(record.authors) - names} authors"
    update: dict[str, object] = {"authors": record.authors[:names], "left_out": gone}
    if isinstance(record, Paper) and record.study and study:
        if effects := len(study.effects) - len(record.study.effects):
            update["left_out"] = f"{gone}, {effects} effects"
        update["study"] = _placed_before(len(text), record.study)
    return shown.model_copy(update=update)


def _fewer_effects(study: StatedStudy, room: int) -> StatedStudy:
    fits = answer_size.fitting([answer_size.length(each) + 1 for each in study.effects], room)
    return study.model_copy(update={"effects": study.effects[:fits]})


def _placed_before(length: int, study: StatedStudy) -> StatedStudy:
    """The same without places that are not in the first `length` characters of the abstract."""

    def placed(each: Placed) -> Placed:
        return each if each.end <= length else each.model_copy(update={"start": None, "end": None})

    counted = study.participants and placed(study.participants)
    return study.model_copy(update={"participants": counted, "effects": list(map(placed, study.effects))})


def _cut_to(text: str, room: int) -> str:
    """The text cut so that its JSON has `room` characters at most; "" where there is none."""
    text = cut(text, max(room, 1))
    while text and (over := len(json.dumps(text, ensure_ascii=False)) - room) > 0:
        text = cut(text, len(text) - over) if over < len(text) else ""
    return text


def paper_of(document: Document, backends: Backends) -> Paper:
    """The paper in the contract's terms, with its quality as of today."""
    article = document.article
    weighed = quality(article, backends.today())
    printed = article.publication_date or article.electronic_date
    return Paper.of(
        article,
        document,
        doc_id=f"pmid:{article.pmid}",
        abstract=abstract_text(article) or None,
        journal=_source(article),
        pub_types=[each.name for each in article.publication_types],
        pdat=printed.iso if printed else None,
        edat=_instant(article.edat),
        lr=_instant(article.date_revised.isoformat() if article.date_revised else None),
        quality=PaperQuality.of(weighed, version=QUALITY_VERSION),
        authors=[each.short_name for each in article.authors],
        year=year(article),
        trials=registrations(article),
        study=_stated(study_of(article)),
    )


def _stated(study: Stated) -> StatedStudy | None:
    facts = study.facts
    if facts == StudyFacts():
        return None
    return StatedStudy.of(
        facts,
        participants=facts.participants and StatedParticipants.of(facts.participants),
        effects=[StatedEffect.of(each, **_numbers(each)) for each in facts.effects],
        short=study.short,
    )


def _numbers(effect: Effect) -> dict[str, int | float | None]:
    """The numbers of an effect, as JSON has them."""
    printed = {name: getattr(effect, name) for name in ("value", "low", "high", "level")}
    return {name: json.loads(str(each)) if each is not None else None for name, each in printed.items()}


def _source(article: Article) -> str | None:
    """The journal's title, or the book's."""
    if article.journal and article.journal.title:
        return article.journal.title
    return article.book.title if article.book else None


def _instant(eastern: str | None) -> str | None:
    """The contract's form: a time of day in UTC; a bare day at midnight, not shifted."""
    if eastern is None:
        return None
    return utc(eastern) if "T" in eastern else f"{eastern}T00:00:00Z"


def links_of(article: Article) -> list[str]:
    """Addresses of the paper in PubMed, by its DOI, and in PubMed Central."""
    return [
        pubmed_page(article.pmid),
        *([doi_page(article.doi)] if article.doi else []),
        *([pmc_page(article.pmcid)] if article.pmcid else []),
    ]
