"""Everything that a corpus costs, together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from bio_mcp.costing.index import FILE_A_PAPER, Domain, disk_gb, vectors_gb
from bio_mcp.costing.lines import Line, together
from bio_mcp.costing.load import Load, first_load
from bio_mcp.costing.month import month
from bio_mcp.costing.prices import Prices
from bio_mcp.costing.workload import Rates, Workload

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
        """Return the search domain; None where the index is a file of S3."""
        return self.load.domain

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Return the parameters of the template that make such a stack."""
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
        month=tuple(month(workload, rates, prices)),
        idle=together(month(at_rest, rates, prices)),
    )
