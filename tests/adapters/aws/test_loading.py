"""Bulk loads on AWS: the files of a load in S3, and its runs as Step Functions tells them."""

import json

import pytest

from bio_mcp.adapters.aws.loading import S3LoadFiles, StepFunctionsRuns
from bio_mcp.errors import Conflict, NotFound, StoreFailed
from tests.support.aws_ports import client


@pytest.fixture
def files(ports):
    bucket = client("s3")
    bucket.create_bucket(Bucket="loads")
    return S3LoadFiles(bucket, "loads")


def test_a_folder_lists_names_with_tags_that_differ_when_the_content_does(files):
    assert files.tags("files") == {}
    files.put("files/one", b"1")
    files.put("files/two", b"2")
    files.put("other/three", b"3")
    before = files.tags("files")
    assert list(before) == ["one", "two"]
    files.put("runs/r/failed/one", b"1")
    assert list(files.tags("runs/r/")) == ["failed/one"]
    files.put("files/one", b"another")
    after = files.tags("files/")
    assert after["one"] != before["one"]
    assert after["two"] == before["two"]


def test_a_put_replaces_and_a_delete_twice_is_one(files):
    files.put("a/b", b"1")
    files.put("a/b", b"2")
    assert files.get("a/b") == b"2"
    for _ in range(2):
        files.delete("a/b")
        assert files.tags("a") == {}


def test_a_file_is_downloaded_as_it_was_when_it_was_listed(files, tmp_path):
    path, content = tmp_path / "file", bytes(range(256)) * 8192
    (tmp_path / "given").write_bytes(content)
    assert files.put("files/one", tmp_path / "given") == "load/files/one"
    tag = files.tags("files")["one"]
    files.download("files/one", path, tag)
    assert path.read_bytes() == content
    files.put("files/one", b"another")
    with pytest.raises(NotFound, match="one is not among the files of loads"):
        files.download("files/one", path, tag)


def test_a_file_that_is_not_there_is_reported_by_its_name(files, tmp_path):
    with pytest.raises(NotFound, match="one is not among"):
        files.get("files/one")
    with pytest.raises(NotFound, match="one is not among"):
        files.download("files/one", tmp_path / "x", "tag")


def test_a_bucket_that_is_not_there_is_no_empty_folder(ports):
    with pytest.raises(StoreFailed):
        S3LoadFiles(client("s3"), "nobodys").tags("files")


ROLE = "arn:aws:iam::123456789012:role/any"
ANY = json.dumps({"StartAt": "End", "States": {"End": {"Type": "Succeed"}}})


@pytest.fixture
def machine(ports):
    return client("stepfunctions").create_state_machine(name="load", definition=ANY, roleArn=ROLE)["stateMachineArn"]


@pytest.fixture
def runs(machine):
    return StepFunctionsRuns(client("stepfunctions"), machine)


def stop(machine, name):
    client("stepfunctions").stop_execution(executionArn=f"{machine.replace('stateMachine', 'execution')}:{name}")


def test_there_is_no_run_at_first_and_then_one_of_what_it_was_started_with(runs):
    assert runs.get() is None
    name = runs.start({"fetch": True, "again": False})
    run = runs.get(name)
    assert (run.name, run.state, run.ended, run.given) == (name, "running", None, {"fetch": True, "again": False})
    assert runs.get() == run


def test_a_second_run_waits_for_the_end_of_the_first(runs, machine):
    name = runs.start({})
    with pytest.raises(Conflict, match=f"{name} is still running"):
        runs.start({})
    stop(machine, name)
    assert runs.get(name).state == "aborted"
    assert runs.get(name).ended
    assert runs.start({}) != name


@pytest.mark.parametrize("name", ["nothing", "../other"])
def test_a_name_of_no_run_is_reported(runs, name):
    with pytest.raises(NotFound, match="no load of this name"):
        runs.get(name)


def test_a_machine_that_is_not_there_is_no_machine_without_runs(ports):
    with pytest.raises(StoreFailed):
        StepFunctionsRuns(client("stepfunctions"), "arn:aws:states:us-east-1:123456789012:stateMachine:x").get()
