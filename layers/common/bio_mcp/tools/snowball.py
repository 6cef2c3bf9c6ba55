"""Follow citations from papers to others."""

from collections.abc import Sequence

from pydantic import Field

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import is_pmid, pubmed_page
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import DocSummary
from bio_mcp.querying.search import summarised
from bio_mcp.querying.snowballing import Direction, Neighbour, known_to, snowball
from bio_mcp.screening.reviews import review_name, review_of
from bio_mcp.tool import ABSENT, Context, Request, Response
from bio_mcp.tools import answer_size, next_steps
from bio_mcp.tools.fields import BY_OTHER_IDS, REVIEW, AnsweredPmid, Pmid, ProjectId, QueryKey, live_tool

MOST_SEEDS = 200
CONSIDERED = 1_000  # papers, the best, that are looked up in corpus, project and review


class Seeds(Request):
    pmids: list[Pmid] = Field(
        default=ABSENT, max_length=MOST_SEEDS, description="default: those that the review includes"
    )
    project: ProjectId = ABSENT
    query_key: QueryKey = ABSENT
    direction: Direction = "both"
    steps: int = Field(default=1, ge=1, le=2)
    top_k: int = Field(default=50, ge=1, le=200)
    new_only: bool = Field(default=False, description="leave out what the project or review has")


class FoundPaper(Response):
    """A paper around the seeds. `seeds` counts those that cite it or that it cites.

    `known_in` names corpus, project and review where it is already.
    """

    pmid: AnsweredPmid
    title: str | None
    year: int | None
    url: str
    seeds: int
    links: int
    step: int
    ways: list[str]
    known_in: list[str]
    retraction: RetractionStatus


class FoundPapers(answer_size.MayBePartial):
    """Papers around the seeds, those that most seeds name first; `unlinked` seeds have no known citation."""

    papers: list[FoundPaper]
    found: int = Field(description="papers around the seeds in all")
    left_out: int
    seeds: int
    unlinked: list[AnsweredPmid]
    sources: list[str]


@live_tool(
    "snowball",
    family=REVIEW,
    beyond="citations find what no words of a search do",
    next_step=next_steps.after_snowball,
    also_uses=("projects.get", "project_documents.find", "pubmed.elink", *BY_OTHER_IDS),
)
def snowball_papers(request: Seeds, backends: Backends, context: Context) -> FoundPapers:
    """Find papers that the seeds cite or that cite them, those first that most seeds name, and mark known ones."""
    review = review_name(request.project, request.query_key, None, backends)
    seeds = list(dict.fromkeys(request.pmids or _included(review, backends)))
    found = snowball(seeds, request.direction, request.steps, backends, context.deadline)
    nearest = found.papers[:CONSIDERED]
    known = known_to([each.pmid for each in nearest], request.project, review, backends)
    held = {"project", "review"} if request.new_only else set()
    papers = [each for each in nearest if held.isdisjoint(known[each.pmid])]
    shown, reasons = papers[: request.top_k], list(found.reasons)
    pmids, summaries = [each.pmid for each in shown], dict[str, DocSummary]()
    if pmids:
        missing = "the PMIDs are right, their titles and whether they are retracted are missing"
        known_of = summarised(lambda: backends.pubmed.esummary(pmids, deadline=context.deadline), missing, reasons)
        summaries = {each.pmid: each for each in known_of.found}
    answer = FoundPapers.of(
        found,
        papers=[_paper(each, known[each.pmid], summaries.get(each.pmid) or DocSummary(each.pmid)) for each in shown],
        found=len(found.papers),
        left_out=len(papers) - len(shown),
        seeds=len(seeds),
        reasons=reasons,
    )
    return answer_size.within(answer, "papers")


def _included(review: str | None, backends: Backends) -> list[str]:
    """What the review includes by abstract and does not exclude by full text.

    Raises `InvalidInput` where that is nothing, or more than can be followed.
    """
    state = review_of(review or "", backends.screenings)
    included = dict.fromkeys(state.of("abstract", "include"))
    seeds = [each for each in included.keys() - set(state.of("full_text", "exclude")) if is_pmid(each)]
    if not review or not seeds:
        raise InvalidInput("give pmids, or a project or query_key whose review includes papers")
    if len(seeds) > MOST_SEEDS:
        raise InvalidInput(f"the review includes {len(seeds)} papers; give pmids, {MOST_SEEDS} at most")
    return sorted(seeds, key=int)


def _paper(neighbour: Neighbour, places: Sequence[str], summary: DocSummary) -> FoundPaper:
    year = (summary.pdat or "")[:4]
    return FoundPaper.of(
        neighbour,
        summary,
        year=int(year) if year.isdecimal() else None,
        url=pubmed_page(neighbour.pmid),
        seeds=len(neighbour.seeds),
        ways=sorted(neighbour.ways),
        known_in=places,
    )
