"""Loads of the whole corpus: the files of a load in S3, and its runs in Step Functions."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.clients import code_of, reaching
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ports.state import Run

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

WHAT = "files of a load"
FOLDER = "load"
PIECE = 1 << 20  # bytes read at once
ABSENT = {"NoSuchKey", "404", "NotFound", "PreconditionFailed", "412"}


class S3LoadFiles:
    """The port `LoadFiles` over one bucket. A tag is S3's ETag, without its quotation marks."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def tags(self, folder: str) -> dict[str, str]:
        prefix = f"{FOLDER}/{folder.rstrip('/')}/"
        with reaching(WHAT):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            found = [each for page in pages for each in page.get("Contents", [])]
        return {each["Key"].removeprefix(prefix): each["ETag"].strip('"') for each in found}

    def get(self, key: str) -> bytes:
        with reaching(WHAT):
            try:
                with self._client.get_object(Bucket=self._bucket, Key=self.place(key))["Body"] as body:
                    return body.read()
            except ClientError as error:
                raise self._absent(error, key) from None

    def put(self, key: str, content: bytes) -> None:
        with reaching(WHAT):
            self._client.put_object(Bucket=self._bucket, Key=self.place(key), Body=content)

    def download(self, key: str, into: Path, tag: str) -> None:
        with reaching(WHAT), into.open("wb") as out:
            try:
                found = self._client.get_object(Bucket=self._bucket, Key=self.place(key), IfMatch=f'"{tag}"')
            except ClientError as error:
                raise self._absent(error, key) from None
            with found["Body"] as body:
                while piece := body.read(PIECE):
                    out.write(piece)

    def upload(self, key: str, path: Path) -> None:
        with reaching(WHAT), path.open("rb") as file:
            self._client.put_object(Bucket=self._bucket, Key=self.place(key), Body=file)

    def delete(self, key: str) -> None:
        with reaching(WHAT):
            self._client.delete_object(Bucket=self._bucket, Key=self.place(key))

    def place(self, key: str) -> str:
        return f"{FOLDER}/{key}"

    def _absent(self, error: ClientError, key: str) -> Exception:
        """A file that is gone, by its name; any other error as it is."""
        if code_of(error) in ABSENT:
            return NotFound(f"{key.rpartition('/')[2]} is not among the files of loads, or was replaced meanwhile.")
        return error


RUNS = "runs of loads"
GONE = "ExecutionDoesNotExist"


class StepFunctionsRuns:
    """The port `LoadRuns` over one state machine, by its ARN."""

    def __init__(self, client: Any, machine: str) -> None:
        self._client, self._machine = client, machine

    def start(self, given: Mapping[str, Any]) -> str:
        with reaching(RUNS):
            listed = self._client.list_executions(stateMachineArn=self._machine, statusFilter="RUNNING", maxResults=1)
            if running := listed["executions"]:
                raise Conflict(f"The load {running[0]['name']} is still running; wait for its end, or stop it first.")
            started = self._client.start_execution(stateMachineArn=self._machine, input=json.dumps(given))
        return str(started["executionArn"]).rpartition(":")[2]

    def latest(self) -> Run | None:
        with reaching(RUNS):
            listed = self._client.list_executions(stateMachineArn=self._machine, maxResults=1)["executions"]
        return self.get(listed[0]["name"]) if listed else None

    def get(self, name: str) -> Run:
        with reaching(RUNS):
            try:
                found = self._client.describe_execution(
                    executionArn=f"{self._machine.replace(':stateMachine:', ':execution:')}:{name}"
                )
            except ClientError as error:
                if code_of(error) in (GONE, "InvalidArn"):
                    raise NotFound(
                        "There is no load of this name; bio-mcp admin load status shows the latest."
                    ) from None
                raise
        ended: datetime | None = found.get("stopDate")
        return Run(name, found["status"].lower(), found["startDate"], ended, json.loads(found.get("input") or "{}"))
