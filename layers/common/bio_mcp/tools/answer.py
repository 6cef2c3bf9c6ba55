"""Answer a question from the corpus."""

from typing import Literal

from pydantic import Field

from bio_mcp.answering.answers import answer
from bio_mcp.answering.extracts import Extract
from bio_mcp.literature.descriptions import in_short
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import study_of
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool, unpublished
from bio_mcp.tools import next_steps
from bio_mcp.tools.fields import TTM, SameFilters, filters_of, unknown_names

MOST_PAPERS = 50
FIRST_AUTHORS = 3  # named before "et al."


class AnswerRetrieval(Request):
    top_k: int = Field(
        default=5, ge=1, le=MOST_PAPERS, json_schema_extra=unpublished, description="papers that may be cited"
    )


class RagAnswer(Request):
    question: str = Field(min_length=1)
    lang: Literal["th", "en", "auto"] = "auto"
    retrieval: AnswerRetrieval = Field(default_factory=AnswerRetrieval)
    filters: SameFilters = ABSENT


class Citation(Response):
    """A sentence that is quoted: `quote` stands at `span` of the abstract of the stored `version`.

    `role`: secondary reports others' work. `relevance` is the probability that the paper is relevant.
    """

    id: str
    uri: str
    title: str
    span: str | None
    quote: str
    version: int
    relevance: float
    role: Literal["result", "conclusion", "secondary"]
    authors: list[str] = Field(default_factory=list)
    year: int | None = None
    journal: str | None = Field(default=None, description="abbreviated")
    doi: str | None = None
    url: str = Field(default="", description="of its DOI, else of PubMed")
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    study: str = said(default="", description="what the abstract states of it")


class AnswerScores(Response):
    """Probabilities: `retrieval` that the best cited paper is relevant, `answer_conf` that the first one cited is
    right, measured over answers like it; 0 where the answer is withheld."""

    retrieval: float
    answer_conf: float


class Contradiction(Response):
    """Two citations, by their numbers, that contradict each other."""

    between: list[int]
    outcome: str
    reason: str


class GivenAnswer(Response):
    """An answer; withheld, it is "" and `reason` says why, and the citations are what was found. `[n]` in it is the
    n-th citation. `missing_concepts` are things of the question that the papers do not have."""

    answer: str | None
    citations: list[Citation]
    scores: AnswerScores
    withheld: bool
    reason: str = ""
    rests_on: Literal["one_paper", "papers"] | None = said(default=None)
    missing_concepts: list[str] = Field(default_factory=list)
    tau: float
    mode: str
    answer_id: str
    conflicts: list[Contradiction] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


@tool(
    "rag_answer",
    family=TTM,
    scope="read",
    timeout=25,
    in_default_list=True,
    command="answer",
    also_uses=("language_model.generate",),
    next_step=next_steps.after_answer,
)
def rag_answer(request: RagAnswer, backends: Backends, context: Context) -> GivenAnswer:
    """Answer a question by sentences of its papers, quoted word for word, each with its place.

    Withheld, with the reason, where fewer than three sentences answer, no paper has what the question names, or
    confidence is below tau.
    """
    unknown = unknown_names(request.filters, backends) if request.filters else []
    given = answer(
        request.question,
        backends,
        context.deadline,
        top_k=request.retrieval.top_k,
        filters=filters_of(request.filters),
        language=request.lang,
    )
    citations = list(map(_citation, given.cited))
    return GivenAnswer.of(
        given,
        answer=given.text,
        citations=citations,
        scores=AnswerScores(
            retrieval=max((each.relevance for each in citations), default=0.0), answer_conf=given.confidence
        ),
        withheld=given.reason is not None,
        tau=backends.answer_tau,
        conflicts=[Contradiction.of(each, between=[each.one + 1, each.other + 1]) for each in given.conflicts],
        reason=given.reason or "",
        warnings=[*unknown, *given.warnings],
        missing_concepts=list(given.missing),
    )


def _citation(extract: Extract) -> Citation:
    article, span = extract.document.article, extract.span
    authors, cited = [each.short_name for each in article.authors], in_short(article)
    return Citation.of(
        span,
        id=f"pmid:{span.pmid}",
        uri=f"paper://pmid/{span.pmid}",
        title=article.title or article.vernacular_title or "",
        span=span.where,
        relevance=round(extract.relevance, 4),
        role=extract.role,
        authors=[*authors[:FIRST_AUTHORS], *("et al." for _ in authors[FIRST_AUTHORS:][:1])],
        year=cited.year,
        journal=cited.journal or None,
        doi=article.doi,
        url=cited.url,
        retraction=article.retraction,
        study=study_of(article).short,
    )
