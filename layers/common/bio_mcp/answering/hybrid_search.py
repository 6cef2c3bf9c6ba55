"""A question to everything: papers, passages of projects and names of the graph in one list."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bio_mcp.answering.project_search import ProjectQuestion, doubts, search_projects
from bio_mcp.answering.search import Question, check_years, search_papers
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.graph.nodes import NodeType
from bio_mcp.ingesting.projects import model_for
from bio_mcp.literature.descriptions import InShort, first_of, in_short
from bio_mcp.literature.identifiers import doi_page
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.retrieval.excerpts import SNIPPET, best_chunk, cut, snippet
from bio_mcp.retrieval.passages import Candidate, Filters
from bio_mcp.retrieval.project_chunks import ChunkFilters, Work
from bio_mcp.retrieval.query import Kind
from bio_mcp.retrieval.question import ParsedQuestion
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.ranking import RETRACTED_FACTOR, reciprocal_ranks
from bio_mcp.retrieval.thai import THAI, words_of

PAPER, CHUNK = "paper", "chunk"
EVERY_KIND = frozenset((PAPER, CHUNK, *NodeType))


@dataclass(frozen=True, slots=True)
class HybridQuestion:
    """A question to everything, or to hits of some `kinds`. Without `project_ids` it is to the first ten projects.

    A kind is `PAPER`, `CHUNK` or a type of nodes. Years are of papers, and of the works that passages are of.
    """

    asked: ParsedQuestion
    top_k: int
    kinds: frozenset[str] = EVERY_KIND
    project_ids: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found. `source` says where it is from; a chunk has its project, and pages where it has any.
    `cited` is what cites the paper or document."""

    id: str
    kind: str
    title: str
    snippet: str
    score: float
    source: str
    pmid: str | None = None
    project: str | None = None
    pages: tuple[int, int] | None = None
    retraction: RetractionStatus | None = None
    cited: InShort | None = None
    study: str = ""


class Found(NamedTuple):
    """Hits, best first; sentences for the user; and reasons why hits are missing."""

    hits: Sequence[Hit] = ()
    warnings: Sequence[str] = ()
    reasons: Sequence[str] = ()


WORDS, LONGEST_NAME = 24, 4  # of a question that are looked up, and in a name
_WORD = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*")


