"""Prices of AWS in US dollars: us-east-1, arm64, on demand, without the free tier."""

from dataclasses import dataclass
from datetime import date

GRAVITON_HOUR = 0.178  # an r7g.large.search; larger ones cost as many times more as they have memory


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices as the authors knew them on `as_of`; not read from AWS's pages. A GB of memory or disk is 2^30 bytes."""

    as_of: date = date(2026, 11, 22)
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


SIZES = (("large", 1), ("xlarge", 2), ("2xlarge", 4), ("4xlarge", 8), ("8xlarge", 16), ("12xlarge", 24))
INSTANCES = (
    Instance("t3.small", 2, 0.5, 0.036),
    Instance("t3.medium", 2, 1, 0.073),
    *(_graviton(size, times) for size, times in SIZES),
)
