"""What a corpus costs on AWS: the first load, the index, a month. Rates are measured, prices have a date.

    python -m scripts.cost [--records 39e6] [--index s3] ...

Every figure is a `Line` with its arithmetic, so that a reader can put other prices or rates in its place. docs/cost.md
and the table of domains in docs/runbook.md are made by the same model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from itertools import chain, count
from math import ceil
from typing import Any, Literal, get_args

import click

from bio_mcp.catalog import TOOLS
from bio_mcp.doors import terminal
from tests.support.aws_template import ALARM, TEMPLATE, of, rendered

GRAVITON_HOUR = 0.178  # an r7g.large.search; larger ones cost as many times more as they have memory


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of us-east-1 as the authors knew them on `as_of`; not read from AWS's pages. A GB of memory or disk is
    2^30 bytes. `domain_times` is what a search domain costs, in times of the hours and volumes of us-east-1."""

    as_of: date = date(2026, 11, 22)
    domain_times: float = 1.0
    lambda_gb_s: float = 0.0000133334
    lambda_request: float = 0.0000002
    snapstart_gb_s: float = 0.0000015046
    snapstart_restore_gb: float = 0.00014
    http_request: float = 0.000001
    write_unit: float = 0.000000625
    read_unit: float = 0.000000125
    table_gb_month: float = 0.25
    recovery_gb_month: float = 0.20
    s3_gb_month: float = 0.023
    s3_put: float = 0.000005
    s3_get: float = 0.0000004
    state_transition: float = 0.000025
    event: float = 0.000001
    gb_out: float = 0.09
    log_gb: float = 0.50
    trace: float = 0.000005
    alarm_month: float = 0.10
    metric_month: float = 0.30
    secret_month: float = 0.40
    dashboard_month: float = 3.00
    volume_gb_month: float = 0.122
    queue_request: float = 0.0000004
    key_request: float = 0.000003


REGIONS = {
    "us-east-1": Prices(),
    "eu-central-1": Prices(
        domain_times=1.18,
        http_request=0.0000012,
        write_unit=0.0000007625,
        read_unit=0.0000001525,
        table_gb_month=0.306,
        recovery_gb_month=0.2448,
        s3_gb_month=0.0245,
        s3_put=0.0000054,
        s3_get=0.00000043,
        log_gb=0.63,
    ),
    "ap-southeast-1": Prices(
        domain_times=1.2,
        http_request=0.00000125,
        write_unit=0.0000007125,
        read_unit=0.0000001425,
        table_gb_month=0.285,
        recovery_gb_month=0.228,
        s3_gb_month=0.025,
        gb_out=0.12,
        log_gb=0.70,
    ),
}
"""Prices by region: what is not named costs what it does in us-east-1. Those of other regions are estimates that nobody
has compared with AWS's pages, `domain_times` most of all."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A node of a search domain. `vectors_gb` is the memory that vectors may fill, `hour` its price."""

    name: str
    cores: int
    vectors_gb: float
    hour: float


def _graviton(size: str, times: int) -> Instance:
    """An r7g of `times` the size of r7g.large, which has 16 GB: the heap takes half, 32 GB at most, vectors half of
    the rest."""
    memory = 16 * times
    return Instance(f"r7g.{size}", 2 * times, (memory - min(32, memory / 2)) / 2, round(GRAVITON_HOUR * times, 3))


_GRAVITONS = (("large", 1), ("xlarge", 2), ("2xlarge", 4), ("4xlarge", 8), ("8xlarge", 16), ("12xlarge", 24))
INSTANCES = (
    Instance("t3.small", 2, 0.5, 0.036),
    Instance("t3.medium", 2, 1, 0.073),
    *(_graviton(size, times) for size, times in _GRAVITONS),
)


Tier = Literal["opensearch", "s3"]
Vectors = Literal["float", "byte", "paper"]
Monitoring = Literal["full", "basic"]

PUBMED = 39_000_000
MOST = {"opensearch": 50_000_000, "s3": 220_000}  # papers; of the latter IndexLimitMB has 3,000 MB at most
DAYS = 365 / 12  # of a month
HOURS = 730  # of a month
GROWTH = 1.2e-4  # new papers a day for each paper there is: PubMed gains some 1.7 million a year


