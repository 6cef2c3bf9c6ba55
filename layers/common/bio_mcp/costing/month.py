"""A month of a stack: what it costs at rest, and what calls and new papers add."""

from bio_mcp.costing.index import disk_gb, domain_for
from bio_mcp.costing.lines import Line
from bio_mcp.costing.load import READ_UNITS, WRITE_UNITS
from bio_mcp.costing.prices import Prices
from bio_mcp.costing.workload import DAYS, HOURS, Rates, Workload

TOOL_S, ENDPOINT_S, ENDPOINT_GB = 0.15, 0.25, 1.0  # of a call
RESTORES = 0.01  # of calls that meet a new execution environment
PAPERS_A_CALL = 10  # read
RETRACTED = 40_000  # papers that are looked up each night
PAPER_GB = 3_000 / 10**9  # of the table
ANSWER_GB, LOG_GB, RECORDED_GB = 20_000 / 10**9, 4_000 / 10**9, 20_000 / 10**9  # of a call
TRACED = 2_200_000  # calls a month that are the first of their second; of the rest one in twenty is traced
HEARTBEATS, HEARTBEAT_GB_S = 8_760, 2
SECONDS = HOURS * 3600
SNAPSHOTS = 2  # the one that is named and the one before it, which is deleted a day later
PART_GB, DOWNLOAD_GB_S = 8 / 1024, 0.08  # of an index in S3, as a function reads it
LOOK_S, LOOKED_AT = 10, 2  # seconds between two looks of a warm function: which index is searched, and its manifest
CHANGE_PAPERS = 32  # published together
SEARCH_GB = 1_769 / 1_024
BUDGET_WRITES, RECORD_WRITES = 2, 2  # of a call


ALARM_METRICS = {"full": 106, "basic": 8}  # of a stack of one corpus without a domain; a test counts them
DOMAIN_ALARMS = {"full": 5, "basic": 3}
DASHBOARDS = {"full": 1, "basic": 0}
OWN_METRICS, SECRETS = 16, 2


def month(workload: Workload, rates: Rates, prices: Prices) -> list[Line]:
    """Estimate a month, the index first. What a stack costs at rest is that of no calls and no papers."""
    return [
        *_index(workload, prices),
        *_functions(workload, rates, prices),
        *_stores(workload, prices),
        *_traffic(workload, prices),
        *_watching(workload, prices),
    ]


def _index(workload: Workload, prices: Prices) -> list[Line]:
    if workload.tier == "s3":
        return _file(workload, prices)
    domain = domain_for(workload)
    return [
        Line("search domain", domain.nodes * HOURS, f"h of {domain.instance.name}", domain.instance.hour),
        Line("its volumes", domain.nodes * domain.volume_gib, "GiB", prices.volume_gb_month),
    ]


def _file(workload: Workload, prices: Prices) -> list[Line]:
    """The file in S3: its snapshots, what is read of it, and what a sync publishes."""
    size, calls = disk_gb(workload), workload.calls_per_day * DAYS
    parts = calls * RESTORES * size / PART_GB
    looks = LOOKED_AT * min(calls, SECONDS / LOOK_S)
    return [
        Line("index in S3", size * SNAPSHOTS, "GB", prices.s3_gb_month),
        Line("its parts and manifests read", parts + looks, "requests", prices.s3_get),
        Line(
            "waiting for its download", calls * RESTORES * size / DOWNLOAD_GB_S * SEARCH_GB, "GB-s", prices.lambda_gb_s
        ),
        Line("its changes published", _settled(workload) / CHANGE_PAPERS * 2, "requests", prices.s3_put),
    ]


def _functions(workload: Workload, rates: Rates, prices: Prices) -> list[Line]:
    calls, settled = workload.calls_per_day * DAYS, _settled(workload)
    gb_s = calls * (TOOL_S * rates.loader_gb + ENDPOINT_S * ENDPOINT_GB)
    return [
        Line("functions that answer", gb_s, "GB-s", prices.lambda_gb_s),
        Line("functions that sync", settled * rates.seconds_a_record * rates.loader_gb, "GB-s", prices.lambda_gb_s),
        Line("their invocations", 2 * calls, "requests", prices.lambda_request),
        *(_snapshot(calls, prices) if workload.snapstart else ()),
        Line("heartbeats", HEARTBEATS * HEARTBEAT_GB_S, "GB-s", prices.lambda_gb_s),
        Line("HTTP API", calls, "requests", prices.http_request),
    ]


def _snapshot(calls: float, prices: Prices) -> list[Line]:
    return [
        Line("SnapStart's snapshot", SECONDS * ENDPOINT_GB, "GB-s", prices.snapstart_gb_s),
        Line("SnapStart's restores", calls * RESTORES * ENDPOINT_GB, "GB", prices.snapstart_restore_gb),
    ]


def _stores(workload: Workload, prices: Prices) -> list[Line]:
    calls, settled = workload.calls_per_day * DAYS, _settled(workload)
    reads = calls * PAPERS_A_CALL + settled * READ_UNITS + min(RETRACTED, workload.records) * DAYS
    writes = settled * WRITE_UNITS + calls * (BUDGET_WRITES + RECORD_WRITES)
    return [
        Line("DynamoDB, writes", writes, "units", prices.write_unit),
        Line("DynamoDB, reads", reads, "units", prices.read_unit),
        Line("DynamoDB, papers", workload.records * PAPER_GB, "GB", prices.table_gb_month + prices.recovery_gb_month),
        Line("log of calls, written", calls, "requests", prices.s3_put),
        Line("log of calls, 30 days", calls * RECORDED_GB, "GB", prices.s3_gb_month),
    ]


def _traffic(workload: Workload, prices: Prices) -> list[Line]:
    calls = workload.calls_per_day * DAYS
    return [
        Line("news on the event bus", _settled(workload), "events", prices.event),
        Line("answers sent out", calls * ANSWER_GB, "GB", prices.gb_out),
        Line("logs", calls * LOG_GB, "GB", prices.log_gb),
        Line("traces", min(calls, TRACED + (calls - TRACED) / 20), "traces", prices.trace),
    ]


def _watching(workload: Workload, prices: Prices) -> list[Line]:
    of_domain = 0 if workload.tier == "s3" else DOMAIN_ALARMS[workload.monitoring]
    alarms, dashboards = ALARM_METRICS[workload.monitoring] + of_domain, DASHBOARDS[workload.monitoring]
    return [
        Line("metrics under alarm", alarms, "metrics", prices.alarm_month),
        Line("metrics of our own", OWN_METRICS, "metrics", prices.metric_month),
        Line("secrets", SECRETS, "secrets", prices.secret_month),
        Line("dashboard", dashboards, "dashboards", prices.dashboard_month),
    ]


def _settled(workload: Workload) -> float:
    return (workload.new_per_day + workload.revised_per_day) * DAYS
