"""The runs of bulk loads, as Step Functions tells them."""

import json

import pytest

from bio_mcp.adapters.aws.loading import StepFunctionsRuns
from bio_mcp.errors import Conflict, NotFound, StoreFailed
from tests.support.aws_ports import client

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


def test_there_is_no_run_at_first(runs):
    assert runs.latest() is None


def test_a_run_is_given_what_it_was_started_with(runs):
    name = runs.start({"fetch": True, "again": False})
    run = runs.get(name)
    assert (run.name, run.state, run.ended, run.given) == (name, "running", None, {"fetch": True, "again": False})
    assert runs.latest() == run


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
        StepFunctionsRuns(client("stepfunctions"), "arn:aws:states:us-east-1:123456789012:stateMachine:x").latest()
