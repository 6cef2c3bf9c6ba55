"""Searches of projects, quotes found in them, and what became of the papers they hold."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from bio_mcp.answering.search import readable
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import HybridUnavailable, InvalidInput, ModelMismatch, NotFound
from bio_mcp.ingesting.projects import as_indexed, model_for
from bio_mcp.literature.documents import PageSpan, SectionKind
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.literature.layout import headings
from bio_mcp.literature.notices import status_of
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.literature.study_facts import short, study_facts
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.retrieval.project_chunks import DEPTH, ChunkFilters, ChunkMatch, ChunkQuery, ProjectChunk, Work
from bio_mcp.retrieval.quotes import (
    Comparable,
    Difference,
    Joined,
    Passage,
    Span,
    comparable,
    differences,
    equal_spans,
    joined,
    joined_words,
    nearest_span,
    new_text,
    runs,
    shared,
    trimmed,
)
from bio_mcp.retrieval.ranking import reciprocal_ranks

FLAGGED: Mapping[RetractionStatus | None, str] = {
    RetractionStatus.RETRACTED: "was retracted",
    RetractionStatus.NOTICE: "is a notice of retraction",
    RetractionStatus.CONCERN: "has an expression of concern",
}


class Known(NamedTuple):
    """The PMID of a work and its retraction status; None for a work that the corpus does not have.

    `article` is the paper of the corpus.
    """

    pmid: str | None
    retraction: RetractionStatus | None
    article: Article | None = None


def pmids_of(works: Sequence[Work], backends: Backends) -> list[str | None]:
    """The PMID of each work that has one, or whose DOI is a paper's in the corpus."""
    dois = sorted({f"doi:{work.doi}" for work in works if work.doi and not work.pmid})
    by_doi = backends.documents.resolve(dois) if dois else {}
    return [work.pmid or by_doi.get(f"doi:{work.doi}") for work in works]


def known(works: Sequence[Work], backends: Backends, projects: Sequence[str] = ()) -> list[Known]:
    """What the corpus knows of each work, by its PMID or else its DOI.

    `projects` are those that the works are documents of, in order: one that the corpus does not have then has the
    status that notices about its DOI give it, if any are stored.
    """
    pmids = pmids_of(works, backends)
    stored = sorted({pmid for pmid in pmids if pmid})
    documents = backends.documents.get_many(stored) if stored else {}
    by_pmid = {pmid: Known(pmid, each.article.retraction, each.article) for pmid, each in documents.items()}
    papers = [by_pmid.get(pmid or "") or Known(pmid, None) for pmid in pmids]
    if not projects:
        return papers
    keys = [
        (project, f"doi:{work.doi}") if work.doi and paper.retraction is None else None
        for work, paper, project in zip(works, papers, projects, strict=True)
    ]
    noted = _noted({each for each in keys if each}, backends)
    return [Known(paper.pmid, noted.get(key)) if key else paper for paper, key in zip(papers, keys, strict=True)]


def _noted(asked: Collection[tuple[str, str]], backends: Backends) -> dict[tuple[str, str], RetractionStatus]:
    """The status by project and DOI that stored notices give documents of the projects."""
    noted: dict[tuple[str, str], RetractionStatus] = {}
    for project in sorted({project for project, _ in asked}):
        dois = sorted(doi for own, doi in asked if own == project)
        for each in backends.project_documents.find(project, dois):
            if each.notices:
                noted |= {(project, name): status_of(each.notices) for name in each.identifiers}
    return noted


def warnings(papers: Iterable[tuple[Work, Known]]) -> Iterator[str]:
    """A sentence for each paper that should not be relied on, once."""
    flagged = {paper.pmid or work.doi: (work, paper) for work, paper in papers if paper.retraction in FLAGGED}
    for work, paper in flagged.values():
        named = work.citekey or work.title or work.doc_id
        number = f"PMID {paper.pmid}" if paper.pmid else f"DOI {work.doi}"
        yield from doubts([(f"{named} ({number})", paper.retraction)])


def doubts(papers: Iterable[tuple[str, RetractionStatus | None]]) -> Iterator[str]:
    """A sentence for each paper, given by its name, that should not be relied on."""
    for named, status in papers:
        if status in FLAGGED:
            yield f"{named} {FLAGGED[status]}: say so where you cite it."


def flagged(pmids: Collection[str], backends: Backends) -> dict[str, str]:
    """A sentence for each of these papers that should not be relied on, as far as the corpus has them, by PMID."""
    documents = backends.documents.get_many(sorted(set(pmids))) if pmids else {}
    papers = ((pmid, documents[pmid].article.retraction) for pmid in sorted(documents))
    return {pmid: sentence for pmid, status in papers for sentence in doubts([(f"PMID {pmid}", status)])}


