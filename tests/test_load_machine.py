"""The state machine of bulk loads, in the words of the Amazon States Language."""

import json
import re

import pytest

from bio_mcp.doors.aws.load_function import Step
from tests.support.aws_template import RESOURCES

STEPS = {"begin", "fetch", "survey", "list", "plan", "load", "note", "report"}
NAMES = {"LoadsAtOnce": "7", "Bucket": "bucket", "LoadFunction.Arn": "arn:aws:lambda:r:1:function:load"}
PATH = re.compile(r"\$\$?(\.[A-Za-z_]+)*")
FIELDS = {
    "Task": {"Resource", "Parameters", "ResultSelector", "ResultPath", "OutputPath", "Retry", "Catch"},
    "Map": {"Label", "ItemReader", "ItemSelector", "ItemProcessor", "MaxConcurrency", "ToleratedFailurePercentage"},
    "Choice": {"Choices", "Default"},
    "Wait": {"SecondsPath"},
    "Pass": {"Result"},
    "Fail": {"Error", "Cause"},
    "Succeed": set(),
}
FIELDS["Map"] |= {"ResultPath"}


def definition():
    """The definition as CloudFormation makes it."""
    text = RESOURCES["LoadMachine"]["Properties"]["DefinitionString"]["Fn::Sub"]
    filled = re.sub(r"\$\{([\w.:]+)\}", lambda found: NAMES.get(found[1], "aws"), text)
    return json.loads(filled)


def machines(machine, name="whole"):
    """The machine and those within it, by name."""
    yield name, machine
    for label, state in machine["States"].items():
        if "ItemProcessor" in state:
            yield from machines(state["ItemProcessor"], label)


MACHINES = dict(machines(definition()))
STATES = {f"{name} {label}": each for name, machine in MACHINES.items() for label, each in machine["States"].items()}


def targets(state):
    choices = [each["Next"] for each in state.get("Choices", []) + state.get("Catch", [])]
    return {state[key] for key in ("Next", "Default") if key in state} | set(choices)


def paths(value):
    if isinstance(value, dict):
        for name, each in value.items():
            if name.endswith((".$", "Path")) or name == "Variable":
                yield each
            else:
                yield from paths(each)
    elif isinstance(value, list):
        for each in value:
            yield from paths(each)


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_is_reached_and_leads_to_one_that_is_there(name):
    states = MACHINES[name]["States"]
    reached, waiting = set(), {MACHINES[name]["StartAt"]}
    while waiting:
        each = waiting.pop()
        reached.add(each)
        waiting |= targets(states[each]) - reached
    assert reached == states.keys()
    assert any(each["Type"] in ("Succeed", "Fail") or each.get("End") for each in states.values())


@pytest.mark.parametrize("name", STATES)
def test_a_state_has_the_fields_of_its_kind_and_one_way_on(name):
    state = STATES[name]
    assert state.keys() <= FIELDS[state["Type"]] | {"Type", "Next", "End"}
    ways = state.keys() & {"Next", "End"}
    assert len(ways) == (0 if state["Type"] in ("Choice", "Fail", "Succeed") else 1)
    assert len(name.split(" ", 1)[1]) <= 80


@pytest.mark.parametrize("name", STATES)
def test_every_path_is_one(name):
    assert all(each is None or PATH.fullmatch(each) for each in paths(STATES[name]))


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


def test_every_step_is_taken():
    assert {STATES[name]["Parameters"]["Payload"]["step"] for name in TASKS} == STEPS


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


def test_without_the_parameter_there_is_nothing_of_bulk_loads():
    loads = {name for name in RESOURCES if name.startswith("Load")}
    assert {RESOURCES[name].get("Condition") for name in loads} <= {"LoadsInBulk", "WatchesLoadsInBulk"}
    assert {"LoadFunction", "LoadMachine", "LoadMachineRole", "LoadRole", "LoadFailedAlarm"} <= loads
