"""The tables, the queues and the bucket of template.yaml, made anew wherever a client points: they cannot drift.

`Made` is what the AWS adapters are constructed with. `python -m tests.support.aws_tables` prints the template unrolled.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts.template.loops import loaded, unrolled

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
TABLE, QUEUE, BUCKET = "AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::S3::Bucket"


@cache
def template() -> dict[str, Any]:
    """template.yaml, its functions as `{"Fn::Name": arguments}`."""
    return read(TEMPLATE.read_text())


def read(text: str) -> dict[str, Any]:
    """A template of CloudFormation, its loops unrolled."""
    return unrolled(loaded(text))


@cache
def properties(kind: str) -> dict[str, dict[str, Any]]:
    """Logical id -> properties of each resource of this type, resolved with the parameters' defaults."""
    whole = template()
    return {
        name: _resolved(each["Properties"], whole) for name, each in whole["Resources"].items() if each["Type"] == kind
    }


def _resolved(value: Any, whole: dict[str, Any]) -> Any:
    """`value` without Ref to a parameter, If and Equals; other functions are left as they are."""
    if isinstance(value, list):
        return [_resolved(each, whole) for each in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"Fn::If": [condition, yes, no]}:
            return _resolved(yes if _resolved(whole["Conditions"][condition], whole) else no, whole)
        case {"Fn::Equals": [one, other]}:
            return _resolved(one, whole) == _resolved(other, whole)
        case {"Ref": name} if name in whole["Parameters"]:
            return whole["Parameters"][name]["Default"]
    return {name: _resolved(each, whole) for name, each in value.items()}


@dataclass(frozen=True)
class Made:
    """Names by logical id: `tables["DocumentsTable"]`, `queues["WorkQueue"]` (a URL); and the bucket."""

    tables: dict[str, str]
    queues: dict[str, str]
    bucket: str


def make(dynamodb: Any, sqs: Any = None, s3: Any = None, prefix: str = "test", receives: int | None = None) -> Made:
    """Make every table, and the queues and the bucket where a client is given; names start with `prefix`.

    `receives` replaces the template's maxReceiveCount.
    """
    tables = {name: make_table(dynamodb, name, prefix) for name in properties(TABLE)}
    queues = make_queues(sqs, prefix, receives) if sqs else {}
    bucket = f"{prefix}-bucket".lower()
    if s3:
        s3.create_bucket(Bucket=bucket)
    return Made(tables, queues, bucket)


def make_table(client: Any, name: str, prefix: str) -> str:
    """Make the table of this logical id, unless it is there already; returns its own name.

    It is not encrypted: a key for it takes longer than most tests, and no test can see the difference.
    """
    wanted = dict(properties(TABLE)[name])
    name = f"{prefix}-{name}"
    recovery, expiry = wanted.pop("PointInTimeRecoverySpecification", None), wanted.pop("TimeToLiveSpecification", None)
    wanted.pop("SSESpecification")
    try:
        client.create_table(TableName=name, **wanted)
    except client.exceptions.ResourceInUseException:
        return name
    if recovery:
        client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)
    if expiry:
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
    return name


def make_queues(client: Any, prefix: str, receives: int | None = None) -> dict[str, str]:
    """Make the queues, those that others give up into first; returns their URLs by logical id."""
    urls: dict[str, str] = {}
    given = properties(QUEUE)
    for name in sorted(given, key=lambda each: "RedrivePolicy" in given[each]):
        attributes = {key: value for key, value in given[name].items() if key != "RedrivePolicy"}
        policy = given[name].get("RedrivePolicy")
        if policy:
            dead = urls[policy["deadLetterTargetArn"]["Fn::GetAtt"].partition(".")[0]]
            found = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]
            count = receives or policy["maxReceiveCount"]
            attributes["RedrivePolicy"] = json.dumps(
                {"deadLetterTargetArn": found["QueueArn"], "maxReceiveCount": count}
            )
        texts = {
            key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in attributes.items()
        }
        urls[name] = client.create_queue(QueueName=f"{prefix}-{name}", Attributes=texts)["QueueUrl"]
    return urls


if __name__ == "__main__":
    print(json.dumps(template(), indent=1))
