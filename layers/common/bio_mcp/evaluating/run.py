"""Evaluate a set: a job that fills the set's corpus, asks its questions one by one, and resumes where it was stopped.

At most one run works on a set: it holds a lease, and renews it as it saves what became of the questions so far.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.evaluating.asking import Asking
from bio_mcp.evaluating.corpora import fill
from bio_mcp.evaluating.cursor import Cursor, Run
from bio_mcp.evaluating.figures import Metric
from bio_mcp.evaluating.metrics import figures
from bio_mcp.evaluating.questions import EvaluationSet
from bio_mcp.evaluating.report.page import page
from bio_mcp.evaluating.reports import EvaluationReport, already_running, report_of, result_of, unread_result
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.progress import Progress
from bio_mcp.syncing.jobs import JobRun, Share, ended_job

TOOL = "eval.run"
KIND = "evaluation"
LEASE_S = 600
SAVED_EVERY = 25  # questions
FOLDER = "evaluations"


@dataclass(frozen=True, slots=True)
class Request:
    """What a job does: the `arguments` of the call, and whether it is `local`, from the user of this machine.

    `location` tells the custom sets apart; "" for those that come with the product.
    """

    questions: EvaluationSet
    metrics: tuple[Metric, ...]
    model: str
    location: str = ""
    local: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def query_key(self) -> str:
        """One for each set, which does not show where on a machine its questions are."""
        place = f" {sha256(self.location.encode(errors='surrogateescape')).hexdigest()[:16]}" if self.location else ""
        return self.questions.name + place

    def to_json(self) -> dict[str, Any]:
        """The request as its job holds it; another version of the set or another model is another request."""
        return {
            "query_key": self.query_key,
            "local": self.local,
            "arguments": self.arguments,
            "version": self.questions.version,
            "model": self.model,
        }


def continuation(job: Job) -> dict[str, Any]:
    """The call that continues an evaluation, or reports its result."""
    arguments = dict(job.request["arguments"])
    return {"tool": TOOL, "arguments": {**arguments, "params": {**arguments.get("params", {}), "job_id": job.job_id}}}


def evaluate(
    request: Request,
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
    *,
    job_id: str | None = None,
    unattended: bool = False,
) -> EvaluationReport:
    """Run or resume the evaluation of a set until it is done or the deadline is near.

    With `job_id` that job continues, or its result is returned, and no other is started. Raises what `find` raises; the
    job then waits for the next call.
    """
    if ended := ended_job(job_id, backends, unattended=unattended):
        return result_of(ended)
    share, lease = Share(backends, deadline, progress, unattended), f"{KIND}:{request.query_key}"
    if not backends.leases.acquire(lease, share.holder, LEASE_S):
        return already_running(backends.jobs.latest(KIND, request.query_key))
    try:
        job = _job_of(request, backends, job_id, unattended)
        if isinstance(job, EvaluationReport):
            return job
        return _Evaluation(job, request, share).run()
    finally:
        backends.leases.release(lease, share.holder)


def _job_of(request: Request, backends: Backends, job_id: str | None, unattended: bool) -> Job | EvaluationReport:
    """The job to work on, or the report of one that has ended."""
    last = backends.jobs.latest(KIND, request.query_key)
    if job_id and (last is None or not last.unfinished or last.job_id != job_id):
        return result_of(backends.jobs.get(job_id))
    unread = None if unattended else unread_result(last, request.to_json(), backends)
    return unread or _resumed(last, request) or _new_job(request, last, backends)


def _resumed(last: Job | None, request: Request) -> Job | None:
    """The unfinished job of this very request."""
    return last if last and last.unfinished and last.request == request.to_json() else None


def _new_job(request: Request, last: Job | None, backends: Backends) -> Job:
    """A job that carries the history of the set on."""
    now = backends.now()
    job_id = f"{KIND}_{instant(now)}_{uuid4().hex[:6]}"
    history = Cursor.from_json(last.cursor).history if last else []
    return Job(job_id, KIND, "running", now, now, request.to_json(), Cursor(history=history).to_json())


class _Evaluation(JobRun[EvaluationReport]):
    """One call's share of an evaluation."""

    what = "evaluation of this set"
    lease_s = LEASE_S
    cursor: Cursor

    def __init__(self, job: Job, request: Request, share: Share) -> None:
        super().__init__(share)
        self.job, self.request, self.cursor = job, request, Cursor.from_json(job.cursor)
        self.cursor.expected = len(request.questions.questions)

    def work(self) -> EvaluationReport:
        """Ask until all is asked, and write the report."""
        with self._corpus() as corpus:
            return self._ended(corpus) if self._asked_all(corpus) else self.continue_later()

    def report(self, state: str, *notes: str) -> EvaluationReport:
        """Report how far the evaluation is."""
        return report_of(self.job, self.cursor, state, *notes)

    def counts(self) -> dict[str, int]:
        """Questions."""
        return {"processed": self.cursor.done, "expected": self.cursor.expected}

    def continuation(self) -> dict[str, Any]:
        """The same evaluation, by the job's id."""
        return continuation(self.job)

    def save(self, state: str, problem: str | None = None) -> None:
        """Renew the lease and save the job."""
        self.renew()
        super().save(state, problem)

    def _corpus(self) -> AbstractContextManager[Backends]:
        """The corpus that is asked: the set's own, or the running one."""
        questions = self.request.questions
        if questions.articles is None:
            return nullcontext(self.backends)
        return self.backends.scratch(f"{questions.name}-{questions.version}")

    def _asked_all(self, corpus: Backends) -> bool:
        """Whether every question was asked in the time that there was."""
        articles = self.request.questions.articles
        if articles and not fill(articles(), corpus, self.deadline, self.progress):
            return False
        asking = Asking(corpus, self.deadline, answers=any(each.of_answers for each in self.request.metrics))
        for number, question in enumerate(self.request.questions.questions[self.cursor.done :], 1):
            self.stop_if_cancelled()
            if not self.budget.allows(self.deadline):
                return False
            self.cursor.outcomes.append(asking.ask(question))
            self.progress(self.cursor.done, self.cursor.expected, "questions")
            if number % SAVED_EVERY == 0:
                self.save("running")
        return True

    def _ended(self, corpus: Backends) -> EvaluationReport:
        """Write the report and end the job."""
        self.cursor.warnings = self._warnings(corpus)
        results = figures(self.request.metrics, self.cursor.outcomes)
        run = Run(instant(self.backends.now()), self.request.questions.version, self.request.model, results)
        report = page(self.request.questions, self.request.metrics, run, self.cursor.history, self.cursor.outcomes)
        self.cursor.ended(run, self.backends.blobs.put(FOLDER, report.encode(), ".html"))
        self.save("succeeded")
        return self.report("complete")

    def _warnings(self, corpus: Backends) -> list[str]:
        """A sentence where papers that should be found are not in the corpus."""
        right = {pmid for each in self.request.questions.questions for pmid in each.pmids}
        missing = len(right) - len(corpus.documents.heads(sorted(right)))
        if not missing:
            return []
        return [f"{missing:,} of the {len(right):,} right papers are not in the corpus, and count as not found"]
