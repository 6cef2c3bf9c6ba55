"""Where a quoted passage is from: a place in a project's documents, or in the papers of the corpus.

The passages that share words with the quote are put together with their neighbours, as a quote may begin in one and end
in another, and compared with it letter by letter.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.literature.parsed import PageSpan
from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.joined_passages import Joined, Passage, joined, runs
from bio_mcp.retrieval.passages import PassageQuery, StoredChunk
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkQuery, ProjectChunk, Work
from bio_mcp.retrieval.quotes import (
    Comparable,
    Difference,
    Span,
    comparable,
    differences,
    equal_spans,
    joined_words,
    nearest_span,
    shared,
    trimmed,
)

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
        raise InvalidInput("quote: give words as they stand in the text")
    reach = 1 + len(wanted.text) // REACH
    look = _in_project(terms, backends, project_id, doc_id) if project_id else _in_corpus(terms, backends, doc_id)
    parts = [
        _Part(work, text := joined(run), comparable(text.text))
        for work, passages, matched in look
        for run in runs(passages, matched, reach)
    ]
    return _equal(wanted, parts) or _nearly(wanted, parts, deadline)


@dataclass(frozen=True, slots=True)
class _Part:
    """Neighbouring passages of a work, as one text."""

    work: Work
    text: Joined
    compared: Comparable


def _equal(wanted: Comparable, parts: Iterable[_Part]) -> list[Place]:
    """The places that have every character of the quote in its case."""
    found = [(part, span) for part in parts for span in equal_spans(wanted, part.compared) if span.similarity == 1]
    return [_place(wanted, part, span) for part, span in found[:MOST_PLACES]]


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
    return Place(
        work=part.work,
        text=passage,
        similarity=round(span.similarity, 4),
        section=found[0].section,
        section_path=found[0].section_path,
        page_span=_pages(found),
        char_start=text.offset(span.start),
        char_end=text.end_offset(span.end),
        differences=tuple(differences(wanted.text, passage)) if span.similarity < 1 else (),
    )


def _pages(found: Iterable[Passage]) -> PageSpan | None:
    pages = [each.page_span for each in found if each.page_span]
    return (min(first for first, _ in pages), max(last for _, last in pages)) if pages else None


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
            yield chunks[0].work, [_of_project(each) for each in chunks], matched


def _of_project(chunk: ProjectChunk) -> Passage:
    known = chunk.char_end > chunk.char_start
    return Passage(chunk.text, chunk.char_start if known else None, chunk.section, chunk.section_path, chunk.page_span)


def _in_corpus(terms: Terms, backends: Backends, doc_id: str | None) -> Iterator[Looked]:
    within = frozenset({backends.documents.get(parse_pmid(doc_id)).article.pmid}) if doc_id else None
    found = backends.passages.hybrid_search(PassageQuery(terms, None, depth=DOCUMENTS, within=within))
    pmids = [each.pmid for each in sorted(found, key=lambda each: (-(each.bm25 or 0.0), int(each.pmid)))]
    documents, chunks = backends.documents.get_many(pmids), backends.passages.chunks(pmids)
    for pmid in pmids:
        if pmid in documents:
            work = _work(documents[pmid])
            passages = [_of_corpus(each) for each in chunks.get(pmid, ()) if each.text]
            yield work, passages, set(range(len(passages)))
            yield work, [Passage(work.title or "", None, "Title")], {0}


def _of_corpus(chunk: StoredChunk) -> Passage:
    return Passage(chunk.text, chunk.char_start, chunk.section)


def _work(document: Document) -> Work:
    article = document.article
    title, pmid = article.title or article.vernacular_title, article.pmid
    return Work(f"pmid:{pmid}", title=title, doi=article.doi, pmid=pmid)
