"""What DynamoDB's 400 KB do not hold is stored in the bucket, and nothing is lost."""

from datetime import UTC, datetime

import numpy as np
import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.literature.records import AbstractSection, Article, Document
from bio_mcp.ports.state import Job
from tests.support.aws_ports import client

LONG = np.random.default_rng(1).bytes(600_000).hex()  # 1,200,000 letters that no compression brings below 400 KB
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def document(text, version=1):
    return Document(Article("1", title="T", abstract=(AbstractSection(None, None, text),)), f"hash{version}", version)


def stored(ports):
    found = client("s3").list_objects_v2(Bucket=f"{ports.prefix}-bucket").get("Contents", [])
    return [each["Key"] for each in found]


def test_a_paper_of_any_length_comes_back_equal_and_one_of_usual_length_needs_no_bucket(ports):
    ports.documents.put([document("short", 0)])
    assert ports.documents.get("1") == document("short", 0)
    assert "blobs" not in vars(ports)  # the bucket is made when a value asks for it
    ports.documents.put([document(LONG)])
    assert ports.documents.get("1") == document(LONG)
    [key] = stored(ports)
    assert key.startswith("articles/")


@pytest.mark.parametrize(("before", "after"), [(LONG, "short"), ("short", LONG)])
def test_a_new_version_of_another_length_replaces_the_old_one_whole(ports, before, after):
    ports.documents.put([document(before)])
    ports.documents.put([document(after, 2)])
    assert ports.documents.get("1") == document(after, 2)
    assert ports.documents.count() == 1


def test_heads_are_read_without_the_bucket(ports):
    ports.documents.put([document(LONG)])
    for key in stored(ports):
        client("s3").delete_object(Bucket=f"{ports.prefix}-bucket", Key=key)
    assert ports.documents.heads(["1"])["1"].version == 1
    with pytest.raises(StoreFailed, match="lost its text") as failed:
        ports.documents.get("1")
    assert not failed.value.retryable


def test_a_file_that_was_changed_in_the_bucket_is_refused(ports):
    key = ports.blobs.put("reports", b"whole")
    client("s3").put_object(Bucket=f"{ports.prefix}-bucket", Key=key, Body=b"whol")
    with pytest.raises(StoreFailed, match="damaged"):
        ports.blobs.get(key)


def test_a_job_with_a_cursor_of_any_length_comes_back_equal(ports):
    job = Job("a", "sync", "running", NOON, NOON, {"query_key": "q"}, {"pmids": LONG})
    ports.jobs.put(job)
    assert ports.jobs.get("a") == ports.jobs.latest("sync", "q") == job