def entities(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find what the question names, whatever the years: the longest name first.

    A node is named by any of its names and synonyms, in English, Latin or Thai.
    """
    deadline.check("looking up names")
    names = list(_names(question))
    found = backends.graph.named(names)
    nodes = {node.node_id: node for name in names for node in found.get(name, ()) if node.type in question.kinds}
    scores = reciprocal_ranks([list(nodes)])
    hits = []
    for node_id, node in list(nodes.items())[: question.top_k]:
        names = [f"{name} ({language})" for language, name in node.names.items() if name != node.label]
        about = ". ".join(filter(None, [", ".join(names), node.description])) or node.label
        text, source = cut(about, SNIPPET), "; ".join(node.sources)
        hits.append(Hit(node_id, node.type, node.label, text, round(scores[node_id], 6), source))
    return Found(hits)


def _names(question: HybridQuestion) -> Iterator[str]:
    """Yield what may be a name in the question, the longest first, each once."""
    asked = question.asked
    runs = [(" ", _WORD.findall(asked.english)[:WORDS]), ("", words_of(asked.text)[:WORDS])]
    seen: set[str] = set()
    for length in range(LONGEST_NAME, 0, -1):
        for space, words in runs:
            for start in range(len(words) - length + 1):
                name = space.join(words[start : start + length])
                if name not in seen and (not THAI.match(name) or len(name) > 1):
                    seen.add(name)
                    yield name


def papers(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find papers of the corpus. A retracted one has half of its score.

    An English question has two legs, words and meaning. A Thai one has what is ranked for its English words; a query
    that is no question, or has identifiers, what a search ranks for it.
    """
    if not question.asked.english:
        return Found()
    filters = Filters(question.year_from, question.year_to)
    retrieved = search_papers(Question(question.asked.english, filters, quality_bias=False), backends, deadline)
    of = {each.candidate.pmid: each.candidate for each in retrieved.ranked}
    is_plain = retrieved.read.kind is Kind.QUESTION and not retrieved.read.identifiers
    by_both = is_plain and not question.asked.thai
    legs = [_leg(of.values(), "bm25"), _leg(of.values(), "sim")] if by_both else [list(of)]
    scores = {
        pmid: round(score * (RETRACTED_FACTOR if of[pmid].retraction is RetractionStatus.RETRACTED else 1.0), 6)
        for pmid, score in reciprocal_ranks(legs).items()
    }
    best = sorted(scores, key=lambda pmid: (-scores[pmid], -int(pmid)))[: question.top_k]
    deadline.check("reading the passages")
    documents, chunks = backends.documents.get_many(best), backends.passages.chunks(best)
    hits = []
    for pmid in best:
        if pmid in documents and chunks.get(pmid):
            article, candidate = documents[pmid].article, of[pmid]
            title = article.title or article.vernacular_title or f"PMID {pmid}"
            text = snippet(best_chunk(chunks[pmid], candidate.chunk_id, retrieved.terms).text, retrieved.terms) or title
            hit = Hit(f"pmid:{pmid}", PAPER, title, text, scores[pmid], "PubMed", pmid, retraction=candidate.retraction)
            hits.append(replace(hit, cited=in_short(article), study=study_of(article).short))
    flagged = doubts((f"PMID {each.pmid}", each.retraction) for each in hits)
    gone = [f"{len(best) - len(hits)} papers were deleted during the search"] if len(hits) < len(best) else []
    return Found(hits, [*retrieved.warnings, *flagged], gone)


def _leg(candidates: Iterable[Candidate], name: str) -> list[str]:
    """PMIDs of the papers that a leg returned, best first."""
    scored = [(getattr(each, name), each.pmid) for each in candidates]
    return [pmid for _, _, pmid in sorted((-score, -int(pmid), pmid) for score, pmid in scored if score is not None)]


MOST_PROJECTS = 10  # searched by a question that names none


def passages(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find passages of the projects that the question names, or of the first `MOST_PROJECTS`.

    Those in Thai are found by the Thai words of a question, those in English by its English ones; the model that
    compares meaning reads English alone.
    """
    projects, warnings = _projects(question.project_ids, backends)
    if not projects:
        return Found((), warnings)
    asked = ProjectQuestion(
        question.asked.english or question.asked.text,
        tuple(each.project_id for each in projects),
        hybrid=True,
        filters=ChunkFilters(year_from=question.year_from, year_to=question.year_to),
        top_k=min(question.top_k, *(each.top_k for each in projects)),
        terms=question.asked.terms,
        by_meaning=bool(question.asked.english),
    )
    found = search_projects(asked, backends, deadline)
    terms = frozenset(term for term, _ in question.asked.terms)
    hits = [
        Hit(
            id=each.chunk.chunk_id,
            kind=CHUNK,
            title=each.chunk.work.title or each.chunk.work.doc_id,
            snippet=snippet(each.text, terms),
            score=each.score,
            source=each.chunk.work.citekey or each.chunk.work.source or each.chunk.work.doc_id,
            pmid=each.pmid,
            project=each.project.project_id,
            pages=each.chunk.page_span,
            retraction=each.retraction,
            cited=_cited(each.chunk.work),
        )
        for each in found.hits
    ]
    return Found(hits, [*warnings, *found.warnings])


def _cited(work: Work) -> InShort:
    doi = work.doi or ""
    return InShort(first_of(work.authors), "", work.year, doi, doi_page(doi) if doi else work.url or "")


def _projects(named: Sequence[str], backends: Backends) -> tuple[list[Project], list[str]]:
    """The projects to search, and a sentence on those that are left out although nobody said so."""
    if named:
        return [backends.projects.get(each) for each in dict.fromkeys(named)], []
    there = backends.projects.all()
    fit = [
        each
        for each in there
        if each.hybrid_enabled and each.embed_model == model_for(each, backends).fingerprint  # which is here
    ][:MOST_PROJECTS]
    if len(fit) == len(there):
        return fit, []
    left_out = f"{len(there) - len(fit)} of {len(there)} projects were not searched"
    return fit, [f"{left_out}: name those to search in filters.projects."]


LEXICAL = (
    "Thai is lexical only: looked up word by word, in English by a dictionary. What the dictionary does not know is "
    "not searched for."
)
Search = Callable[[HybridQuestion, Backends, Deadline], Found]

KINDS: dict[tuple[str, ...], Search] = {(PAPER,): papers, (CHUNK,): passages, tuple(NodeType): entities}


def hybrid_search(question: HybridQuestion, backends: Backends, deadline: Deadline = NEVER) -> Found:
    """Find the `top_k` best hits of all kinds together; ties by kind, then by id.

    Raises `InvalidInput`, `NotFound` for an unknown project, and the failures of `find` and `search_projects`: a kind
    that cannot be searched never makes a shorter list.
    """
    check_years(question.year_from, question.year_to)
    found = [search(question, backends, deadline) for kinds, search in KINDS.items() if question.kinds & {*kinds}]
    hits = sorted((hit for each in found for hit in each.hits), key=lambda hit: (-hit.score, hit.kind, hit.id))
    hits = list(_without_repeats(hits))
    warnings = dict.fromkeys((*_thai(question.asked), *(warning for each in found for warning in each.warnings)))
    return Found(hits[: question.top_k], tuple(warnings), tuple(reason for each in found for reason in each.reasons))


def _without_repeats(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The hits, best first, without what a better one shows of the same paper; a passage that shows nothing else is
    left out, and a paper stays without a snippet."""
    shown: defaultdict[str, list[str]] = defaultdict(list)
    for each in hits:
        better = shown[each.pmid] if each.pmid else []
        text = unrepeated(each.snippet, better)
        if text or each.kind != CHUNK:
            better.append(each.snippet)
            yield replace(each, snippet=text)


def _thai(asked: ParsedQuestion) -> Iterator[str]:
    """What the user of a Thai question should know."""
    if not asked.thai:
        return
    yield LEXICAL
    if asked.unknown:
        yield f"The Thai dictionary does not have {', '.join(asked.unknown)}: ask for that in English too."
    if not asked.segmented:
        yield "Without PyThaiNLP only names of the dictionary are found in Thai text."
