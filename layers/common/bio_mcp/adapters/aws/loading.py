"""Loads of the whole corpus: the files of a load in S3, and its runs in Step Functions."""

import json
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.clients import get_object, objects_in, reaching
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ports.state import Run

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

WHAT = "files of a load"
FOLDER = "load"
PIECE = 1 << 20  # bytes read at once


@dataclass(frozen=True, slots=True)
class S3LoadFiles:
    """The port `LoadFiles` over one bucket. A tag is S3's ETag, without its quotation marks."""

    client: "S3Client"
    bucket: str

    def tags(self, folder: str) -> dict[str, str]:
        prefix = f"{FOLDER}/{folder.rstrip('/')}/"
        with reaching(WHAT):
            found = objects_in(self.client, self.bucket, prefix)
            return {each["Key"].removeprefix(prefix): each["ETag"].strip('"') for each in found}

    def get(self, key: str) -> bytes:
        with reaching(WHAT):
            return self._opened(key)["Body"].read()

    def _opened(self, key: str, **only: str) -> "GetObjectOutputTypeDef":
        gone = NotFound(f"{key.rpartition('/')[2]} is not among the files of loads, or was replaced meanwhile.")
        return get_object(self.client, self.bucket, f"{FOLDER}/{key}", WHAT, gone, **only)

    def put(self, key: str, content: bytes | Path) -> str:
        place = f"{FOLDER}/{key}"
        with reaching(WHAT), content.open("rb") if isinstance(content, Path) else nullcontext(content) as body:
            self.client.put_object(Bucket=self.bucket, Key=place, Body=body)
        return place

    def download(self, key: str, into: Path, tag: str) -> None:
        with reaching(WHAT), into.open("wb") as out, self._opened(key, IfMatch=f'"{tag}"')["Body"] as body:
            shutil.copyfileobj(body, out, PIECE)

    def delete(self, key: str) -> None:
        with reaching(WHAT):
            self.client.delete_object(Bucket=self.bucket, Key=f"{FOLDER}/{key}")


RUNS = "runs of loads"


@dataclass(frozen=True, slots=True)
class StepFunctionsRuns:
    """The port `LoadRuns` over one state machine, by its ARN."""

    client: Any
    machine: str

    def start(self, given: Mapping[str, Any]) -> str:
        with reaching(RUNS):
            listed = self.client.list_executions(stateMachineArn=self.machine, statusFilter="RUNNING", maxResults=1)
            if running := listed["executions"]:
                raise Conflict(f"The load {running[0]['name']} is still running; wait for its end, or stop it first.")
            started = self.client.start_execution(stateMachineArn=self.machine, input=json.dumps(given))
        return str(started["executionArn"]).rpartition(":")[2]

    def get(self, name: str = "") -> Run | None:
        gone = NotFound("There is no load of this name; bio-mcp admin load status shows the latest.")
        with reaching(RUNS, gone):
            if not name:
                listed = self.client.list_executions(stateMachineArn=self.machine, maxResults=1)["executions"]
                if not listed:
                    return None
                name = listed[0]["name"]
            found = self.client.describe_execution(
                executionArn=f"{self.machine.replace(':stateMachine:', ':execution:')}:{name}"
            )
        ended: datetime | None = found.get("stopDate")
        return Run(name, found["status"].lower(), found["startDate"], ended, json.loads(found.get("input") or "{}"))
