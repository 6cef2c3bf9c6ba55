"""Evaluate a set: a job that fills the set's corpus and asks its questions one by one."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Self

from bio_mcp.evaluating.asking import Asking
from bio_mcp.evaluating.figures import Metric, Outcome, Result, Run, figures
from bio_mcp.evaluating.page import page
from bio_mcp.evaluating.questions import EvaluationSet, fill
from bio_mcp.jobs.runner import Cursor, JobReport, JobRun, RunContext
from bio_mcp.literature.clock import instant
from bio_mcp.ports.state import Job

TOOL = "eval.run"
KIND = "evaluation"
SAVED_EVERY = 25  # questions
FOLDER = "evaluations"
MOST_RUNS = 100  # in the history of a set


@dataclass(slots=True)
class EvaluationCursor(Cursor):
    """How far an evaluation is: the outcomes so far, `expected` questions in all, and earlier runs, the oldest first.

    In the end this run is the last of them, with the key of its report. `warnings` are sentences for the user.
    """

    expected: int = 0
    outcomes: list[Outcome] = field(default_factory=list)
    history: list[Run] = field(default_factory=list)
    report_key: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        return self.expected if self.report_key else len(self.outcomes)

    def to_json(self) -> dict[str, Any]:
        outcomes = [each.to_json() for each in self.outcomes]
        return {**Cursor.to_json(self), "outcomes": outcomes, "history": [asdict(each) for each in self.history]}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        outcomes = [Outcome.from_json(each) for each in given["outcomes"]]
        history = [
            Run(**{**run, "results": tuple(Result(**each) for each in run["results"])}) for run in given["history"]
        ]
        return cls(**{**given, "outcomes": outcomes, "history": history})


EvaluationReport = JobReport[EvaluationCursor]


class EvaluationRun(JobRun[EvaluationCursor, EvaluationReport]):
    kind, tool, cursor_type = KIND, TOOL, EvaluationCursor
    what = "evaluation of this set"
    starting = "this set is just being evaluated"
    again = "evaluate anew"

    def __init__(
        self,
        context: RunContext,
        questions: EvaluationSet,
        metrics: tuple[Metric, ...],
        arguments: Mapping[str, Any],
        location: str = "",
        *,
        local: bool = False,
    ) -> None:
        """`arguments` are those of the call, which is `local` if it is from the user of this machine.

        `location` tells custom sets apart, without that a job shows where on a machine one is; "" for those that come
        with the product. Another version of the set or another model is another request.
        """
        self.questions, self.metrics, self.model = questions, metrics, context.backends.embeddings.fingerprint
        place = f" {sha256(location.encode(errors='surrogateescape')).hexdigest()[:16]}" if location else ""
        request = {"query_key": questions.name + place, "local": local, "arguments": dict(arguments)}
        super().__init__(context, {**request, "version": questions.version, "model": self.model})

    def plan(self, last: Job | None) -> EvaluationCursor:
        return EvaluationCursor(history=self.cursor_of(last).history if last else [])

    def work(self) -> EvaluationReport:
        """Fill the corpus that is asked, the set's own or else the running one, and ask until all is asked."""
        questions = self.questions
        self.cursor.expected = len(questions.questions)
        scratch = f"{questions.name}-{questions.version}"
        with nullcontext(self.backends) if questions.articles is None else self.backends.scratch(scratch) as corpus:
            if questions.articles and not fill(questions.articles(), corpus, self.deadline, self.progress):
                return self.continue_later()
            self.corpus = corpus
            self.asking = Asking(corpus, self.deadline, answers=any(each.of_answers for each in self.metrics))
            return super().work()

    def has_work(self) -> bool:
        return self.cursor.done < self.cursor.expected

    def step(self) -> bool:
        """Ask the questions between two savings of the job."""
        first = self.cursor.done
        for number, question in enumerate(self.questions.questions[first : first + SAVED_EVERY]):
            if number and not self.may_go_on():
                return False
            self.cursor.outcomes.append(self.asking.ask(question))
            self.progress(self.cursor.done, self.cursor.expected, "questions")
        return True

    def finish(self) -> bool:
        cursor = self.cursor
        right = {pmid for each in self.questions.questions for pmid in each.pmids}
        if missing := len(right) - len(self.corpus.documents.heads(sorted(right))):
            sentence = f"{missing:,} of the {len(right):,} right papers are not in the corpus, and count as not found"
            cursor.warnings = [sentence]
        results = figures(self.metrics, cursor.outcomes)
        run = Run(instant(self.backends.now()), self.questions.version, self.model, results)
        report = page(self.questions, self.metrics, run, cursor.history, cursor.outcomes)
        cursor.history = [*cursor.history, run][-MOST_RUNS:]
        cursor.report_key, cursor.outcomes = self.backends.blobs.put(FOLDER, report.encode(), ".html"), []
        return True

    @classmethod
    def continuation(cls, job: Job) -> dict[str, Any]:
        arguments = job.request["arguments"]
        params = {**arguments.get("params", {}), "job_id": job.job_id}
        return {"tool": TOOL, "arguments": {**arguments, "params": params}}
