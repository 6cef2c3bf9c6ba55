"""The runbook against the template."""

import fnmatch
import re
from pathlib import Path

from tests.support.aws_tables import read
from tests.support.aws_template import TEMPLATE, of

ROOT = Path(__file__).parents[1]
RUNBOOK = (ROOT / "docs/runbook.md").read_text()
METRICS = {each.get("MetricName") for each in of("AWS::CloudWatch::Alarm").values()} | {"HeartbeatLatency"}


def test_every_alarm_is_explained_and_no_other():
    alarms = {name for name, each in TEMPLATE["Resources"].items() if each["Type"] == "AWS::CloudWatch::Alarm"}
    cells = re.findall(r"^\| (`[\w*]+Alarm`[^|]*) \|", RUNBOOK, re.MULTILINE)
    explained = [pattern for cell in cells for pattern in re.findall(r"`([\w*]+Alarm)`", cell)]
    assert [pattern for pattern in explained if not fnmatch.filter(alarms, pattern)] == []
    assert {name for pattern in explained for name in fnmatch.filter(alarms, pattern)} == alarms


def test_parameters_and_outputs_are_called_by_their_names():
    known = TEMPLATE["Parameters"].keys() | TEMPLATE["Outputs"].keys() | TEMPLATE["Resources"].keys()
    known |= read((ROOT / "edge.yaml").read_text())["Parameters"].keys() | METRICS
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-zA-Z0-9]*)+)(?:=[\w/.-]+)?`", RUNBOOK))
    assert len(named) > 12
    assert named <= known


def section(title):
    return RUNBOOK.partition(f"# {title}\n")[2].partition("\n#")[0]


def test_what_outlives_the_stack_is_named_where_it_is_taken_down():
    stored = {name: each for name, each in TEMPLATE["Resources"].items() if "Retain" in each.get("DeletionPolicy", "")}
    deleted = {"AWS::OpenSearchService::Domain": "delete-domain", "AWS::DynamoDB::Table": "delete-table"}
    deleted["AWS::S3::Bucket"] = "aws s3 rb"
    assert {each["Type"] for each in stored.values()} == deleted.keys()
    assert all(command in section("Take it down") for command in deleted.values())
    tables = {name for name, each in TEMPLATE["Resources"].items() if each["Type"] == "AWS::DynamoDB::Table"}
    assert f"every table but {' and '.join(f'`{each}`' for each in sorted(tables - stored.keys()))}" in section(
        "Take it down"
    )
