"""The state machine of bulk loads, in Amazon States Language: its steps are those of functions/load.

A Distributed Map takes a step for each of a thousand files, so many at once. What fails is tried again, at growing
distances; what fails still is noted, and the others go on.
"""

import json
from typing import Any

from scripts.template.blocks import block

FUNCTION = "${LoadFunction.Arn}"
RUN = "$$.Execution.Name"
FETCHES = "3"  # at once: NCBI's files have no limit but politeness
AT_ONCE = "${LoadsAtOnce}"
BUSY = {  # Lambda has no room, which costs nothing and passes
    "ErrorEquals": ["Lambda.TooManyRequestsException"],
    "IntervalSeconds": 30,
    "MaxAttempts": 50,
    "BackoffRate": 1.5,
    "MaxDelaySeconds": 300,
    "JitterStrategy": "FULL",
}
FAILED = {
    "ErrorEquals": ["States.ALL"],
    "IntervalSeconds": 5,
    "MaxAttempts": 6,
    "BackoffRate": 2,
    "MaxDelaySeconds": 300,
    "JitterStrategy": "FULL",
}
State = dict[str, Any]


def definition() -> State:
    """The state machine. A number that a parameter gives stands as text until it is rendered."""
    states = {
        "Begin": _task({"step": "begin", "run.$": RUN, "given.$": "$"}, "$.fetching") | {"Next": "Any to fetch?"},
        "Any to fetch?": _if_any("$.fetching.count", "Fetch", "Survey"),
        "Fetch": _for_each("fetch", "$.fetching.key", FETCHES) | {"Next": "Survey"},
        "Survey": _task({"step": "survey", "run.$": RUN}, "$.listing") | {"Next": "Any to list?"},
        "Any to list?": _if_any("$.listing.count", "List", "Plan"),
        "List": _for_each("list", "$.listing.key", AT_ONCE) | {"Next": "Plan"},
        "Plan": _task({"step": "plan", "run.$": RUN, "given.$": "$"}, "$.loading") | {"Next": "Any to load?"},
        "Any to load?": _if_any("$.loading.count", "Load", "Report"),
        "Load": _for_each("load", "$.loading.key", AT_ONCE) | {"Next": "Report"},
        "Report": _task({"step": "report", "run.$": RUN}, "$.report") | {"Next": "Any that failed?"},
        "Any that failed?": _if_any("$.report.failed", "Files failed", "Loaded"),
        "Files failed": {"Type": "Fail", "Error": "FilesFailed", "Cause": "bio-mcp admin load status names them"},
        "Loaded": {"Type": "Succeed"},
    }
    return {"Comment": "All of PubMed, file by file", "StartAt": "Begin", "States": states}


def definition_string() -> str:
    """The property of the state machine that has the definition, as YAML; CloudFormation fills in what it names."""
    text = json.dumps(definition(), separators=(",", ":")).replace(f'"{AT_ONCE}"', AT_ONCE)
    return block({"DefinitionString": "!Sub '{}'".format(text.replace("'", "''"))}, 6)


def _task(payload: State, into: str) -> State:
    """A step of the function. Its answer is put into the state at `into`."""
    return {
        "Type": "Task",
        "Resource": "arn:${AWS::Partition}:states:::lambda:invoke",
        "Parameters": {"FunctionName": FUNCTION, "Payload": payload},
        "ResultSelector": {"answer.$": "$.Payload"},
        "ResultPath": into,
        "Retry": [BUSY, FAILED],
    }


def _if_any(path: str, some: str, none: str) -> State:
    path = f"{path.rpartition('.')[0]}.answer.{path.rpartition('.')[2]}"
    return {
        "Type": "Choice",
        "Choices": [{"Variable": path, "NumericGreaterThan": 0, "Next": some}],
        "Default": none,
    }


def _for_each(step: str, manifest: str, at_once: str) -> State:
    """A Distributed Map of a step over the files that a manifest in the bucket lists. It fails for no file."""
    return {
        "Type": "Map",
        "Label": step,
        "ItemReader": {
            "Resource": "arn:${AWS::Partition}:states:::s3:getObject",
            "ReaderConfig": {"InputType": "JSON"},
            "Parameters": {"Bucket": "${Bucket}", "Key.$": manifest.replace(".key", ".answer.key")},
        },
        "ItemSelector": {"run.$": RUN, "item.$": "$$.Map.Item.Value"},
        "ItemProcessor": {
            "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
            "StartAt": "Take",
            "States": _of_file(step),
        },
        "MaxConcurrency": int(at_once) if at_once.isdecimal() else at_once,
        "ToleratedFailurePercentage": 100,
        "ResultPath": None,
    }


def _of_file(step: str) -> dict[str, State]:
    """The states of one file: slices until it is done, pauses where the index is busy, a note where it fails."""
    payload = {"step": step, "run.$": "$.run", "item.$": "$.item"}
    note = {"step": "note", "stage": step, "run.$": "$.run", "item.$": "$.item", "end.$": "$"}
    take = _task(payload, "$") | {"OutputPath": "$.answer", "Next": "Done?"}
    caught = {"ErrorEquals": ["States.ALL"], "ResultPath": "$.failure", "Next": "Note"}
    return {
        "Take": take | {"Catch": [caught]},
        "Done?": {
            "Type": "Choice",
            "Choices": [
                {"Variable": "$.state", "StringEquals": "more", "Next": "Take"},
                {"Variable": "$.state", "StringEquals": "wait", "Next": "Pause"},
                {"Variable": "$.state", "StringEquals": "failed", "Next": "Note"},
            ],
            "Default": "Done",
        },
        "Pause": {"Type": "Wait", "SecondsPath": "$.wait_s", "Next": "Take"},
        "Note": _task(note, "$") | {"Next": "Done"},
        "Done": {"Type": "Pass", "Result": {}, "End": True},  # what a thousand files return stands in one answer
    }
