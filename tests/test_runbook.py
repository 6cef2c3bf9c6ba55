"""The runbook against the template."""

import fnmatch
import re
from pathlib import Path

from tests.aws_tables import read
from tests.aws_template import TEMPLATE, of

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


def test_the_columns_of_costs_add_up():
    rows = [line.split("|")[2:5] for line in RUNBOOK.partition("| OpenSearch: ")[2].splitlines()]
    rows[0] = ("| " + RUNBOOK.partition("| OpenSearch: ")[2].splitlines()[0]).split("|")[2:5]
    total = next(i for i, row in enumerate(rows) if row and "**" in row[0])

    def dollars(cell):
        return float(re.findall(r"[\d,.]+", cell)[-1].replace(",", ""))

    for column in range(3):
        added = sum(dollars(row[column]) for row in rows[:total])
        assert round(added) == dollars(rows[total][column])


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


def test_the_alarms_that_a_stack_with_one_corpus_pays_for_are_counted():
    alarms = {name: each["Properties"] for name, each in TEMPLATE["Resources"].items() if name.endswith("Alarm")}
    charged = [each for name, each in alarms.items() if name not in {"Corpus2SyncAgeAlarm", "Corpus3SyncAgeAlarm"}]
    sums = [each["Metrics"] for each in charged if "Metrics" in each]
    assert all(len(each) <= 1 + 10 for each in sums)  # CloudWatch adds up ten metrics at most
    [(alone, together)] = re.findall(r"\| (\d+) alarms and three over (\d+) metrics × 0.10", RUNBOOK)
    assert int(together) == sum(len(each) - 1 for each in sums)
    assert abs(int(alone) - (len(charged) - len(sums))) * 0.10 < 1  # right to a dollar: a function has three


def test_costs_are_those_of_the_defaults():
    instance = TEMPLATE["Parameters"]["OpenSearchInstanceType"]["Default"].removesuffix(".search")
    assert f"| OpenSearch: instances × price × 730 h | {instance} × " in RUNBOOK
    assert f"| its disk: GiB × 0.122 | {TEMPLATE['Parameters']['OpenSearchVolumeGiB']['Default']}: " in RUNBOOK
