"""An answer from projects: the sentences of their documents that answer a question best, word for word.

No language model writes it, so that nothing of a document leaves this installation.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bio_mcp.answering.answers import is_about
from bio_mcp.answering.extracts import LONGEST, SUPPORTS_FROM, leans, leaves_open
from bio_mcp.answering.project_search import ProjectHit, ProjectQuestion, search_projects
from bio_mcp.answering.search import readable
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.ingesting.projects import as_indexed, model_for
from bio_mcp.literature.documents import SectionKind
from bio_mcp.literature.records import AbstractSection, Article, RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.chunking import sentence_spans
from bio_mcp.retrieval.concepts import PaperWords, asked_about
from bio_mcp.retrieval.excerpts import overlap
from bio_mcp.retrieval.quotes import unrepeated
from bio_mcp.retrieval.relevance import COVERAGE_WEIGHT

MOST_CITED = 5  # sentences
OF_A_DOCUMENT = 3
SHORTEST = 40  # characters of a sentence: a shorter one is a heading, or a part of a table
EMBEDDED = 60  # sentences that are embedded by themselves, 8 ms each
LEAST_SHARED = 0.85  # of the question's words, in what was found of a document
NOTHING = "no sentence of these documents answers the question"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a document, in the passage that was found."""

    hit: ProjectHit
    quote: str
    score: float


@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """Sentences that answer, the most direct first, and the passages that were found; without sentences `reason` says
    why."""

    statements: tuple[Statement, ...]
    hits: tuple[ProjectHit, ...]
    reason: str = ""
    warnings: tuple[str, ...] = ()


def answer_from_projects(
    question: str, project_ids: Sequence[str], backends: Backends, deadline: Deadline = NEVER
) -> ProjectAnswer:
    """Answer from the projects. Retracted papers are found and never quoted.

    Raises what `search_projects` raises.
    """
    projects = [backends.projects.get(each) for each in dict.fromkeys(project_ids)]
    text = readable(question)
    asked = ProjectQuestion(
        text,
        tuple(each.project_id for each in projects),
        hybrid=all(each.hybrid_enabled for each in projects),
        top_k=min(each.top_k for each in projects),
    )
    found = search_projects(asked, backends, deadline)
    terms = [term for term, _ in query_terms(text)]
    quotable = [
        each for each in found.hits if each.chunk.kind is SectionKind.BODY and each.retraction not in _NEVER_QUOTED
    ]
    telling = _telling(text, quotable)
    chosen = [
        (hit, sentence) for hit in quotable if hit.chunk.work.doc_id in telling for sentence in _sentences(hit.text)
    ][:EMBEDDED]
    deadline.check("choosing sentences")
    if not chosen:
        return ProjectAnswer((), found.hits, NOTHING, found.warnings)
    model = model_for(as_indexed(projects[0], backends), backends)
    sims = model.embed([sentence for _, sentence in chosen]) @ model.embed_questions([text])[0]
    scored = [
        Statement(hit, sentence, float(sim) + COVERAGE_WEIGHT * _covered(sentence, terms) + leans(sentence))
        for (hit, sentence), sim in zip(chosen, sims, strict=True)
    ]
    statements: list[Statement] = []
    of_document: Counter[str] = Counter()
    for each in sorted(scored, key=lambda each: -each.score):
        document = each.hit.chunk.work.doc_id
        if each.score < SUPPORTS_FROM or len(statements) == MOST_CITED:
            break
        if of_document[document] < OF_A_DOCUMENT and unrepeated(each.quote, [other.quote for other in statements]):
            of_document[document] += 1
            statements.append(each)
    return ProjectAnswer(tuple(statements), found.hits, "" if statements else NOTHING, found.warnings)


_NEVER_QUOTED = {RetractionStatus.RETRACTED, RetractionStatus.NOTICE}


def _telling(question: str, hits: Iterable[ProjectHit]) -> set[str]:
    """The documents that have what the question names, in the passages that were found of them."""
    passages: dict[str, list[ProjectHit]] = defaultdict(list)
    for hit in hits:
        passages[hit.chunk.work.doc_id].append(hit)
    words = {
        doc_id: PaperWords(
            Article(
                "",
                title=of[0].chunk.work.title,
                abstract=tuple(AbstractSection(None, None, each.chunk.text) for each in of),
            )
        )
        for doc_id, of in passages.items()
    }
    asked = asked_about(question, words.values())
    return {
        doc_id for doc_id, each in words.items() if is_about(each, asked) and each.share(asked.words) >= LEAST_SHARED
    }


def _covered(text: str, terms: Sequence[str]) -> float:
    return overlap(text, terms) / max(1, len(terms))


_NO_FINDING = re.compile(r"future (?:stud|work|research)|(?:fig(?:ure|s)?|tables?)\b[. ]*\d", re.IGNORECASE)


def _sentences(text: str) -> list[str]:
    sentences = (text[start:end] for start, end in sentence_spans(text))
    return [
        each
        for each in sentences
        if SHORTEST <= len(each) <= LONGEST
        and each[-1] in '.!)”"'
        and not leaves_open(each)
        and not _NO_FINDING.match(each)
        and "[…]" not in each
    ]
