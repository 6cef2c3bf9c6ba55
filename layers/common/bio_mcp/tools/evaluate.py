"""Evaluate how good the answers are."""

from typing import ClassVar, Literal

from pydantic import Field

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.evaluating.figures import chosen
from bio_mcp.evaluating.questions import EvaluationSet, answers, curated, questions_in, smoke, version_of
from bio_mcp.evaluating.run import KIND, TOOL, EvaluationRun
from bio_mcp.jobs.runner import RunContext
from bio_mcp.ports import Backends
from bio_mcp.tool import ABSENT, Context, Request, Response, said, tool
from bio_mcp.tools.fields import TTM

SETS = {"smoke": smoke, "curated": curated}  # the contract's
FURTHER_SETS = {"answers": answers}  # by their names as the address of a custom one
DIGITS = 6


class EvalParams(Request):
    uri: str = Field(
        default=ABSENT,
        min_length=1,
        description='custom: JSON lines of {"id", "question", "pmids"}; or answers, 220 questions to the sample',
    )
    job_id: str = Field(default=ABSENT, min_length=1)


class EvalRun(Request):
    most_items: ClassVar[int] = 50

    set: Literal["smoke", "curated", "custom"] = Field(description="bundled sample, PubMedQA, or yours")
    metrics: list[str] = Field(default_factory=list, description="as R@10, MRR; all if empty")
    params: EvalParams = ABSENT


class EvalMetric(Response):
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    questions: int | None = None
    less_is_better: bool | None = None


class EvalResult(Response):
    """Figures of an evaluation, or its progress."""

    metrics: list[EvalMetric]
    report_uri: str
    state: str = Field(default="complete", description="complete, incomplete, continues, running or cancelled")
    job_id: str | None = None
    version: str | None = Field(default=None, description="of the set")
    model: str | None = Field(default=None, description="fingerprint of the one that made the vectors")
    warnings: list[str] = Field(default_factory=list)
    ended: str | None = said(default=None, description="when the reported job ended; this call did nothing")


@tool(
    TOOL,
    family=TTM,
    scope="admin",
    timeout=25,
    read_only=False,
    also_uses=("continuations.send", "jobs.get"),
    command="eval run",
)
def eval_run(request: EvalRun, backends: Backends, context: Context) -> EvalResult:
    """Ask a set of judged questions and report how good search and answers are.

    A long one continues by itself: `state` is then "continues", and the same call again reports its result.
    """
    params = request.params or EvalParams()
    metrics = chosen(request.metrics)
    local = _local(params.job_id, backends, context)
    questions, location = questions_of(request.set, params.uri, backends, local)
    arguments = request.model_dump(mode="json", exclude_unset=True, exclude={"params": {"job_id"}})
    share = RunContext(backends, context.deadline, context.progress, context.unattended)
    report = EvaluationRun(share, questions, metrics, arguments, location, local=local).run(params.job_id)
    key = report.cursor.report_key
    return EvalResult.of(
        report,
        metrics=[
            EvalMetric.of(
                each,
                **{name: round(getattr(each, name), DIGITS) for name in ("value", "low", "high")},
                less_is_better=None if each.rising else True,
            )
            for each in (report.cursor.history[-1].results if key else ())
        ],
        report_uri=backends.blobs.uri(key) if key and context.local else key,  # where it is, to this machine's user
        version=questions.version,
        model=backends.embeddings.fingerprint,
    )


def _local(job_id: str | None, backends: Backends, context: Context) -> bool:
    """Whether files of this machine may be read: a queued call goes on for whoever made the first."""
    if not (job_id and context.unattended):
        return context.local
    try:
        job = backends.jobs.get(job_id)
    except NotFound:
        return False
    return job.kind == KIND and bool(job.request.get("local"))


def questions_of(name: str, uri: str | None, backends: Backends, local: bool) -> tuple[EvaluationSet, str]:
    """The set of that name, and where a custom one is."""
    if name in SETS:
        if uri:
            raise InvalidInput(f"the set {name} has its own questions; use set custom for yours", field="params.uri")
        return SETS[name](), ""
    if not uri:
        raise InvalidInput('set custom takes a file of JSON lines of {"id", "question", "pmids"}', field="params.uri")
    if uri in FURTHER_SETS:
        return FURTHER_SETS[uri](), ""
    location = backends.sources.locate(uri, local=local)
    content = backends.sources.read(location, local=local)
    return EvaluationSet(name, version_of(content), questions_in(content)), location
