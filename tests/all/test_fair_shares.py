"""Callers take turns at NCBI under load, among real processes."""

from functools import partial

import pytest

from benchmarks._shares import dynamo_pacer, race, sqlite_pacer
from tests.support import moto_server
from tests.support.aws_ports import NOBODY, AwsPorts

SECONDS = 8.0  # of nine turns each
AT_LEAST = 0.3  # of the turns: half of them but for starting up; without shares it is one of eight processes


def share_of_the_modest(make):
    turns, waits = race(make, "ada", "bob", SECONDS)
    assert turns > 4 * SECONDS  # and most of the budget is used
    return len(waits) / turns


def test_one_caller_cannot_take_the_whole_budget_of_a_laptop(tmp_path):
    assert share_of_the_modest(partial(sqlite_pacer, tmp_path)) > AT_LEAST


def test_one_caller_cannot_take_the_whole_budget_of_a_stack(monkeypatch: pytest.MonkeyPatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    with moto_server.running() as endpoint:
        table = AwsPorts(endpoint=endpoint).pace_table
        assert share_of_the_modest(partial(dynamo_pacer, endpoint, table, "shared")) > AT_LEAST
