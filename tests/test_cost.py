"""What a corpus costs: the arithmetic, what moves it, and the command that prints it."""

import json
import math
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.aws import queues
from bio_mcp.syncing import bulk_load
from scripts import cost
from scripts.cost import (
    INSTANCES,
    MOST,
    PUBMED,
    SLICE_S,
    Line,
    Prices,
    Rates,
    domain_for,
    estimate,
    first_load,
    together,
    usual,
    vectors_gb,
)
from scripts.template import loading
from tests.support.aws_template import ALARM, TEMPLATE, of

MILLION = usual(1_000_000)


def test_a_line_shows_what_it_multiplies():
    line = Line("writes", 390_000_000, "units", 0.000000625)
    assert line.arithmetic == "390,000,000 units × 0.000000625"
    assert line.dollars == pytest.approx(243.75)


def test_loading_costs_what_its_seconds_cost():
    rates = Rates(embedded=10, imported=float("inf"), waiting=0, loader_gb=2)
    load = first_load(MILLION, rates, replace(Prices(), lambda_gb_s=1.0))
    assert load.compute == pytest.approx(200_000)
    assert load.embedding_hours == pytest.approx(100_000 / 3600 / 34)  # as many loaders as there are files


def test_a_slow_index_is_what_a_load_waits_for():
    slow = first_load(MILLION, Rates(indexed=1), Prices())
    assert slow.hours == slow.indexing_hours > slow.embedding_hours
    assert slow.compute > first_load(MILLION, Rates(), Prices()).compute  # while they wait they are paid for


def test_a_slice_of_a_file_is_what_the_function_works_of_its_time():
    life_s = TEMPLATE["Resources"]["LoadFunction"]["Properties"]["Timeout"]
    assert life_s - queues.MARGIN_S - bulk_load.MARGIN_S == SLICE_S


def test_a_load_counts_the_calls_and_transitions_of_its_machine():
    states = loading.definition()["States"].values()
    maps = [each["ItemProcessor"]["States"] for each in states if each["Type"] == "Map"]
    calls, passed = (sum(each["Type"] in kinds for each in states) for kinds in (("Task",), ("Fail",)))
    lines = {each.what: each.quantity for each in first_load(usual(30_000), Rates(), Prices()).lines}
    slices = math.ceil(30_000 * Rates().seconds_a_record / SLICE_S)
    assert [{"Take", "Done?", "Done"} <= each.keys() for each in maps] == [True] * 3
    assert lines["calls of functions"] == calls + 2 + slices
    starts, takes, ends = 3, 2 * (2 + slices), 3
    assert lines["state machine"] == len(states) - passed + starts + takes + ends


def test_memory_follows_opensearchs_formula():
    assert vectors_gb(MILLION) == pytest.approx(1.1 * (4 * 384 + 8 * 16) * 4.3e6 / 2**30)


@pytest.mark.parametrize("records", [1, 60_000, 130_000, 500_000, 2_000_000, PUBMED])
def test_a_domain_holds_its_vectors_and_no_smaller_one_of_as_many_nodes_does(records):
    domain = domain_for(usual(records))
    memory = vectors_gb(usual(records))
    smaller = [each for each in INSTANCES if each.hour < domain.instance.hour]
    assert domain.nodes * domain.instance.vectors_gb >= memory * domain.copies
    assert all(domain.nodes * each.vectors_gb < memory * domain.copies for each in smaller)


def test_a_second_node_has_a_copy_of_each_shard():
    one, more = domain_for(MILLION), domain_for(usual(PUBMED))
    assert (one.nodes, one.copies) == (1, 1)
    assert more.nodes > 1
    assert more.copies == 2
    rates = Rates()
    load = first_load(usual(PUBMED), rates, Prices())
    cores = min(more.nodes * more.instance.cores, more.shards * 4)
    assert load.indexing_hours == pytest.approx(PUBMED * 4.3 * 2 / (rates.indexed * cores) / 3600)


def test_a_volume_leaves_a_fifth_free_and_a_shard_has_fifty_gigabytes_at_most():
    of = estimate(usual(PUBMED))
    assert of.domain.nodes * of.domain.volume_gib * 0.8 >= of.disk_gb * of.domain.copies
    assert 10 <= of.disk_gb / of.domain.shards <= 50


