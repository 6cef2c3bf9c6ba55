"""Choose the sentences that answer a question best from the papers that bear on it.

Results and conclusions are scored by their words and by the windows that they stand in, whose vectors are stored; the
best of each paper are embedded by themselves and scored again. A sentence is a span of a stored version's abstract.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bio_mcp.answering.search import Retrieved
from bio_mcp.literature.records import CitedSpan, Document
from bio_mcp.ports import Backends
from bio_mcp.retrieval.excerpts import overlap
from bio_mcp.retrieval.passages import StoredChunk
from bio_mcp.retrieval.relevance import COVERAGE_WEIGHT
from bio_mcp.retrieval.sentence_roles import Role, RoledSentence, sentences

OF_A_PAPER = 3  # sentences that may be cited
EMBEDDED = 5  # sentences of a paper that are embedded by themselves, 8 ms each
LONGEST = 1_000  # characters of a sentence that may be cited
SHORTEST_TITLE = 60  # characters of a title that no sentence of findings has by chance
SUPPORTS_FROM = 0.55  # of a sentence's score: tuned on the development half of evaluating/sets/answers
CONCLUDES, SECONDARY, OF_PAPER = 0.05, -0.05, 0.3  # what a conclusion, others' work and a likelier paper are worth
LEANS = -0.05  # what a sentence is worth that leans on the one before it
_LEANING = re.compile(
    r"(?:but|however|meanwhile|moreover|furthermore|these|those|they|it|this|such|in contrast|also)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Extract:
    """A sentence that may be cited. `score` orders those of one answer.

    `relevance` is the probability that its paper is relevant, `sim` the sentence's cosine to the question, `coverage`
    the share of the question's words that it has.
    """

    document: Document
    span: CitedSpan
    role: Role
    score: float
    relevance: float
    sim: float
    coverage: float


def extracts(
    retrieved: Retrieved, papers: Mapping[str, float], documents: Mapping[str, Document], backends: Backends
) -> list[Extract]:
    """The sentences that support an answer, best first, at most `OF_A_PAPER` of each of `papers`.

    Those are given by PMID, with the probability that they answer.
    """
    chunks = backends.passages.chunks(list(papers), retrieved.vector) if papers else {}
    chosen: list[tuple[str, RoledSentence]] = []
    for pmid in papers:
        said = citable(documents[pmid])
        order = sorted(said, key=lambda each: -_score(each, *_near(each, chunks.get(pmid, ()), retrieved)))
        chosen += ((pmid, each) for each in order[:EMBEDDED])
    if not chosen:
        return []
    sims = backends.embeddings.embed([each.text for _, each in chosen]) @ retrieved.vector
    found: dict[str, list[Extract]] = {}
    for (pmid, each), sim in zip(chosen, map(float, sims), strict=True):
        document, coverage = documents[pmid], _coverage(each, retrieved)
        span = CitedSpan(pmid, document.version, "abstract", each.start, each.end, each.text)
        extract = Extract(
            document, span, each.role, _score(each, sim, coverage), retrieved.relevance[pmid], sim, coverage
        )
        found.setdefault(pmid, []).append(extract)
    best = (each for of in found.values() for each in sorted(of, key=lambda each: -each.score)[:OF_A_PAPER])
    return sorted(
        (each for each in best if each.score >= SUPPORTS_FROM),
        key=lambda each: (-each.score - OF_PAPER * papers[each.span.pmid], -int(each.span.pmid), each.span.start),
    )


def citable(document: Document) -> list[RoledSentence]:
    """The sentences of the abstract that say what was found; what is said of others' work where there are none.

    One that names the paper by its title, as a reference to it does, is left out, and so is one that asks for research.
    """
    title = (document.article.title or "").rstrip(".").casefold()
    every = [
        each
        for each in sentences(document.article)
        if len(each.text) <= LONGEST
        and not (len(title) >= SHORTEST_TITLE and title in each.text.casefold())
        and not each.text.rstrip().endswith("?")
        and not leaves_open(each.text)
    ]
    found = [each for each in every if each.role in (Role.RESULT, Role.CONCLUSION, Role.SECONDARY)]
    if any(each.role is not Role.SECONDARY for each in found):
        return found
    said = [each for each in every if each.role is Role.BACKGROUND]
    return [*found, *(RoledSentence(each.start, each.end, each.text, Role.SECONDARY) for each in said)]


_OPEN = re.compile(
    r"\b(?:unclear|unknown|poorly understood|remains? to be"
    r"|(?:need|require|warrant|deserve|merit)(?:s|ed)?\b.{0,40}\b(?:stud|research|investigat|trial|attention)"
    r"|(?:stud(?:y|ies)|research|investigations?|trials?|work)\b.{0,60}\b(?:needed|required|warranted|necessary))",
    re.IGNORECASE | re.DOTALL,
)


def leaves_open(sentence: str) -> bool:
    """Whether the sentence says what is not known, or asks for research, and has no figure of what was found."""
    return bool(_OPEN.search(sentence)) and not any(map(str.isdecimal, sentence))


def _score(sentence: RoledSentence, sim: float, coverage: float) -> float:
    """How directly the sentence answers: by meaning, by words, and by what it is."""
    worth = {Role.CONCLUSION: CONCLUDES, Role.SECONDARY: SECONDARY}.get(sentence.role, 0.0)
    return sim + COVERAGE_WEIGHT * coverage + worth + leans(sentence.text)


def leans(sentence: str) -> float:
    """What a sentence is worth less where it leans on the one before it; else 0."""
    return LEANS if _LEANING.match(sentence) else 0.0


def _near(sentence: RoledSentence, windows: Sequence[StoredChunk], retrieved: Retrieved) -> tuple[float, float]:
    """The cosine of the best window that the sentence stands in, and the sentence's coverage."""
    inside = (each.sim or 0.0 for each in windows if each.char_start < sentence.end and sentence.start < each.char_end)
    return max(inside, default=0.0), _coverage(sentence, retrieved)


def _coverage(sentence: RoledSentence, retrieved: Retrieved) -> float:
    return overlap(sentence.text, retrieved.terms) / max(1, len(retrieved.terms))
