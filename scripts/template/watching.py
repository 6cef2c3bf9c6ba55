"""What the template watches of the functions: the failures that their logs name, their alarms, the dashboard's lines.

What every function has is said once: `loops`. `alarms` has those of one function that cannot be said so.
"""

import json
import re
from collections.abc import Sequence

from scripts.template.blocks import Value
from scripts.template.functions import Function
from scripts.template.loops import loop

CALLERS_FAULT = ("VALIDATION", "INVALID_ARG", "NOT_FOUND", "INVALID_PROJECT", "HYBRID_NOT_SUPPORTED")
OURS = ['$.message = "call"', '$.status = "error"', *(f'$.code != "{code}"' for code in CALLERS_FAULT)]
OURS.append('$.failure != "BudgetSpent"')  # its code is also that of NCBI's limits
ACTIONS = "!If [HasTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]"
SERIES = re.compile(r'\[\["AWS/Lambda","(\w+)",.*?\]\]')
NAME, DURATION = "!FindInMap [Functions, !Ref Id, Name]", "!FindInMap [Functions, !Ref Id, Duration]"
EACH = '{ Ref: !Sub "${Id}Function" }'
MEANS = {  # and the section of the runbook that says what to do
    "Errors": "crashed or timed out. docs/runbook.md#a-function-crashes",
    "Throttles": "was refused for want of concurrency. docs/runbook.md#a-function-is-refused",
    "Duration": "is close to its time-out. docs/runbook.md#a-function-is-slow",
}
KEY = "!If [HasKey, !Ref KmsKeyArn, !Ref AWS::NoValue]"
LOGS = {"Type": "AWS::Logs::LogGroup", "DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}


def table(functions: Sequence[Function]) -> dict[str, Value]:
    """The name of each function and the milliseconds of its alarm, by logical id."""
    return {"Functions": {each.id: f"{{ Name: {each.name}, Duration: {each.alarm_ms} }}" for each in functions}}


def loops(functions: Sequence[Function]) -> dict[str, Value]:
    """Logs, failures and alarms of the functions."""
    always = [each for each in functions if not each.only]
    named = [each for each in always if not each.image]
    watched = {
        "Errors": [each for each in named if not each.is_endpoint],
        "Throttles": named,
        "Duration": [each for each in named if each.alarm_ms],
    }
    return {
        **loop(
            "Logs",
            _ids(always),
            {"${Id}Logs": logs(f'!Sub ["/aws/lambda/${{AWS::StackName}}-${{Name}}", {{ Name: {NAME} }}]')},
        ),
        **loop("Failures", _ids([each for each in functions if each.offered]), {"${Id}FailuresMetric": _failures()}),
        **{
            name: each
            for metric, those in watched.items()
            for name, each in loop(metric, _ids(those), {f"${{Id}}{metric}Alarm": _of_each(metric)}).items()
        },
    }


def _ids(functions: Sequence[Function]) -> list[str]:
    return [each.id for each in functions]


def logs(name: str) -> dict[str, Value]:
    """A group of logs of this name, as YAML."""
    return {**LOGS, "Properties": {"LogGroupName": name, "KmsKeyId": KEY, "RetentionInDays": "!Ref LogRetentionDays"}}


def _failures() -> Value:
    """The count of the failures in its log that are not the caller's fault."""
    pattern = " && ".join(f"({each})" for each in OURS)
    counted = '{ MetricNamespace: !Ref AWS::StackName, MetricName: ToolFailures, MetricValue: "1", DefaultValue: 0 }'
    properties: Value = {
        "LogGroupName": '{ Ref: !Sub "${Id}Logs" }',
        "FilterPattern": f"'{{ {pattern} }}'",
        "MetricTransformations": [counted],
    }
    return {"Type": "AWS::Logs::MetricFilter", "Properties": properties}


def alarms(function: Function) -> dict[str, Value]:
    """The alarms of a function that there is not always, or whose name depends on a parameter.

    And the endpoint's errors, which take a new version back, so that `Monitoring=basic` has that alarm too.
    """
    found = []
    if function.only or function.image:
        watched = {"Condition": f"Watches{function.declared.get('condition', 'All')}"}
        found = [("Errors", watched), ("Throttles", watched), *([("Duration", watched)] if function.alarm_ms else [])]
    elif function.is_endpoint:
        found = [("Errors", {})]
    return {f"{function.id}{metric}Alarm": only | _of(function, metric) for metric, only in found}


def _of_each(metric: str) -> dict[str, Value]:
    return {
        "Condition": "WatchesAll",
        **_alarm(metric, f'!Sub ["${{Name}} {MEANS[metric]}", {{ Name: {NAME} }}]', EACH, DURATION),
    }


def _of(function: Function, metric: str) -> dict[str, Value]:
    return _alarm(metric, f'"{function.name} {MEANS[metric]}"', function.ref, f"{function.alarm_ms}")


def _alarm(metric: str, description: str, function: str, duration: str) -> dict[str, Value]:
    """Errors and throttles ring from the first on, and calls that are close to the time-out."""
    statistic, periods, above = {
        "Errors": ("Sum", "1", "0"),
        "Throttles": ("Sum", "2", "0"),
        "Duration": ("Maximum", "3", f"{duration}  # milliseconds"),
    }[metric]
    properties: Value = {
        "AlarmDescription": description,
        "Namespace": "AWS/Lambda",
        "MetricName": metric,
        "Dimensions": f"[{{ Name: FunctionName, Value: {function} }}]",
        "Statistic": statistic,
        "Period": "300",
        "EvaluationPeriods": periods,
        "Threshold": above,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "notBreaching",
        "AlarmActions": ACTIONS,
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def with_series(template: str, names: Sequence[str]) -> str:
    """The template whose dashboard shows each metric of Lambda's for these functions."""

    def series(found: re.Match[str]) -> str:
        each = [["AWS/Lambda", found[1], "FunctionName", f"${{AWS::StackName}}-{name}"] for name in names]
        return json.dumps(each, separators=(",", ":"))

    return SERIES.sub(series, template)