TOP_K = 6  # hits, where neither the question nor the project says otherwise


@dataclass(frozen=True, slots=True)
class ProjectQuestion:
    """A question to projects, which all are asked alike. `hybrid`: by words too, those of `text` unless there are
    `terms`; `by_meaning`: by the vector of `text`.

    Without `top_k` there are `TOP_K` hits, or as many as each project allows.
    """

    text: str
    project_ids: tuple[str, ...]
    hybrid: bool
    filters: ChunkFilters = field(default_factory=ChunkFilters)
    top_k: int | None = None
    terms: tuple[tuple[str, float], ...] = ()
    by_meaning: bool = True


@dataclass(frozen=True, slots=True)
class ProjectHit:
    """A passage that was found. `text` is the chunk's, without what a better hit of its document has of it.

    The corpus may know the `pmid` of a DOI, and have its `article`. `retraction` is None for a paper that it does not
    have, unless a notice is known.
    """

    project: Project
    chunk: ProjectChunk
    score: float
    text: str
    sim: float | None = None
    bm25: float | None = None
    pmid: str | None = None
    retraction: RetractionStatus | None = None
    article: Article | None = None


@dataclass(frozen=True, slots=True)
class ProjectHits:
    """Hits, best first, with the fingerprint of the model that compared them and sentences for the user."""

    hits: tuple[ProjectHit, ...]
    model: str
    warnings: tuple[str, ...] = ()


def search_projects(question: ProjectQuestion, backends: Backends, deadline: Deadline = NEVER) -> ProjectHits:
    """Find the passages of the projects that fit the question: those of references, funding and the like only where
    the filters name the section.

    Raises `NotFound` for an unknown project, `HybridUnavailable` and `InvalidInput` where one does not allow what is
    asked, `ModelMismatch` for one of another model, `IndexUnavailable` for one that lost its index.
    """
    text = readable(question.text)
    projects = [backends.projects.get(each) for each in dict.fromkeys(question.project_ids)]
    top_k = min(_allowed(question, each) for each in projects)
    projects = [as_indexed(each, backends) for each in projects]
    models = {each.project_id: model_for(each, backends) for each in projects}
    for each in projects:
        _check_model(each, models[each.project_id].fingerprint)
    found: list[tuple[Project, ChunkMatch, float]] = []
    deadline.check("embedding the question")
    terms = (question.terms or query_terms(text)) if question.hybrid else ()
    different = {each.fingerprint: each for each in models.values()} if question.by_meaning else {}
    vectors = {fingerprint: model.embed_questions([text])[0] for fingerprint, model in different.items()}
    for each in projects:
        asked = ChunkQuery(terms, vectors.get(each.embed_model), question.filters, model=each.embed_model)
        deadline.check(f"searching {each.project_id}")
        matches = _telling(each.collection, asked, backends)
        found += [(each, match, score) for match, score in _scored(matches, question.hybrid)]
    deadline.check("reading what became of the papers")
    best = _best(found, top_k)
    works = [each.chunk.work for each in best]
    papers = known(works, backends, [each.project.project_id for each in best])  # as of now, not of the ingest
    hits = tuple(replace(each, **paper._asdict()) for each, paper in zip(best, papers, strict=True))
    doubtful = warnings(zip(works, papers, strict=True))
    sentences = (*doubtful, *(() if hits else _empty(projects, question.filters, backends)))
    return ProjectHits(hits, models[projects[0].project_id].fingerprint, sentences)


DEEPEST = 3_200  # passages of a leg


def _telling(collection: str, asked: ChunkQuery, backends: Backends) -> list[ChunkMatch]:
    """The best passages but for those of sections that say nothing of the matter, unless a section is asked for."""
    while True:
        matches = backends.collections.search(collection, asked)
        if asked.filters.section_prefix:
            return matches
        kept = [each for each in matches if _may_tell(each.chunk)]
        if len(kept) >= DEPTH // 2 or len(matches) < asked.depth or asked.depth >= DEEPEST:
            return kept
        asked = replace(asked, depth=4 * asked.depth)


def _may_tell(chunk: ProjectChunk) -> bool:
    return chunk.kind is not SectionKind.REFERENCES and headings.is_evidence(_headings_of(chunk))


def _headings_of(chunk: ProjectChunk) -> tuple[str, ...]:
    return chunk.section_path or ((chunk.section,) if chunk.section else ())


LONGEST_ABSTRACT = 20_000  # characters of a document's abstract that are read


def abstract_of(chunks: Sequence[ProjectChunk]) -> str:
    """The abstract of a document, by its headings; "" without one."""
    own = [each for each in chunks if any(headings.named(heading) == "abstract" for heading in _headings_of(each))]
    return joined(list(map(passage_of, own))).text[:LONGEST_ABSTRACT] if own else ""