def test_a_month_at_rest_is_one_without_calls_and_papers():
    of = estimate(replace(MILLION, calls_per_day=0, new_per_day=0, revised_per_day=0))
    assert of.idle == pytest.approx(together(of.month))
    assert of.idle < together(estimate(MILLION).month)


def test_bytes_and_one_vector_a_paper_take_less_memory():
    windows, numbers = 4.3, 384
    sizes = [vectors_gb(replace(MILLION, vectors=each)) * 2**30 / 1e6 for each in ("float", "byte", "paper")]
    assert sizes == pytest.approx([1.1 * (4 * numbers + 128) * windows, 1.1 * (numbers + 128) * windows, 1.1 * 512])


def test_an_index_in_s3_has_no_domain_and_costs_little():
    file, domain = (estimate(replace(usual(10_000), tier=tier)) for tier in ("s3", "opensearch"))
    assert file.domain is None
    assert not any("domain" in line.what for line in (*file.month, *file.load.lines))
    assert domain.idle - file.idle > 25


def test_whoever_syncs_pays_for_the_lease_of_each_transaction_and_each_save_of_its_job():
    nothing = {"new_per_day": 0, "revised_per_day": 0}
    rest, new, revised = (
        months_lines(**nothing | more)["DynamoDB, leases checked and jobs saved"].quantity / (365 / 12)
        for more in ({}, {"new_per_day": 32}, {"revised_per_day": 32})
    )
    assert rest == pytest.approx(2 * (2 + 2))  # a put in a transaction, and the check
    assert new - rest == pytest.approx(3 * 2 + 4)
    assert revised - rest == pytest.approx(32 * 2 + 4)


def test_snapshots_are_paid_for_by_the_memory_of_the_functions_that_have_one():
    functions = [each for each in of("AWS::Serverless::Function").values() if "SnapStart" in each]
    assert len(functions) == 3
    line = months_lines()["SnapStart's snapshots"]
    assert line.quantity == pytest.approx(730 * 3600 * sum(each["MemorySize"] for each in functions) / 1024)


def test_an_index_in_s3_has_one_writer():
    load = first_load(replace(usual(150_000), tier="s3"), Rates(), Prices())
    assert load.loaders == 1
    assert load.hours == pytest.approx(150_000 * Rates().seconds_a_record / 3600)
    assert not any("state machine" in line.what for line in load.lines)


@pytest.mark.parametrize("tier", MOST)
@pytest.mark.parametrize("records", [1, 30_000, 250_000, 1_000_000, PUBMED, max(MOST.values())])
def test_the_template_takes_the_parameters_of_what_is_estimated(tier, records):
    workload = replace(usual(min(records, MOST[tier])), tier=tier)
    for name, value in estimate(workload).parameters.items():
        taken = TEMPLATE["Parameters"][name]
        assert str(value) in map(str, taken.get("AllowedValues", [value]))
        if taken["Type"] == "Number":
            assert taken.get("MinValue", value) <= value <= taken.get("MaxValue", value)


def test_an_index_in_s3_is_given_the_room_that_its_papers_take():
    parameters = estimate(replace(usual(MOST["s3"]), tier="s3")).parameters
    assert (parameters["IndexLimitMB"], parameters["IndexStorageMiB"]) == (2970, 8910)


def months_lines(**changes):
    return {each.what: each for each in estimate(replace(usual(10_000), **changes)).month}


def test_a_stack_pays_for_the_alarms_that_its_parameters_make():
    """More with a domain; few where little is watched."""
    few, full = (months_lines(tier="s3", monitoring=each)["metrics under alarm"] for each in ("basic", "full"))
    of_domain = months_lines(monitoring="full")["metrics under alarm"]
    assert few.quantity < 20 < full.quantity < of_domain.quantity
    alarms = [each["Properties"] for each in TEMPLATE["Resources"].values() if each["Type"] == ALARM]
    assert max(len(each["Metrics"]) - 1 if "Metrics" in each else 1 for each in alarms) <= 10  # that CloudWatch adds up


def test_metrics_of_tools_cost_what_their_hours_do_and_never_more_than_a_month_of_each_tool():
    at_rest, few, many = (
        months_lines(calls_per_day=each)["metrics of our own"].quantity for each in (0, 24, 1_000_000)
    )
    assert few - at_rest == pytest.approx(730 * 1.01 / 730)  # one metric an hour, and one more of each failure
    assert many - at_rest == pytest.approx(2 * len(TOOLS))