@dataclass(frozen=True, slots=True)
class Workload:
    """A corpus of `records` papers, each of `windows` texts that have a vector. Of `vectors` see docs/scaling.md.

    `new_per_day` and `revised_per_day` papers are settled, `calls_per_day` tools are called. `loaders` Lambda functions
    work at once on a first load. `tier`, `monitoring` and `snapstart` are parameters of the template.
    """

    records: int
    new_per_day: int
    revised_per_day: int
    calls_per_day: int
    tier: Tier = "opensearch"
    monitoring: Monitoring = "full"
    snapstart: bool = True
    vectors: Vectors = "float"
    windows: float = 4.3
    dimension: int = 384
    loaders: int = 200

    @property
    def index(self) -> str:
        """Which index it is searched by, and whether little is watched."""
        index = "S3" if self.tier == "s3" else f"OpenSearch, {self.vectors}"
        return index if self.monitoring == "full" else f"{index}, basic"


@dataclass(frozen=True, slots=True)
class Rates:
    """What one virtual CPU (1,769 MB of a function's memory) does in a second.

    Of docs/benchmarks.md: `embedded` papers, windows and all (`syncing`), and `imported` papers with embedding free
    (`writing`). Measured by hand, in no benchmark: `indexed` vectors that a core of the search domain takes into its
    graph. Assumed: `waiting`, the share of a loader's time that it waits for stores and index.
    """

    embedded: float = 12.3
    imported: float = 1_895
    indexed: float = 550
    waiting: float = 0.05
    loader_gb: float = 1_769 / 1_024

    @property
    def seconds_a_record(self) -> float:
        """Seconds of a loader that a new paper takes."""
        return (1 / self.embedded + 1 / self.imported) * (1 + self.waiting)


