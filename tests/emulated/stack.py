"""A deployed stack, as a person with its credentials sees it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import jwt

from bio_mcp.callers import SCOPES
from tests.emulated.clients import Connect, connect

T = TypeVar("T")
ANSWER_S = 120  # at most for an answer over HTTP: the first one of a function waits for its layers to be unpacked


def until(ask: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first answer that is neither None nor empty. AssertionError when none came."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, f"after {seconds:.0f} s there is still no {what}"
        time.sleep(0.2)
    return answer


def resources(to: Connect, stack: str) -> dict[str, tuple[str, str]]:
    pages = to("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    listed = [each for page in pages for each in page["StackResourceSummaries"]]
    return {each["LogicalResourceId"]: (each["ResourceType"], each["PhysicalResourceId"]) for each in listed}


@dataclass(frozen=True)
class Stack:
    name: str
    endpoint: str
    outputs: Mapping[str, str]
    secret: str

    def client(self, service: str) -> Any:
        return connect(self.endpoint)(service)

    @property
    def mcp_url(self) -> str:
        """The front door by a path, which needs no name of a host to be resolved."""
        return f"{self.endpoint}/_aws/execute-api/{self.outputs['ApiId']}/$default/mcp"

    def token(self, lives_s: int = 3600) -> str:
        claims = {"sub": "developer", "aud": self.outputs["McpUrl"], "exp": int(time.time()) + lives_s}
        claims["scope"] = " ".join(SCOPES)
        return jwt.encode(claims, self.secret, "HS256")

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """The answer of a function, by its short name. AssertionError when it failed."""
        answer = self.client("lambda").invoke(FunctionName=f"{self.name}-{function}", Payload=json.dumps(event))
        body = json.load(answer["Payload"])
        assert "FunctionError" not in answer, body
        return body

    @property
    def environment(self) -> dict[str, str]:
        """What an operator's shell sets."""
        shell = ["bash", "-c", f"{self.outputs['Environment']}\nenv -0"]
        done = subprocess.run(shell, env={}, capture_output=True, text=True, check=True)
        named = dict(each.split("=", 1) for each in done.stdout.split("\0") if "=" in each)
        known = {"AWS_ENDPOINT_URL": self.endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        return {name: each for name, each in named.items() if name not in ("PWD", "SHLVL", "_")} | known

    def command(self, *arguments: str, code: int = 0) -> Any:
        """What `bio-mcp ... --json` answers an operator of the stack. AssertionError when it ends with another code."""
        program = Path(sys.executable).with_name("bio-mcp")
        env = {**os.environ, **self.environment}
        done = subprocess.run([program, *arguments, "--json"], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def send(self, message: Mapping[str, Any] | str) -> None:
        body = message if isinstance(message, str) else json.dumps(message)
        self.client("sqs").send_message(QueueUrl=self.outputs["WorkQueueUrl"], MessageBody=body)

    def waiting(self, queue: str = "WorkQueueUrl") -> int:
        kinds = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        asked = self.client("sqs").get_queue_attributes(QueueUrl=self.outputs[queue], AttributeNames=kinds)
        return sum(int(asked["Attributes"][kind]) for kind in kinds)

    def dead(self) -> list[str]:
        asked = {"QueueUrl": self.outputs["DeadLettersUrl"], "MaxNumberOfMessages": 10, "VisibilityTimeout": 0}
        return [message["Body"] for message in self.client("sqs").receive_message(**asked).get("Messages", [])]

    @contextmanager
    def queue_closed(self, function: str) -> Iterator[None]:
        """While the block runs, `function` is given no messages."""
        functions = self.client("lambda")
        [mapping] = functions.list_event_source_mappings(FunctionName=f"{self.name}-{function}")["EventSourceMappings"]
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
        try:
            yield
        finally:
            functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)

    def end_leases(self) -> None:
        """Let every lease run out now; those of killed processes would five minutes later."""
        over = {":now": {"N": str(time.time() - 1)}}
        change = {"TableName": self.table("LeasesTable"), "UpdateExpression": "SET ends = :now"}
        for lease in self.items("LeasesTable"):
            self.client("dynamodb").update_item(**change, Key={"lease": lease["lease"]}, ExpressionAttributeValues=over)

    def errors(self, function: str) -> list[dict[str, Any]]:
        return [line for line in self.log(function) if line.get("level") == "ERROR"]

    def log(self, function: str) -> list[dict[str, Any]]:
        logs = self.client("logs")
        group = f"/aws/lambda/{self.name}-{function}"
        pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group)
        lines = [line for page in pages for event in page["events"] for line in event["message"].splitlines()]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def resources(self) -> dict[str, tuple[str, str]]:
        return resources(self.client, self.name)

    def table(self, logical_id: str) -> str:
        asked = self.client("cloudformation").describe_stack_resource
        found = asked(StackName=self.name, LogicalResourceId=logical_id)
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def items(self, logical_id: str) -> list[dict[str, Any]]:
        pages = self.client("dynamodb").get_paginator("scan").paginate(TableName=self.table(logical_id))
        return [item for page in pages for item in page["Items"]]
