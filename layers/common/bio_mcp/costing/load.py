"""The first load of a corpus: hours and dollars."""

from dataclasses import dataclass
from math import ceil

from bio_mcp.costing.index import Domain, domain_for, vectors_of
from bio_mcp.costing.lines import Line, together
from bio_mcp.costing.prices import Prices
from bio_mcp.costing.workload import Rates, Workload

RECORDS_A_FILE = 30_000  # of NCBI's files
FILE_GB = 0.035  # compressed
SLICE_S = 878.5  # seconds of a function's fifteen minutes that it works
FETCH_S, LIST_S = 10, 6  # of a file; the former is assumed, the latter what parsing its records takes
WRITE_UNITS = 10  # of a new paper: eight for itself, one each for its DOI and its PMCID
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
        """Return how long the load takes."""
        return max(self.embedding_hours, self.indexing_hours)

    @property
    def compute(self) -> float:
        """Return the dollars of the loaders alone."""
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
            Line(f"search domain while loading, {_nodes(domain)}", hours * domain.nodes, "h", domain.instance.hour),
        ]
    return Load(tuple(lines), loaders, embedding, indexing, domain)


def _indexing_hours(workload: Workload, rates: Rates, domain: Domain) -> float:
    cores = min(domain.nodes * domain.instance.cores, domain.shards * CORES_A_SHARD)
    return workload.records * vectors_of(workload) * domain.copies / (rates.indexed * cores) / 3600


def _nodes(domain: Domain) -> str:
    return f"{domain.nodes} × {domain.instance.name}"
