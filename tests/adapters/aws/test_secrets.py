"""Secrets that AWS keeps, through a rotation."""

import boto3
import pytest
from moto import mock_aws

from bio_mcp.adapters.aws.clients import reader
from bio_mcp.errors import Misconfigured, StoreFailed
from bio_mcp.wiring.mode import stored_secret


@pytest.fixture(autouse=True)
def aws(nobody):
    with mock_aws():
        yield


def test_a_secret_and_the_one_before_are_read_as_they_rotate():
    client = boto3.client("secretsmanager")
    arn = client.create_secret(Name="bio-mcp/tokens", SecretString="one")["ARN"]
    by_name, by_arn = reader("secretsmanager:bio-mcp/tokens"), reader(f"secretsmanager:{arn}")
    assert (by_name(), by_arn()) == (("one",), ("one",))
    client.put_secret_value(SecretId=arn, SecretString="two")
    assert (by_name(), by_arn()) == (("two", "one"), ("two", "one"))
    client.put_secret_value(SecretId=arn, SecretString="three")
    assert by_name() == ("three", "two")


def test_a_parameter_and_the_one_before_are_read_as_they_rotate():
    client = boto3.client("ssm")
    read = reader("ssm:/bio-mcp/tokens")
    put = {"Name": "/bio-mcp/tokens", "Type": "SecureString", "Overwrite": True}
    seen = []
    for value in ("one", "two", "three"):
        client.put_parameter(**put, Value=value)
        seen.append(read())
    assert seen == [("one",), ("two", "one"), ("three", "two")]


def test_the_composition_root_reads_both():
    boto3.client("secretsmanager").create_secret(Name="a", SecretString="one")
    boto3.client("ssm").put_parameter(Name="a", Type="SecureString", Value="two")
    assert (stored_secret("secretsmanager:a")(), stored_secret("ssm:a")()) == (("one",), ("two",))


@pytest.mark.parametrize("reference", ["secretsmanager:absent-7", "ssm:absent-7"])
def test_a_secret_that_is_not_there_is_a_failure_that_does_not_tell_its_name(reference):
    with pytest.raises(StoreFailed, match=r"could not be read \(\w+\)") as failed:
        reader(reference)()
    assert failed.value.retryable
    assert "absent-7" not in str(failed.value)


def test_a_secret_of_bytes_and_an_aws_that_cannot_be_reached_are_failures(monkeypatch):
    boto3.client("secretsmanager").create_secret(Name="b", SecretBinary=b"one")
    with pytest.raises(StoreFailed):
        reader("secretsmanager:b")()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StoreFailed, match="EndpointConnectionError"):
        reader("ssm:a")()


@pytest.mark.parametrize("reference", ["", "ssm", "ssm:", "secretsmanager:", "s3:bucket", "a secret"])
def test_another_reference_is_refused(reference):
    with pytest.raises(Misconfigured, match="secretsmanager:NAME or ssm:NAME"):
        reader(reference)
