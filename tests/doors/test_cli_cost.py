"""`bio-mcp cost`."""

import json

import pytest


def test_sizes_stand_side_by_side(cli):
    ran = cli("cost")
    assert ran.code == 0
    assert all(records in ran.out for records in ("10,000", "1,000,000", "39,000,000"))
    assert "arithmetic" not in ran.out


def test_one_size_has_its_arithmetic(cli):
    out = cli("cost", "--records", "250000").out
    assert "2,500,000 write units × 0.000000625" in out
    assert "1.56" in out


def test_json_has_every_line_and_the_day_of_the_prices(cli):
    body = json.loads(cli("cost", "--records", "39000000", "--json").out)
    [found] = body["estimates"]
    assert body["prices_as_of"] == "2026-11-22"
    assert found["load"]["compute_dollars"] < 150
    assert sum(line["dollars"] for line in found["load"]["lines"]) == pytest.approx(found["load"]["dollars"])
    assert sum(line["dollars"] for line in found["month"]["lines"]) == pytest.approx(found["month"]["dollars"])


def test_another_rate_takes_the_place_of_the_measured_one(cli):
    slow, fast = (
        json.loads(cli("cost", "--records", "1000000", "--papers-per-second", rate, "--json").out)["estimates"][0]
        for rate in ("0.5", "5")
    )
    assert slow["load"]["compute_dollars"] > 9 * fast["load"]["compute_dollars"]


def test_an_index_is_chosen(cli):
    ran = cli("cost", "--records", "20000", "--index", "s3")
    assert "index in S3" in ran.out
    assert "search domain" in cli("cost", "--records", "20000", "--vectors", "paper").out


@pytest.mark.parametrize("written", ["1e6", "1,000,000", "1000000"])
def test_a_number_of_papers_is_written_in_any_usual_way(cli, written):
    [found] = json.loads(cli("cost", "--records", written, "--json").out)["estimates"]
    assert found["records"] == 1_000_000


def test_the_parameters_of_the_stack_and_how_many_functions_load_are_printed(cli):
    out = cli("cost", "--records", "39e6").out
    assert "OpenSearchInstanceType=r7g.12xlarge.search OpenSearchInstances=4" in " ".join(out.split())
    assert "LoadsAtOnce=200" in out


def test_more_papers_than_an_index_in_s3_can_hold_are_refused(cli):
    ran = cli("cost", "--records", "1000000", "--index", "s3")
    assert ran.code == 2
    assert "250,000 papers at most" in ran.err


def test_what_watches_the_stack_is_chosen(cli):
    out = cli("cost", "--records", "20000", "--index", "s3", "--monitoring", "basic", "--no-snapstart").out
    assert "0 dashboards" in out
    assert "SnapStart's" not in out
    assert "SnapStart's" in cli("cost", "--records", "20000").out


@pytest.mark.parametrize(
    "wrong",
    [
        ["--records", "0"],
        ["--records", "many"],
        ["--records", "1.5"],
        ["--records", "inf"],
        ["--loaders", "0"],
        ["--calls-per-day", "-1"],
    ],
)
def test_what_cannot_be_is_refused(cli, wrong):
    ran = cli("cost", *wrong)
    assert ran.code == 2
    assert wrong[0] in ran.err