def usual(records: int) -> Workload:
    """A corpus that grows as PubMed does, and is asked a thousand times a day, or more the larger it is."""
    new = ceil(records * GROWTH)
    return Workload(records, new, ceil(new / 2), min(100_000, max(1_000, records // 100)))


RESEARCHERS = 200
CALLS_A_RESEARCHER = 20  # on each of the 21 working days of a month
TEAM = replace(usual(200_000), calls_per_day=round(RESEARCHERS * CALLS_A_RESEARCHER * 21 / DAYS))
"""200 researchers, who use every tool, over 200,000 papers."""
SIZES = (
    replace(usual(10_000), tier="s3", monitoring="basic", snapstart=False),
    replace(usual(10_000), tier="s3"),
    usual(10_000),
    usual(1_000_000),
    usual(PUBMED),
    replace(usual(PUBMED), vectors="paper"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that costs: `quantity` of `unit` at `price` dollars each."""

    what: str
    quantity: float
    unit: str
    price: float

    @property
    def dollars(self) -> float:
        """Quantity times price."""
        return self.quantity * self.price

    @property
    def arithmetic(self) -> str:
        """Return `12,345 GB-s × 0.0000133334`."""
        return f"{_figure(self.quantity)} {self.unit} × {_price(self.price)}"


def together(lines: Iterable[Line]) -> float:
    """The dollars of all lines."""
    return sum(line.dollars for line in lines)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:,.2f}"


def _price(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


LINKS_BYTES = 8 * 16  # of a vector in the graph, at m = 16
OVERHEAD = 1.1  # OpenSearch's own formula for the memory of a graph
DISK_A_PAPER = 43_000  # bytes at most until segments are merged; 15,000 to 17,000 afterwards
FILE_A_PAPER = 13_500  # bytes of the embedded engine's file
RESERVED = 0.2  # of a volume, which AWS leaves free
NODES = (1, 2, 3, 4)  # of a domain of the template, which may also have six
SMALLEST_GIB = 20
PAPERS_A_SHARD = 500_000  # 8 GB merged, 20 as they are written; AWS advises 10 to 50
GB = 1 << 30


@dataclass(frozen=True, slots=True)
class Domain:
    """`nodes` instances with a volume of `volume_gib` each; the index has `shards`, each in `copies`."""

    instance: Instance
    nodes: int
    volume_gib: int
    shards: int

    @property
    def copies(self) -> int:
        """On how many nodes each shard is: on two, as soon as there is a second one."""
        return min(self.nodes, 2)


def vectors_of(workload: Workload) -> float:
    """How many vectors the graph has of a paper."""
    return 1 if workload.vectors == "paper" else workload.windows


def vectors_gb(workload: Workload) -> float:
    """The memory that searching the vectors of one copy takes, beside the heap."""
    dimension = workload.dimension * (4 if workload.vectors == "float" else 1)
    return workload.records * vectors_of(workload) * OVERHEAD * (dimension + LINKS_BYTES) / GB


def disk_gb(workload: Workload) -> float:
    """The disk of one copy: of the domain as it is written, or of the file in S3."""
    if workload.tier == "s3":
        return workload.records * FILE_A_PAPER / GB
    return workload.records * DISK_A_PAPER / GB


def domain_for(workload: Workload) -> Domain:
    """The fewest nodes that hold the vectors of all copies, and of these the smallest instance."""
    memory = vectors_gb(workload)
    most = INSTANCES[-1].vectors_gb
    nodes = next(nodes for nodes in chain(NODES, count(6)) if memory * min(nodes, 2) <= nodes * most)
    instance = next(each for each in INSTANCES if memory * min(nodes, 2) <= nodes * each.vectors_gb)
    volume = ceil(disk_gb(workload) * min(nodes, 2) / nodes / (1 - RESERVED))
    return Domain(instance, nodes, max(SMALLEST_GIB, volume), ceil(workload.records / PAPERS_A_SHARD))


RECORDS_A_FILE = 30_000  # of NCBI's files
FILE_GB = 0.035  # compressed
SLICE_S = 878.5  # seconds of a function's fifteen minutes that it works
FETCH_S, LIST_S = 10, 6  # of a file; the former is assumed, the latter what parsing its records takes
WRITE_UNITS = 10  # of a new paper: eight for itself, in a transaction, one each for its DOI and its PMCID
READ_UNITS = 2
RUN_CALLS, RUN_TRANSITIONS = 4, 12  # of the state machine, whatever the number of files
FILE_TRANSITIONS, CALL_TRANSITIONS = 6, 2  # start and end of a file in each of three maps; a call and what follows it
S3_PUTS_A_FILE = 12  # parts of the copy, the report
CORES_A_SHARD = 4  # that write to one shard at once
LOADERS = "loaders, one virtual CPU each"


@dataclass(frozen=True, slots=True)
class Load:
    """`lines` are paid once; `hours` is how long `loaders` functions take, the longer of embedding and indexing."""

    lines: tuple[Line, ...]
    loaders: int
    embedding_hours: float
    indexing_hours: float
    domain: Domain | None

    @property
    def hours(self) -> float:
        """How long the load takes."""
        return max(self.embedding_hours, self.indexing_hours)

    @property
    def compute(self) -> float:
        """The dollars of the loaders alone."""
        return together(line for line in self.lines if line.what == LOADERS)


def first_load(workload: Workload, rates: Rates, prices: Prices) -> Load:
    """Estimate the load of all records: each file in slices of one function's life, `loaders` of them at once, or by
    syncs one after the other where the index is a file of S3, which has one writer at a time.
    """
    files = ceil(workload.records / RECORDS_A_FILE)
    domain = domain_for(workload) if workload.tier == "opensearch" else None
    loaders = min(workload.loaders, files) if domain else 1
    embedding = workload.records * rates.seconds_a_record / 3600 / loaders
    indexing = _indexing_hours(workload, rates, domain) if domain else 0.0
    hours = max(embedding, indexing)
    seconds = hours * 3600 * loaders  # who waits for the index is paid for
    calls = files * (2 + ceil(seconds / files / SLICE_S)) if domain else ceil(seconds / SLICE_S)
    transitions = RUN_TRANSITIONS + files * FILE_TRANSITIONS + calls * CALL_TRANSITIONS
    lines = [
        Line(LOADERS, seconds * rates.loader_gb, "GB-s", prices.lambda_gb_s),
        Line("calls of functions", calls + (RUN_CALLS if domain else 0), "requests", prices.lambda_request),
        Line("papers written", workload.records * WRITE_UNITS, "write units", prices.write_unit),
        Line("papers compared", workload.records * READ_UNITS, "read units", prices.read_unit),
    ]
    if domain:
        lines += [
            Line("fetching and listing", files * (FETCH_S + LIST_S) * rates.loader_gb, "GB-s", prices.lambda_gb_s),
            Line("state machine", transitions, "transitions", prices.state_transition),
            Line("files copied from NCBI", files * S3_PUTS_A_FILE, "requests", prices.s3_put),
            Line("files stored for a month", files * FILE_GB, "GB", prices.s3_gb_month),
            Line(f"search domain while loading, {_nodes(domain)}", hours * domain.nodes, "h", _hour(domain, prices)),
        ]
    return Load(tuple(lines), loaders, embedding, indexing, domain)


def _indexing_hours(workload: Workload, rates: Rates, domain: Domain) -> float:
    cores = min(domain.nodes * domain.instance.cores, domain.shards * CORES_A_SHARD)
    return workload.records * vectors_of(workload) * domain.copies / (rates.indexed * cores) / 3600


def _hour(domain: Domain, prices: Prices) -> float:
    return domain.instance.hour * prices.domain_times


def _nodes(domain: Domain) -> str:
    return f"{domain.nodes} × {domain.instance.name}"


TOOL_S, ENDPOINT_S, ENDPOINT_GB = 0.15, 0.25, 1.0  # of a call
RESTORES = 0.01  # of calls that meet a new execution environment
PAPERS_A_CALL = 10  # read
RETRACTED = 40_000  # papers that are looked up each night
PAPER_GB = 3_000 / 10**9  # of the table
ANSWER_GB, LOG_GB, RECORDED_GB = 20_000 / 10**9, 4_000 / 10**9, 20_000 / 10**9  # of a call
TRACED = 2_200_000  # calls a month that are the first of their second; of the rest one in twenty is traced
HEARTBEATS, HEARTBEAT_GB_S = 8_760, 2
HEARTBEAT_METRICS = 2  # that it came, and how long it took
SECONDS = HOURS * 3600
SNAPSHOTS = 2  # the one that is named and the one before it, which is deleted a day later
PART_GB, DOWNLOAD_GB_S = 8 / 1024, 0.08  # of an index in S3, as a function reads it
LOOK_S, LOOKED_AT = 10, 2  # seconds between two looks of a warm function: which index is searched, and its manifest
CHANGE_PAPERS = 32  # published together
SEARCH_GB = 1_769 / 1_024
BUDGET_WRITES, RECORD_WRITES = 2, 3  # of a call
CHECK_UNITS = 2  # that each transaction takes to check the lease of whoever syncs
NEW_CHECKS, REVISED_CHECKS = 3 / CHANGE_PAPERS, 1  # of a paper: new ones are stored together, a revised one alone
SAVE_UNITS = 2 + CHECK_UNITS  # to save a job, which alone would be one: an item of a transaction is two
SAVES = 2  # of a sync that finds nothing, each night; else one more after each 32 papers


FAILING = 0.01  # of calls, for which a tool has a second metric
INIT_S, ENDPOINT_INIT_S = 0.3, 0.9  # of a start, which is billed; docs/benchmarks.md has what was measured
POLLERS, POLL_S = 5, 20  # of a queue that nothing comes to: requests that wait, and for how long
KEY_S, TABLES_A_CALL = 300, 3  # how long DynamoDB keeps the key of a table for a caller; the tables that a call reaches


@dataclass(frozen=True, slots=True)
class Stack:
    """What a stack has, counted in template.yaml: metrics under alarm, dashboards, secrets that it keeps, functions,
    queues that Lambda polls, metrics that are made of logs, and the memory of the functions that start from snapshots.
    """

    alarms: int
    dashboards: int
    secrets: int
    functions: int
    queues: int
    of_logs: int
    snapshots_gb: float


SNAPSHOT = {"ApplyOn": "PublishedVersions"}


@cache
def stack_of(tier: Tier, monitoring: Monitoring) -> Stack:
    """The stack of these parameters that follows one query."""
    given = {name: str(each.get("Default", "")) for name, each in TEMPLATE["Parameters"].items()}
    given |= {"Monitoring": monitoring, "IndexTier": tier, "NcbiAdminEmail": "operator@example.org"}
    given |= {"Corpus1Key": "one", "Corpus1Term": "one[tiab]"}
    made = [
        (each["Type"], each.get("Properties", {}))
        for each in TEMPLATE["Resources"].values()
        if "Condition" not in each or rendered({"Condition": each["Condition"]}, given)
    ]
    kinds = [kind for kind, _ in made]
    watched = (len(each["Metrics"]) - 1 if "Metrics" in each else 1 for kind, each in made if kind == ALARM)
    filters = (each["MetricTransformations"] for kind, each in made if kind == "AWS::Logs::MetricFilter")
    events = [event for each in of("AWS::Serverless::Function").values() for event in each.get("Events", {}).values()]
    return Stack(
        alarms=sum(watched),
        dashboards=kinds.count("AWS::CloudWatch::Dashboard"),
        secrets=kinds.count("AWS::SecretsManager::Secret") + 2,  # given: the key of tokens, and that of NCBI
        functions=kinds.count("AWS::Serverless::Function"),
        queues=sum(event["Type"] == "SQS" for event in events),
        of_logs=len({each["MetricName"] for several in filters for each in several}),
        snapshots_gb=sum(each["MemorySize"] for _, each in made if rendered(each.get("SnapStart"), given) == SNAPSHOT)
        / 1024,
    )


def month_of(workload: Workload, rates: Rates, prices: Prices) -> list[Line]:
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
        Line("search domain", domain.nodes * HOURS, f"h of {domain.instance.name}", _hour(domain, prices)),
        Line("its volumes", domain.nodes * domain.volume_gib, "GiB", prices.volume_gb_month * prices.domain_times),
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
    started = INIT_S * rates.loader_gb + (0 if workload.snapstart else ENDPOINT_INIT_S * ENDPOINT_GB)
    return [
        Line("functions that answer", gb_s, "GB-s", prices.lambda_gb_s),
        Line("their starts", calls * RESTORES * started, "GB-s", prices.lambda_gb_s),
        Line("functions that sync", settled * rates.seconds_a_record * rates.loader_gb, "GB-s", prices.lambda_gb_s),
        Line("their invocations", 2 * calls, "requests", prices.lambda_request),
        *(_snapshots(workload, prices) if workload.snapstart else ()),
        Line("heartbeats", HEARTBEATS * HEARTBEAT_GB_S, "GB-s", prices.lambda_gb_s),
        Line("HTTP API", calls, "requests", prices.http_request),
    ]


def _snapshots(workload: Workload, prices: Prices) -> list[Line]:
    """Snapshots of the endpoint, of the pages and of signing in; restored is the endpoint's, for pages are few."""
    memory, calls = stack_of(workload.tier, workload.monitoring).snapshots_gb, workload.calls_per_day * DAYS
    return [
        Line("SnapStart's snapshots", SECONDS * memory, "GB-s", prices.snapstart_gb_s),
        Line("SnapStart's restores", calls * RESTORES * ENDPOINT_GB, "GB", prices.snapstart_restore_gb),
    ]


def _stores(workload: Workload, prices: Prices) -> list[Line]:
    calls, settled = workload.calls_per_day * DAYS, _settled(workload)
    stack = stack_of(workload.tier, workload.monitoring)
    keys = min(calls, stack.functions * SECONDS / KEY_S) * TABLES_A_CALL
    reads = calls * PAPERS_A_CALL + settled * READ_UNITS + min(RETRACTED, workload.records) * DAYS
    writes = settled * WRITE_UNITS + calls * (BUDGET_WRITES + RECORD_WRITES)
    return [
        Line("DynamoDB, writes", writes, "units", prices.write_unit),
        Line("DynamoDB, leases checked and jobs saved", _leased_units(workload), "units", prices.write_unit),
        Line("DynamoDB, reads", reads, "units", prices.read_unit),
        Line("DynamoDB, papers", workload.records * PAPER_GB, "GB", prices.table_gb_month + prices.recovery_gb_month),
        Line("DynamoDB, keys of tables", keys, "requests", prices.key_request),
        Line("queues, polled", stack.queues * POLLERS * SECONDS / POLL_S, "requests", prices.queue_request),
        Line("log of calls, written", calls, "requests", prices.s3_put),
        Line("log of calls, 30 days", calls * RECORDED_GB, "GB", prices.s3_gb_month),
    ]


def _leased_units(workload: Workload) -> float:
    """Write units that a sync takes since it writes under a lease: beyond those of its papers, and for its job."""
    new, revised = workload.new_per_day * DAYS, workload.revised_per_day * DAYS
    saves = SAVES * DAYS + (new + revised) / CHANGE_PAPERS
    return CHECK_UNITS * (new * NEW_CHECKS + revised * REVISED_CHECKS) + SAVE_UNITS * saves


def _traffic(workload: Workload, prices: Prices) -> list[Line]:
    calls = workload.calls_per_day * DAYS
    return [
        Line("news on the event bus", _settled(workload), "events", prices.event),
        Line("answers sent out", calls * ANSWER_GB, "GB", prices.gb_out),
        Line("logs", calls * LOG_GB, "GB", prices.log_gb),
        Line("traces", min(calls, TRACED + (calls - TRACED) / 20), "traces", prices.trace),
    ]


def _watching(workload: Workload, prices: Prices) -> list[Line]:
    stack, calls = stack_of(workload.tier, workload.monitoring), workload.calls_per_day * DAYS
    own = HEARTBEAT_METRICS + stack.of_logs + _metric_months(calls) + _metric_months(calls * FAILING)
    return [
        Line("metrics under alarm", stack.alarms, "metrics", prices.alarm_month),
        Line("metrics of our own", own, "metrics", prices.metric_month),
        Line("secrets", stack.secrets, "secrets", prices.secret_month),
        Line("dashboard", stack.dashboards, "dashboards", prices.dashboard_month),
    ]


def _metric_months(events: float) -> float:
    """Months of metrics by tool with so many `events`, of every tool alike: AWS charges the hours that have one."""
    return min(len(TOOLS), events / HOURS)


def _settled(workload: Workload) -> float:
    return (workload.new_per_day + workload.revised_per_day) * DAYS


SMALLEST_LIMIT_MB, SMALLEST_STORAGE_MIB = 300, 1024  # what the template has of an index in S3


@dataclass(frozen=True, slots=True)
class Estimate:
    """`memory_gb` and `disk_gb` are those of one copy of the index; of a file in S3 each function that searches has it.

    `idle` is a month in which nobody asks and nothing comes.
    """

    workload: Workload
    memory_gb: float
    disk_gb: float
    load: Load
    month: tuple[Line, ...]
    idle: float

    @property
    def domain(self) -> Domain | None:
        """The search domain; None where the index is a file of S3."""
        return self.load.domain

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The parameters of the template that make such a stack."""
        watched = {"Monitoring": self.workload.monitoring, "SnapStart": "on" if self.workload.snapstart else "off"}
        if self.domain is None:
            megabytes = max(SMALLEST_LIMIT_MB, ceil(self.workload.records * FILE_A_PAPER / 10**6))
            storage = max(SMALLEST_STORAGE_MIB, 3 * megabytes)
            return {"IndexTier": "s3", "IndexLimitMB": megabytes, "IndexStorageMiB": storage, **watched}
        return {
            "OpenSearchInstanceType": f"{self.domain.instance.name}.search",
            "OpenSearchInstances": self.domain.nodes,
            "OpenSearchVolumeGiB": self.domain.volume_gib,
            "OpenSearchShards": self.domain.shards,
            "OpenSearchVectors": self.workload.vectors,
            "LoadsAtOnce": self.load.loaders,
            **watched,
        }


def estimate(workload: Workload, rates: Rates | None = None, prices: Prices | None = None) -> Estimate:
    """Estimate what `workload` costs, by the measured rates and the known prices where no others are given."""
    rates, prices = rates or Rates(), prices or Prices()
    at_rest = replace(workload, new_per_day=0, revised_per_day=0, calls_per_day=0)
    return Estimate(
        workload=workload,
        memory_gb=disk_gb(workload) if workload.tier == "s3" else vectors_gb(workload),
        disk_gb=disk_gb(workload),
        load=first_load(workload, rates, prices),
        month=tuple(month_of(workload, rates, prices)),
        idle=together(month_of(at_rest, rates, prices)),
    )


# The tables of docs/cost.md and docs/runbook.md

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
ARITHMETIC = ("what", "arithmetic", "dollars")
DOMAINS = (10_000, 200_000, 1_000_000, 2_000_000)  # papers, of the runbook's table


def cost_tables() -> Mapping[str, Table]:
    """The tables by their names on the page: head and rows."""
    estimates = [estimate(each) for each in SIZES]
    load = estimate(usual(PUBMED)).load.lines
    return {
        "sizes": _size_table(estimates),
        "load": (ARITHMETIC, [*_arithmetic(load), ("**together**", "", f"**{together(load):,.2f}**")]),
        "month": (_head(estimates), _months(estimates)),
        "team": _team_table(),
    }


def _head(estimates: Sequence[Estimate]) -> Sequence[str]:
    return ("", *(f"{each.workload.records:,}, {each.workload.index}" for each in estimates))


def _team_table() -> Table:
    """A month at rest and with researchers, by region."""
    workloads = {
        "index in S3, basic": replace(TEAM, tier="s3", monitoring="basic", snapstart=False),
        "index in S3": replace(TEAM, tier="s3"),
        "OpenSearch": TEAM,
    }
    rows = []
    for name, workload in workloads.items():
        estimates = [estimate(workload, prices=prices) for prices in REGIONS.values()]
        rows.append((f"{name}, at rest", *(f"{each.idle:,.0f}" for each in estimates)))
        rows.append((f"{name}, {RESEARCHERS} researchers", *(f"{together(each.month):,.0f}" for each in estimates)))
    return ("dollars a month", *(_region(each) for each in REGIONS)), rows


def _region(name: str) -> str:
    return name if name == "us-east-1" else f"{name}, estimated"


def domain_table() -> Table:
    """How large the domain must be, by papers."""
    estimates = [estimate(usual(records)) for records in DOMAINS]
    domains = [each.domain for each in estimates if each.domain]
    layouts = get_args(Vectors)
    memory = [[vectors_gb(replace(each.workload, vectors=layout)) for each in estimates] for layout in layouts]
    return ("", *(f"{records:,}" for records in DOMAINS)), [
        *(
            (f"memory beside the heap, GB, `{layout}`", *(f"{each:,.2f}" for each in sizes))
            for layout, sizes in zip(layouts, memory, strict=True)
        ),
        ("disk as it is written, GB", *(f"{each.disk_gb:,.1f}" for each in estimates)),
        ("`OpenSearchVolumeGiB` of each node", *(f"{each.volume_gib}" for each in domains)),
        ("smallest `OpenSearchInstanceType`, `float`", *(each.instance.name for each in domains)),
        ("`OpenSearchShards`", *(f"{each.shards}" for each in domains)),
    ]


def _size_table(estimates: Sequence[Estimate]) -> Table:
    return _head(estimates), [
        (
            "new papers a day; calls a day",
            *(f"{e.workload.new_per_day:,}; {e.workload.calls_per_day:,}" for e in estimates),
        ),
        ("memory of the index, GB", *(f"{e.memory_gb:,.1f}" for e in estimates)),
        ("its disk, GB", *(f"{e.disk_gb:,.1f}" for e in estimates)),
        ("search domain", *(_domain_cell(e) for e in estimates)),
        ("functions that load at once", *(f"{e.load.loaders:,}" for e in estimates)),
        ("first load, hours", *(f"{e.load.hours:,.1f}" for e in estimates)),
        ("its functions, dollars", *(f"{e.load.compute:,.2f}" for e in estimates)),
        ("all of the load, dollars", *(f"{together(e.load.lines):,.2f}" for e in estimates)),
        ("a month, dollars", *(f"{together(e.month):,.0f}" for e in estimates)),
        ("a month at rest, dollars", *(f"{e.idle:,.0f}" for e in estimates)),
    ]


def _domain_cell(of: Estimate) -> str:
    if of.domain is None:
        return "none"
    shards = f", {of.domain.shards} shards" if of.domain.shards > 1 else ""
    copies = f", {of.domain.copies} copies" if of.domain.copies > 1 else ""
    return f"{of.domain.nodes} × {of.domain.instance.name}, {of.domain.volume_gib} GiB each{shards}{copies}"


def _months(estimates: Sequence[Estimate]) -> list[Sequence[str]]:
    lines = [{line.what: line for line in each.month} for each in estimates]
    names = dict.fromkeys(name for each in lines for name in each)
    rows = [(name, *(_cell(each[name]) if name in each else "" for each in lines)) for name in names]
    return [*rows, ("**together**", *(f"**{together(each.month):,.0f}**" for each in estimates))]


def _cell(line: Line) -> str:
    return f"{line.arithmetic} = {line.dollars:,.2f}"


def _arithmetic(lines: Sequence[Line]) -> list[Sequence[str]]:
    return [(line.what, line.arithmetic, f"{line.dollars:,.2f}") for line in lines]


# The command

SOURCE = "Prices are those known on {as_of}, of {region}; check them. Where the rates come from: docs/cost.md."


class _Papers(click.IntRange):
    """A number of papers, which may be written 1e6 or 39,000,000."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = float(str(value).replace(",", ""))
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"{value!r} is no number of papers.", param, ctx)
        return super().convert(int(number), param, ctx)


@click.command()
@click.option(
    "--records", type=_Papers(1, MOST["opensearch"]), help="Papers of the corpus.  [default: sizes side by side]"
)
@click.option("--calls-per-day", type=click.IntRange(0), help="Calls of tools a day.  [default: more the larger it is]")
@click.option("--new-per-day", type=click.IntRange(0), help="New papers a day.  [default: as PubMed grows]")
@click.option("--index", "tier", type=click.Choice(["opensearch", "s3"]), help="IndexTier of the stack.  [opensearch]")
@click.option("--vectors", type=click.Choice(["float", "byte", "paper"]), help="OpenSearchVectors.  [float]")
@click.option("--monitoring", type=click.Choice(["full", "basic"]), help="Monitoring of the stack.  [full]")
@click.option("--snapstart/--no-snapstart", default=None, help="SnapStart of the stack.  [on]")
@click.option("--region", type=click.Choice(list(REGIONS)), default="us-east-1", help="Whose prices.  [us-east-1]")
@click.option("--loaders", type=click.IntRange(1, 500), default=200, help="LoadsAtOnce of the stack.  [200]")
@click.option("--papers-per-second", type=click.FloatRange(0.1, 1e6), help="Embedded by one core.  [as measured]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def main(records: int | None, papers_per_second: float | None, region: str, as_json: bool, **given: Any) -> None:
    """Estimate what a corpus costs on AWS: its first load, its index, a month. Asks nobody.

    Without --records some sizes stand side by side; with it, each line with its arithmetic.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    rates = replace(Rates(), embedded=papers_per_second) if papers_per_second else Rates()
    workloads = (usual(records),) if records else SIZES
    estimates = [estimate(_checked(replace(each, **chosen)), rates, REGIONS[region]) for each in workloads]
    if as_json:
        body = {"region": region, "prices_as_of": Prices().as_of.isoformat(), "rates": asdict(rates)}
        terminal.print_json({**body, "estimates": list(map(_body, estimates))})
    else:
        _show(estimates, region)


def _show(estimates: Sequence[Estimate], region: str) -> None:
    """The sizes side by side, or one with its arithmetic."""
    head, rows = _size_table(estimates)
    terminal.show(terminal.table(head, rows, right=range(1, len(head))))
    if len(estimates) == 1:
        of = estimates[0]
        for title, lines in (("The first load", of.load.lines), ("A month", of.month)):
            terminal.show("", f"{title}: ${together(lines):,.2f}")
            terminal.show(terminal.table(ARITHMETIC, _arithmetic(lines), right=(2,)))
        parameters = " ".join(f"{name}={value}" for name, value in of.parameters.items())
        terminal.show("", f"Parameters of such a stack: {parameters}")
    terminal.show("", SOURCE.format(as_of=Prices().as_of, region=_region(region)))


def _checked(workload: Workload) -> Workload:
    if workload.records > MOST[workload.tier]:
        raise click.UsageError(f"An index in S3 holds {MOST['s3']:,} papers at most; give fewer --records.")
    return workload


def _body(of: Estimate) -> dict[str, Any]:
    domain = of.domain
    return {
        "records": of.workload.records,
        "workload": asdict(of.workload),
        "index": {
            "memory_gb": of.memory_gb,
            "disk_gb": of.disk_gb,
            "domain": domain and {**asdict(domain), "instance": domain.instance.name, "copies": domain.copies},
        },
        "parameters": dict(of.parameters),
        "load": {
            "loaders": of.load.loaders,
            "hours": of.load.hours,
            "compute_dollars": of.load.compute,
            "dollars": together(of.load.lines),
            "lines": list(map(_line, of.load.lines)),
        },
        "month": {"dollars": together(of.month), "idle_dollars": of.idle, "lines": list(map(_line, of.month))},
    }


def _line(line: Line) -> dict[str, Any]:
    return {"what": line.what, "arithmetic": line.arithmetic, "dollars": line.dollars}


if __name__ == "__main__":
    main()
