"""The steps of bulk loads as a Lambda function, which a state machine of Step Functions calls.

An event names a step, its run, and what it is given: `{"step": "load", "run": NAME, "item": {...}}`.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from bio_mcp import wiring
from bio_mcp.deadline import Deadline
from bio_mcp.doors.aws.queues import left_s
from bio_mcp.doors.aws.tool_function import Handler, log_as_json, trace_calls
from bio_mcp.errors import Failure
from bio_mcp.settings import Settings
from bio_mcp.tool import Request

if TYPE_CHECKING:
    from bio_mcp.syncing.bulk_load import Loading


class Step(Request):
    """A step. `given` is what the run was started with, `end` what is known of a file's end that is to be noted."""

    step: Literal["begin", "fetch", "survey", "list", "plan", "load", "note", "report"]
    run: str = Field(pattern=r"^[A-Za-z0-9_-]{1,80}$")
    item: dict[str, Any] = Field(default_factory=dict)
    given: dict[str, Any] = Field(default_factory=dict)
    stage: str = ""
    end: dict[str, Any] = Field(default_factory=dict)


def load_handler(loading: Callable[[Deadline], "Loading"] = wiring.loading) -> Handler:
    """The handler. A failure is raised, and Step Functions tries again; one of a file that no repetition mends is the
    answer, so that the file is noted and the others go on."""
    trace_calls()
    logger = log_as_json(Settings.from_env().log_level)

    @logger.inject_lambda_context
    def handler(event: Any, context: Any) -> dict[str, Any]:
        step = Step.model_validate(event)
        logger.append_keys(run=step.run, step=step.step, file=step.item.get("name"))
        return _taken(step, loading(Deadline(left_s(context.get_remaining_time_in_millis))))

    return handler


def _taken(step: Step, loading: "Loading") -> dict[str, Any]:
    again = bool(step.given.get("again"))
    match step.step:
        case "begin":
            return loading.begin(step.run, fetch=bool(step.given.get("fetch")), again=again)
        case "survey":
            return loading.survey(step.run)
        case "plan":
            return loading.plan(step.run, again=again)
        case "report":
            return loading.report(step.run)
        case "note":
            return loading.note(step.run, step.item["name"], step.stage, _reason(step.end))
    return {"run": step.run, "item": step.item, "wait_s": 0} | _taken_for_file(step, loading)


def _taken_for_file(step: Step, loading: "Loading") -> dict[str, Any]:
    """The answer of a step of one file. It is the input of the next slice of the file, where there is one."""
    try:
        match step.step:
            case "fetch":
                return loading.fetch_file(step.item["address"])
            case "list":
                return loading.list_file(step.item["name"], step.item["tag"], has_md5=step.item["has_md5"])
        return loading.load_file(step.run, **step.item)
    except Failure as failure:
        if failure.retryable:
            raise
        return {"state": "failed", "reason": str(failure)}


def _reason(end: dict[str, Any]) -> str:
    """Our own sentence, or the kind of end that Step Functions reports; never the output of a function."""
    if end.get("state") == "failed":
        return str(end.get("reason"))
    kind = re.sub(r"[^A-Za-z.]", "", str(end.get("failure", {}).get("Error", "")))[:100]
    return f"the function ended ({kind or 'unknown'}), also when it was tried again"
