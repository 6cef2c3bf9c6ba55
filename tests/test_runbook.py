"""The runbook against the template."""

import fnmatch
import re
from pathlib import Path

from tests.aws_template import TEMPLATE

RUNBOOK = (Path(__file__).parents[1] / "docs/runbook.md").read_text()


def test_every_alarm_is_explained_and_no_other():
    alarms = {name for name, each in TEMPLATE["Resources"].items() if each["Type"] == "AWS::CloudWatch::Alarm"}
    explained = re.findall(r"^\| `([\w*]+Alarm)`", RUNBOOK, re.MULTILINE)
    assert [pattern for pattern in explained if not fnmatch.filter(alarms, pattern)] == []
    assert {name for pattern in explained for name in fnmatch.filter(alarms, pattern)} == alarms


def test_parameters_and_outputs_are_called_by_their_names():
    known = TEMPLATE["Parameters"].keys() | TEMPLATE["Outputs"].keys() | TEMPLATE["Resources"].keys()
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
