"""The runs of bulk loads, as executions of a state machine of Step Functions."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ports.loading import Run

WHAT = "runs of loads"
GONE = "ExecutionDoesNotExist"


class StepFunctionsRuns:
    """The port `LoadRuns` over one state machine, by its ARN."""

    def __init__(self, client: Any, machine: str) -> None:
        self._client, self._machine = client, machine

    def start(self, given: Mapping[str, Any]) -> str:
        with reaching(WHAT):
            listed = self._client.list_executions(stateMachineArn=self._machine, statusFilter="RUNNING", maxResults=1)
            if running := listed["executions"]:
                raise Conflict(f"The load {running[0]['name']} is still running; wait for its end, or stop it first.")
            started = self._client.start_execution(stateMachineArn=self._machine, input=json.dumps(given))
        return _name(started["executionArn"])

    def latest(self) -> Run | None:
        with reaching(WHAT):
            listed = self._client.list_executions(stateMachineArn=self._machine, maxResults=1)["executions"]
        return self.get(listed[0]["name"]) if listed else None

    def get(self, name: str) -> Run:
        with reaching(WHAT):
            try:
                found = self._client.describe_execution(executionArn=self._execution(name))
            except ClientError as error:
                if code_of(error) in (GONE, "InvalidArn"):
                    raise NotFound("There is no load of this name; bio-mcp load status shows the latest.") from None
                raise
        ended: datetime | None = found.get("stopDate")
        return Run(name, found["status"].lower(), found["startDate"], ended, json.loads(found.get("input") or "{}"))

    def _execution(self, name: str) -> str:
        return f"{self._machine.replace(':stateMachine:', ':execution:')}:{name}"


def _name(execution: str) -> str:
    return execution.rpartition(":")[2]
