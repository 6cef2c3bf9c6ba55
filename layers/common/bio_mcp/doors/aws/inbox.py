"""Files that were put into the inbox of the stack's bucket, as calls of the tool that ingests them.

S3 announces each to EventBridge, and a rule hands the event to the queue as it is. A file's key is
`inbox/<project>/<file>`: the id of the project may have slashes, the name of the file has none.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.run import TOOL

INBOX = "inbox/"


class _Bucket(BaseModel):
    name: str


class _Object(BaseModel):
    key: str


class _Detail(BaseModel):
    bucket: _Bucket
    object: _Object


class _Created(BaseModel):
    detail: _Detail
    detail_type: str = Field(alias="detail-type", pattern="^Object Created$")


def is_folder(event: Any) -> bool:
    """Whether the event is that somebody made a folder, which has nothing in it to ingest."""
    return _from_s3(event) and _created(event).object.key.endswith("/")


def call_for(event: Any) -> Any:
    """The call that an event of S3 stands for; any other event as it is.

    Raises `InvalidInput` for a key that names no project.
    """
    if not _from_s3(event):
        return event
    created = _created(event)
    key = created.object.key
    project, _, _ = key.removeprefix(INBOX).rpartition("/")
    if not key.startswith(INBOX) or not project:
        raise InvalidInput(f"a file for a project is put below {INBOX}, in a folder that has the project's id as name")
    return {"tool": TOOL, "arguments": {"project": project, "source": f"s3://{created.bucket.name}/{key}"}}


def _from_s3(event: Any) -> bool:
    return isinstance(event, Mapping) and event.get("source") == "aws.s3"


def _created(event: Any) -> _Detail:
    try:
        return _Created.model_validate(event).detail
    except ValidationError:
        raise InvalidInput("what S3 says is not that an object was created") from None
