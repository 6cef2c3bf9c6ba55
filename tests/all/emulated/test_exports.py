"""An exported file of the deployed stack that is gone, and one that may not be read."""

import json

import pytest

pytestmark = pytest.mark.timeout(240)
PMID = "17727691"
DENIED = {"Version": "2012-10-17", "Statement": {"Effect": "Deny", "Action": "s3:*", "Resource": "*"}}


@pytest.fixture(scope="module")
def exported(up):
    """The key of an exported file in the bucket, and what reads it."""
    given = up.stack.invoke("exports", {"tool": "exportPapers", "arguments": {"pmids": [PMID], "format": "ris"}})
    listed = up.stack.client("s3").list_objects_v2(Bucket=up.stack.outputs["Bucket"], Prefix="exports/")["Contents"]
    [key] = [each["Key"] for each in listed if each["Key"].endswith(".ris")]
    return key, lambda: up.stack.invoke("exports", {"resource": given["file"]["uri"]})


def test_a_file_that_may_not_be_read_is_no_file_that_has_expired(up, exported):
    _, read = exported
    assert "TI  - " in read()["text"]
    role, iam = up.stack.resources()["ExportsRole"][1], up.stack.client("iam")
    iam.put_role_policy(RoleName=role, PolicyName="denied", PolicyDocument=json.dumps(DENIED))
    failed = read()["error"]
    iam.delete_role_policy(RoleName=role, PolicyName="denied")
    assert "check its AWS credentials" in failed["message"]
    assert "TI  - " in read()["text"]


def test_a_file_that_is_gone_has_expired(up, exported):
    key, read = exported
    up.stack.client("s3").delete_object(Bucket=up.stack.outputs["Bucket"], Key=key)
    assert "this file has expired; export again" in read()["error"]["message"]
