"""What the template watches of one function: the failures that its log names, its alarms, its line on the dashboard."""

import json
import re
from collections.abc import Sequence

from scripts.template.blocks import Value
from scripts.template.functions import Function

CALLERS_FAULT = ("VALIDATION", "INVALID_ARG", "NOT_FOUND", "INVALID_PROJECT", "HYBRID_NOT_SUPPORTED")
OURS = ['$.message = "call"', '$.status = "error"', *(f'$.code != "{code}"' for code in CALLERS_FAULT)]
OURS.append('$.failure != "BudgetSpent"')  # its code is also that of NCBI's limits
ACTIONS = "!If [HasTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]"
SERIES = re.compile(r'\[\["AWS/Lambda","(\w+)",.*?\]\]')


def failures(function: Function) -> dict[str, Value]:
    """The count of the failures in its log that are not the caller's fault."""
    if not function.offered:
        return {}
    pattern = " && ".join(f"({each})" for each in OURS)
    counted = '{ MetricNamespace: !Ref AWS::StackName, MetricName: ToolFailures, MetricValue: "1", DefaultValue: 0 }'
    properties: Value = {
        "LogGroupName": f"!Ref {function.id}Logs",
        "FilterPattern": f"'{{ {pattern} }}'",
        "MetricTransformations": [counted],
    }
    return {f"{function.id}FailuresMetric": {"Type": "AWS::Logs::MetricFilter", "Properties": properties}}


def alarms(function: Function) -> dict[str, Value]:
    """Errors and throttles from the first on, and calls that are close to the time-out.

    All of them with `Monitoring=full`; with `basic` only the endpoint's errors, which take a new version back.
    """
    name = function.name
    found = {
        "Errors": _alarm(function, "Errors", f"{name} crashed or timed out"),
        "Throttles": _alarm(function, "Throttles", f"{name} was refused for want of concurrency", periods=2),
    }
    if function.alarm_ms:
        late = f"{name} is close to its time-out"
        found["Duration"] = _alarm(function, "Duration", late, "Maximum", 3, f"{function.alarm_ms}  # milliseconds")
    return {f"{function.id}{metric}Alarm": _only(function, metric) | each for metric, each in found.items()}


def _only(function: Function, metric: str) -> dict[str, Value]:
    if function.is_endpoint and metric == "Errors":
        return function.only
    return {"Condition": f"Watches{function.declared.get('condition', 'All')}"}


def _alarm(
    function: Function, metric: str, description: str, statistic: str = "Sum", periods: int = 1, above: str = "0"
) -> dict[str, Value]:
    properties: Value = {
        "AlarmDescription": description,
        "Namespace": "AWS/Lambda",
        "MetricName": metric,
        "Dimensions": f"[{{ Name: FunctionName, Value: {function.ref} }}]",
        "Statistic": statistic,
        "Period": "300",
        "EvaluationPeriods": str(periods),
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