def test_queues_are_asked_by_five_pollers_every_twenty_seconds():
    queues = sum(
        event["Type"] == "SQS"
        for each in TEMPLATE["Resources"].values()
        for event in each["Properties"].get("Events", {}).values()
        if each["Type"] == "AWS::Serverless::Function"
    )
    assert queues > 0
    assert months_lines(calls_per_day=0)["queues, polled"].quantity == queues * 5 * 3 * 60 * 730


def test_keys_of_tables_are_asked_for_once_in_five_minutes_at_most():
    few, many = (months_lines(calls_per_day=each)["DynamoDB, keys of tables"].quantity for each in (24, 1e9))
    assert few == pytest.approx(730 * 3)
    assert many < 50 * 3 * 12 * 730


def test_another_region_has_its_prices():
    bodies = [json.loads(run("--records", "10000", "--region", each, "--json").stdout) for each in cost.REGIONS]
    assert [each["region"] for each in bodies] == ["us-east-1", "eu-central-1", "ap-southeast-1"]
    first, *others = [each["estimates"][0]["month"]["dollars"] for each in bodies]
    assert all(first < each < 1.3 * first for each in others)


def test_basic_monitoring_and_no_snapshot_bring_a_stack_at_rest_below_ten_dollars():
    few, full = (
        estimate(replace(usual(10_000), tier="s3", monitoring=each, snapstart=each == "full")).idle
        for each in ("basic", "full")
    )
    assert few < 10 < full


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cost.main, arguments)


@pytest.mark.parametrize(
    ("given", "there", "absent"),
    [
        ("", ["10,000", "1,000,000", "39,000,000"], ["arithmetic"]),
        ("--records 250000", ["2,500,000 write units × 0.000000625", "1.56"], []),
        ("--records 20000 --vectors paper", ["search domain", "SnapStart's"], []),
        (
            "--records 20000 --index s3 --monitoring basic --no-snapstart",
            ["index in S3", "0 dashboards"],
            ["SnapStart's"],
        ),
        (
            "--records 39e6",
            ["OpenSearchInstanceType=r7g.12xlarge.search OpenSearchInstances=4", "LoadsAtOnce=200"],
            [],
        ),
    ],
)
def test_sizes_stand_side_by_side_and_one_has_its_arithmetic_and_the_parameters_of_its_stack(given, there, absent):
    ran = run(*given.split())
    out = " ".join(ran.stdout.split())
    assert ran.exit_code == 0
    assert [each for each in there if each not in out] == [each for each in absent if each in out] == []


def test_json_has_every_line_and_the_day_of_the_prices():
    body = json.loads(run("--records", "39000000", "--json").stdout)
    [found] = body["estimates"]
    assert body["prices_as_of"] == "2026-11-22"
    assert found["load"]["compute_dollars"] < 150
    assert sum(line["dollars"] for line in found["load"]["lines"]) == pytest.approx(found["load"]["dollars"])
    assert sum(line["dollars"] for line in found["month"]["lines"]) == pytest.approx(found["month"]["dollars"])


def test_a_load_costs_what_its_rate_takes():
    slow, fast = (
        json.loads(run("--records", "1000000", "--papers-per-second", rate, "--json").stdout)["estimates"][0]
        for rate in ("0.5", "5")
    )
    assert slow["load"]["compute_dollars"] > 9 * fast["load"]["compute_dollars"]


@pytest.mark.parametrize("written", ["1e6", "1,000,000", "1000000"])
def test_a_number_of_papers_is_written_in_any_usual_way(written):
    [found] = json.loads(run("--records", written, "--json").stdout)["estimates"]
    assert found["records"] == 1_000_000


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("--records 1000000 --index s3", "220,000 papers at most"),
        *((f"--records {number}", "--records") for number in ("0", "many", "1.5", "inf")),
        ("--loaders 0", "--loaders"),
        ("--calls-per-day -1", "--calls-per-day"),
    ],
)
def test_what_cannot_be_is_refused(wrong, says):
    ran = run(*wrong.split())
    assert ran.exit_code == 2
    assert says in ran.stderr
