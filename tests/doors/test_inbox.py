"""What S3 says of a file in the inbox, as the call that ingests it."""

import json
from pathlib import Path

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.aws.queues import call_for
from bio_mcp.errors import InvalidInput

ROOT = Path(__file__).parents[2]


def put(key, bucket="papers"):
    """The event that EventBridge hands on; keys stand in it as they are, not URL-encoded."""
    return {
        "version": "0",
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "account": "111122223333",
        "time": "2026-11-22T08:00:00Z",
        "region": "eu-central-1",
        "resources": [f"arn:aws:s3:::{bucket}"],
        "detail": {
            "version": "0",
            "bucket": {"name": bucket},
            "object": {"key": key, "size": 5, "etag": "b1946ac92492d2347c6235b4d2611184", "sequencer": "00"},
            "request-id": "N4N7GDK58NMKJ12R",
            "requester": "111122223333",
            "reason": "PutObject",
        },
    }


@pytest.mark.parametrize(
    ("key", "project"),
    [
        ("inbox/notes/paper.pdf", "notes"),
        ("inbox/lab/heart-failure/paper.pdf", "lab/heart-failure"),
        ("inbox/lab/a/b/Zwei Wörter + 100% #1?.pdf", "lab/a/b"),
        ("inbox/lab/%41.pdf", "lab"),
        ("inbox/inbox/x.pdf", "inbox"),
    ],
)
def test_the_folder_is_the_project_and_the_key_stays_as_it_is(key, project):
    arguments = {"project": project, "source": f"s3://papers/{key}"}
    assert call_for(put(key)) == {"tool": "ingest_from_source", "arguments": arguments}


def test_the_event_of_the_repository_is_a_call_that_its_tool_takes():
    [record] = json.loads((ROOT / "events/ingest/inbox.json").read_text())["Records"]
    call = call_for(json.loads(record["body"]))
    request = TOOLS[call["tool"]].input.model_validate(call["arguments"])
    assert (request.project, request.source[-27:]) == ("lab/heart-failure", "Statins in adults (2024).pdf"[-27:])


@pytest.mark.parametrize("key", ["inbox/", "inbox/lab/", "inbox/lab/heart-failure/"])
def test_a_folder_that_a_console_made_is_nothing_to_ingest(key):
    assert call_for(put(key)) is None


@pytest.mark.parametrize("key", ["inbox/paper.pdf", "articles/lab/paper.pdf", "inboxes/lab/paper.pdf", "paper.pdf"])
def test_a_key_without_a_project_is_refused(key):
    with pytest.raises(InvalidInput, match="folder that has the project's id"):
        call_for(put(key))


@pytest.mark.parametrize(
    "change",
    [
        {"detail-type": "Object Deleted"},
        {"detail": {}},
        {"detail": {"bucket": {"name": "papers"}, "object": {}}},
        {"detail": {"bucket": {"name": 7}, "object": {"key": "inbox/a/b"}}},
        {"detail": None},
    ],
)
def test_what_else_s3_says_is_refused(change):
    with pytest.raises(InvalidInput, match="not that an object was created"):
        call_for(put("inbox/lab/paper.pdf") | change)


@pytest.mark.parametrize("event", [{"tool": "x", "arguments": {}}, [], None, "text", {"source": "another"}])
def test_any_other_event_is_left_as_it_is(event):
    assert call_for(event) == event


def test_a_call_says_the_same_of_a_second_announcement():
    again = json.loads(json.dumps(put("inbox/lab/paper.pdf"))) | {"id": "another", "time": "2026-11-22T09:00:00Z"}
    assert call_for(again) == call_for(put("inbox/lab/paper.pdf"))
