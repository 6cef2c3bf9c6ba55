"""The contract suites of passages and sealing over an index in the emulator's S3, with a lease in its DynamoDB."""

from uuid import uuid4

import pytest

from bio_mcp.adapters.aws.s3_index import IndexObjects
from tests.adapters.ports.test_passages import *  # noqa: F403  the very same tests
from tests.adapters.ports.test_sealing import *  # noqa: F403
from tests.support.aws_ports import NOBODY, AwsPorts, client
from tests.support.published import PublishedPorts


@pytest.fixture
def ports(endpoint, clock, monkeypatch, tmp_path):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    s3, bucket = client("s3", endpoint), f"t{uuid4().hex[:12]}"
    s3.create_bucket(Bucket=bucket)
    leases = AwsPorts(endpoint=endpoint).leases
    made = PublishedPorts(tmp_path, clock, lambda name: IndexObjects(s3, bucket, name), leases)
    yield made
    made.close()