def studies(hits: Iterable[ProjectHit], backends: Backends) -> dict[str, str]:
    """What each document states of its study in a line, by its id: in the abstract of the corpus, else in its own."""
    found: dict[str, str] = {}
    for hit in hits:
        work, collection = hit.chunk.work, hit.project.collection
        if work.doc_id not in found and hit.article:
            found[work.doc_id] = study_of(hit.article).short
        elif work.doc_id not in found:
            abstract = abstract_of(backends.collections.document(collection, work.doc_id))
            found[work.doc_id] = short(study_facts(abstract, Article("", title=work.title))) if abstract else ""
    return found


def _allowed(question: ProjectQuestion, project: Project) -> int:
    """How many hits the project allows this question. Raises for more, and for words where it has none."""
    if question.hybrid and not project.hybrid_enabled:
        raise HybridUnavailable(
            f"Project {project.project_id!r} is not searched by words: use query, which searches it by meaning",
            project_id=project.project_id,
        )
    if question.top_k is not None and question.top_k > project.top_k:
        raise InvalidInput(
            f"{question.top_k} is more than project {project.project_id!r} returns, which is {project.top_k}",
            project_id=project.project_id,
            top_k=project.top_k,
            field="top_k",
        )
    return min(question.top_k or TOP_K, project.top_k)


def _check_model(project: Project, model: str) -> None:
    """Raise `ModelMismatch` for a project of another model."""
    if project.embed_model != model:
        raise ModelMismatch(
            f"Project {project.project_id!r} holds vectors of {project.embed_model}, and the configured model is "
            f"{model}: configure that model again, or ingest with force_rebuild to embed its passages anew",
            project_id=project.project_id,
            collection_model=project.embed_model,
            configured_model=model,
        )


def _scored(matches: Sequence[ChunkMatch], hybrid: bool) -> list[tuple[ChunkMatch, float]]:
    """The matches with their scores: reciprocal ranks of both legs, or cosines clipped to [0, 1]."""
    if not hybrid:
        return [(each, min(1.0, max(0.0, each.sim))) for each in matches if each.sim is not None]
    by_words = sorted((-each.bm25, each.chunk.chunk_id) for each in matches if each.bm25 is not None)
    by_meaning = sorted((-each.sim, each.chunk.chunk_id) for each in matches if each.sim is not None)
    scores = reciprocal_ranks([[chunk_id for _, chunk_id in leg] for leg in (by_words, by_meaning)])
    return [(each, scores[each.chunk.chunk_id]) for each in matches]


def _best(found: Iterable[tuple[Project, ChunkMatch, float]], top_k: int) -> list[ProjectHit]:
    """The best `top_k` that have something new to say."""
    hits: list[ProjectHit] = []
    order = sorted(
        found, key=lambda each: (-each[2], -(each[1].sim or 0.0), each[1].chunk.chunk_id, each[0].project_id)
    )
    for project, match, score in order:
        if text := new_text(match.chunk, (hit.chunk for hit in hits)):
            hits.append(ProjectHit(project, match.chunk, round(score, 6), text, match.sim, match.bm25))
        if len(hits) == top_k:
            break
    return hits


def _empty(projects: Iterable[Project], filters: ChunkFilters, backends: Backends) -> Iterator[str]:
    """Why nothing was found."""
    for each in projects:
        if not backends.collections.count(each.collection):
            yield f"Project {each.project_id!r} holds no passages yet: ingest documents into it first."
        elif filters:
            yield f"No passage of project {each.project_id!r} passes the filters."


CHUNKS = 60  # passages of a project that share words with the quote, at most
DOCUMENTS = 12  # that are compared with the quote, those with the most of its words
MOST_PLACES = 100
ALIGNED = 5  # parts of documents that are compared letter by letter, those that share the most with the quote
LEAST_SHARED = 0.1  # of a quote's runs of characters, in a part that is
REACH = 600  # characters of a quote for which one more neighbour is looked at

