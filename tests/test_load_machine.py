"""The state machine of bulk loads; `tests/all/test_load_machine.py` holds it against the States Language."""

import json
import re

import pytest

from bio_mcp.doors.aws.load_function import Step
from tests.support.aws_template import RESOURCES

STEPS = {"begin", "fetch", "survey", "list", "plan", "load", "note", "report"}
NAMES = {"LoadsAtOnce": "7", "Bucket": "bucket", "LoadFunction.Arn": "arn:aws:lambda:r:1:function:load"}


def definition():
    text = RESOURCES["LoadMachine"]["Properties"]["DefinitionString"]["Fn::Sub"]
    filled = re.sub(r"\$\{([\w.:]+)\}", lambda found: NAMES.get(found[1], "aws"), text)
    return json.loads(filled)


def machines(machine, name="whole"):
    yield name, machine
    for label, state in machine["States"].items():
        if "ItemProcessor" in state:
            yield from machines(state["ItemProcessor"], label)


MACHINES = dict(machines(definition()))
STATES = {f"{name} {label}": each for name, machine in MACHINES.items() for label, each in machine["States"].items()}


TASKS = [name for name, each in STATES.items() if each["Type"] == "Task"]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_calls_the_function_with_a_step_that_it_takes_and_is_tried_again_later_and_later(name):
    state = STATES[name]
    assert state["Resource"] == "arn:aws:states:::lambda:invoke"
    given = state["Parameters"]
    assert given["FunctionName"] == NAMES["LoadFunction.Arn"]
    payload = {key.removesuffix(".$"): {} for key in given["Payload"] if key.endswith(".$") and key != "run.$"}
    fixed = {key: each for key, each in given["Payload"].items() if not key.endswith(".$")}
    Step.model_validate(payload | fixed | {"run": "r"})
    assert state["Retry"][-1]["ErrorEquals"] == ["States.ALL"]
    assert all(each["MaxAttempts"] > 3 and each["BackoffRate"] > 1 for each in state["Retry"])


MAPS = {name: each for name, each in STATES.items() if each["Type"] == "Map"}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_distributed_fails_for_no_file_and_returns_little(name):
    state = MAPS[name]
    assert state["ItemProcessor"]["ProcessorConfig"] == {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    assert state["ToleratedFailurePercentage"] == 100
    assert state["ItemProcessor"]["States"]["Done"]["Result"] == {}
    assert state["ItemReader"]["ReaderConfig"] == {"InputType": "JSON"}
    [caught] = state["ItemProcessor"]["States"]["Take"]["Catch"]
    assert (caught["ErrorEquals"], caught["Next"]) == (["States.ALL"], "Note")


def test_as_many_files_are_loaded_at_once_as_the_parameter_says_and_ncbi_is_asked_for_three():
    assert {each["Label"]: each["MaxConcurrency"] for each in MAPS.values()} == {"fetch": 3, "list": 7, "load": 7}


def test_every_step_is_taken_and_without_the_parameter_there_is_nothing_of_bulk_loads():
    assert {STATES[name]["Parameters"]["Payload"]["step"] for name in TASKS} == STEPS
    loads = {name for name in RESOURCES if name.startswith("Load")}
    assert {RESOURCES[name].get("Condition") for name in loads} <= {"LoadsInBulk", "WatchesLoadsInBulk"}
    assert {"LoadFunction", "LoadMachine", "LoadMachineRole", "LoadRole", "LoadFailedAlarm"} <= loads
