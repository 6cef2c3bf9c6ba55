"""Check the references of a manuscript."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from bio_mcp.errors import InvalidInput
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.references.files import Format, read_references
from bio_mcp.ports import Backends
from bio_mcp.querying.references.checking import Verdict
from bio_mcp.querying.references.run import TOOL, check_list, continued
from bio_mcp.tool import ABSENT, Context, Request, Response, stated
from bio_mcp.tools import answer_size
from bio_mcp.tools.answer_size import MayBePartial
from bio_mcp.tools.fields import REVIEW, live_tool

MOST = 500  # references of one list
LONGEST = 300_000  # characters of it
SHOWN = 500  # characters of a reference, of a title and of what differs


class BibliographyQuestion(Request):
    text: str = Field(
        default=ABSENT, max_length=LONGEST, description="BibTeX, RIS, NBIB, CSL-JSON or plain text, one a line"
    )
    items: list[dict[str, Any]] = Field(default=ABSENT, max_length=MOST, description="or CSL-JSON items")
    format: Format = Field(default=ABSENT, description="if not recognized")
    start: int = Field(default=0, ge=0, description="`next` of a cut answer")
    job_id: str = Field(default=ABSENT, min_length=1, max_length=200)


class FieldDifference(Response):
    field: str
    stated: str
    true: str
    words: str | None = Field(default=None, description="of a title that is nearly right, what differs")


class CheckedReference(Response):
    """The verdict on a reference; `position` counts from 1."""

    position: int
    verdict: Verdict
    reference: str
    key: str | None = None
    line: int | None = None
    pmid: str | None = None
    doi: str | None = None
    title: str | None = None
    retraction: str | None = Field(default=None, description="retracted, concern, corrected or notice")
    agrees: list[str] = Field(default_factory=list)
    differs: list[FieldDifference] = Field(default_factory=list)
    reason: str | None = None


class CheckedBibliography(MayBePartial):
    """Verdicts in the order of the list; `counts` is of all of them."""

    references: list[CheckedReference]
    counts: dict[str, int]
    state: str = Field(default="complete", description="complete, continues, running, incomplete or cancelled")
    job_id: str | None = None
    expected: int | None = Field(default=None, description="references of the list, while it is a job")
    next: int | None = None


@live_tool(
    TOOL,
    family=REVIEW,
    command="check-refs",
    in_default_list=True,
    also_uses=(
        *("jobs.get", "jobs.latest", "jobs.put", "jobs.is_cancelled", "leases.acquire", "leases.release"),
        "notices.of",
    ),
    beyond="invented, wrong and retracted references of a manuscript",
)
def check_bibliography(request: BibliographyQuestion, backends: Backends, context: Context) -> CheckedBibliography:
    """Check references against PubMed: found, doubtful (what differs), retracted, not_found; unknown is not not_found.

    More than 40 are a job: call again with its job_id until state is complete.
    """
    share = RunContext(backends, context.deadline, context.progress, context.unattended)
    report = continued(request.job_id, share) if request.job_id else check_list(_works(request), share)
    unknown = any(row["verdict"] == "unknown" for row in report.rows)
    answer = CheckedBibliography(
        references=[_shown(row, place) for place, row in enumerate(report.rows, 1)][request.start :],
        counts=dict(sorted(Counter(row["verdict"] for row in report.rows).items())),
        status="partial" if report.reasons or unknown or report.state != "complete" else "complete",
        reasons=report.reasons,
        state=report.state,
        **stated(job_id=report.job_id, expected=report.expected),
    )

    def from_there(rest: Sequence[CheckedReference]) -> dict[str, Any]:
        following = rest[0].position - 1
        advice = f"ask for the others with start: {following}"
        return {**answer_size.partial(report.reasons, rest, advice), "next": following}

    return answer_size.within(answer, "references", more=from_there)


def _works(request: BibliographyQuestion) -> list[Any]:
    given = [each for each in (request.text, request.items) if each]
    if len(given) != 1:
        raise InvalidInput("give either text or items, or the job_id of a list that is being checked")
    items = json.dumps(request.items) if request.items else ""
    works = read_references(items, "csl-json") if items else read_references(request.text, request.format)
    if len(works) > MOST:
        raise InvalidInput(f"{len(works)} references; {MOST} are the most at once: split the list")
    return works


def _shown(row: dict[str, Any], position: int) -> CheckedReference:
    retraction = row["retraction"] if row["retraction"] not in ("clear", "unknown") else None
    texts = {name: row[name][:SHOWN] for name in ("reference", "title") if row[name]}
    differs = [{name: text[:SHOWN] for name, text in each.items()} for each in row["differs"]]
    fields = {**row, **texts, "differs": differs, "retraction": retraction, "position": position}
    return CheckedReference(**stated(**fields))