Terms = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A passage that is the quote, or nearly: `text` from `char_start` to `char_end` of the document.

    Offsets are None where unknown, as in titles and in chunks that a client stored.
    """

    work: Work
    text: str
    similarity: float
    section: str | None = None
    section_path: tuple[str, ...] = ()
    page_span: PageSpan | None = None
    char_start: int | None = None
    char_end: int | None = None
    differences: tuple[Difference, ...] = field(default=())


def locate(
    quote: str, backends: Backends, deadline: Deadline = NEVER, project_id: str | None = None, doc_id: str | None = None
) -> list[Place]:
    """The places that are equal to the quote but for typesetting, else those that are nearly, most similar first.

    It looks in the project, or without one in the corpus; with `doc_id`, in that document alone. Nothing is an empty
    list. Raises `NotFound` for an unknown project or document, `InvalidInput` for a quote without words.
    """
    wanted = comparable(trimmed(quote))
    terms = query_terms(joined_words(wanted.text))
    if not terms:
        raise InvalidInput("give words as they stand in the text", field="quote")
    reach = 1 + len(wanted.text) // REACH
    look = _in_project(terms, backends, project_id, doc_id) if project_id else _in_corpus(terms, backends, doc_id)
    parts = [
        _Part(work, text := joined(run), comparable(text.text))
        for work, passages, matched in look
        for run in runs(passages, matched, reach)
    ]
    spans = ((part, span) for part in parts for span in equal_spans(wanted, part.compared))
    equal = list(islice(((part, span) for part, span in spans if span.similarity == 1), MOST_PLACES))
    return [_place(wanted, part, span) for part, span in equal] or _nearly(wanted, parts, deadline)


@dataclass(frozen=True, slots=True)
class _Part:
    """Neighbouring passages of a work, as one text."""

    work: Work
    text: Joined
    compared: Comparable


def _nearly(wanted: Comparable, parts: Iterable[_Part], deadline: Deadline) -> list[Place]:
    """The most similar passage of each of those parts that share the most with the quote."""
    likely = sorted(((shared(wanted, part.compared), -at, part) for at, part in enumerate(parts)), reverse=True)
    found = []
    for share, _, part in likely[:ALIGNED]:
        deadline.check("comparing the quote with the texts")
        span = nearest_span(wanted, part.compared) if share >= LEAST_SHARED else None
        if span:
            found.append(_place(wanted, part, span))
    return sorted(found, key=lambda each: -each.similarity)


def _place(wanted: Comparable, part: _Part, span: Span) -> Place:
    text = part.text
    found, passage = text.between(span.start, span.end), text.text[span.start : span.end]
    pages = [each.page_span for each in found if each.page_span]
    return Place(
        work=part.work,
        text=passage,
        similarity=round(span.similarity, 4),
        section=found[0].section,
        section_path=found[0].section_path,
        page_span=(min(pages)[0], max(last for _, last in pages)) if pages else None,
        char_start=text.offset(span.start),
        char_end=text.end_offset(span.end),
        differences=tuple(differences(wanted.text, passage)) if span.similarity < 1 else (),
    )


Looked = tuple[Work, Sequence[Passage], set[int]]
"""A document, its passages in order, and which of them share words with the quote."""


def _in_project(terms: Terms, backends: Backends, project_id: str, doc_id: str | None) -> Iterator[Looked]:
    collection = backends.projects.get(project_id).collection
    filters = ChunkFilters(doc_ids=frozenset({doc_id}) if doc_id else frozenset())
    matches = backends.collections.search(collection, ChunkQuery(terms, None, filters, CHUNKS))
    matches.sort(key=lambda each: (-(each.bm25 or 0.0), each.chunk.chunk_id))
    if doc_id and not matches and not backends.collections.document(collection, doc_id):
        raise NotFound(f"Project {project_id!r} has no document {doc_id!r}.")
    by_document: dict[str, set[str]] = {}
    for each in matches:
        by_document.setdefault(each.chunk.work.doc_id, set()).add(each.chunk.chunk_id)
    for found, chunk_ids in list(by_document.items())[:DOCUMENTS]:
        chunks = backends.collections.document(collection, found)
        if chunks:  # not deleted meanwhile
            matched = {at for at, each in enumerate(chunks) if each.chunk_id in chunk_ids}
            yield chunks[0].work, list(map(passage_of, chunks)), matched


def passage_of(chunk: ProjectChunk) -> Passage:
    start = chunk.char_start if chunk.char_end > chunk.char_start else None  # unknown
    return Passage(chunk.text, start, chunk.section, chunk.section_path, chunk.page_span)


def _in_corpus(terms: Terms, backends: Backends, doc_id: str | None) -> Iterator[Looked]:
    within = frozenset({backends.documents.get(parse_pmid(doc_id)).article.pmid}) if doc_id else None
    found = backends.passages.hybrid_search(PassageQuery(terms, None, depth=DOCUMENTS, within=within))
    pmids = [each.pmid for each in sorted(found, key=lambda each: (-(each.bm25 or 0.0), int(each.pmid)))]
    documents, chunks = backends.documents.get_many(pmids), backends.passages.chunks(pmids)
    for pmid in pmids:
        if pmid in documents:
            article = documents[pmid].article
            work = Work(f"pmid:{pmid}", article.title or article.vernacular_title, doi=article.doi, pmid=pmid)
            passages = [Passage(each.text, each.char_start, each.section) for each in chunks.get(pmid, ()) if each.text]
            yield work, passages, set(range(len(passages)))
            yield work, [Passage(work.title or "", None, "Title")], {0}
