"""How much memory and disk the index takes, and which search domain holds it."""

from dataclasses import dataclass
from itertools import count
from math import ceil

from bio_mcp.costing.prices import INSTANCES, Instance
from bio_mcp.costing.workload import Workload

LINKS_BYTES = 8 * 16  # of a vector in the graph, at m = 16
OVERHEAD = 1.1  # OpenSearch's own formula for the memory of a graph
DISK_A_PAPER = 43_000  # bytes at most until segments are merged; 15,000 to 17,000 afterwards
FILE_A_PAPER = 12_000  # bytes of the embedded engine's file
RESERVED = 0.2  # of a volume, which AWS leaves free
SMALLEST_GIB, SHARD_GB = 20, 30  # AWS advises 10 to 50 GB a shard
GB = 1 << 30


@dataclass(frozen=True, slots=True)
class Domain:
    """`nodes` instances with a volume of `volume_gib` each; the index has `shards`."""

    instance: Instance
    nodes: int
    volume_gib: int
    shards: int


def vectors_of(workload: Workload) -> float:
    """Return how many vectors the graph has of a paper."""
    return 1 if workload.vectors == "paper" else workload.windows


def vectors_gb(workload: Workload) -> float:
    """Return the memory that searching the vectors takes, beside the heap."""
    dimension = workload.dimension * (4 if workload.vectors == "float" else 1)
    return workload.records * vectors_of(workload) * OVERHEAD * (dimension + LINKS_BYTES) / GB


def disk_gb(workload: Workload) -> float:
    """Return the disk of one copy: of the domain as it is written, or of the file in S3."""
    if workload.tier == "s3":
        return workload.records * FILE_A_PAPER / GB
    return workload.records * DISK_A_PAPER / GB


def domain_for(workload: Workload) -> Domain:
    """Return the fewest nodes that hold the vectors, and of these the smallest instance; one copy."""
    memory = vectors_gb(workload)
    nodes = next(nodes for nodes in count(1) if memory <= nodes * INSTANCES[-1].vectors_gb)
    instance = next(each for each in INSTANCES if memory <= nodes * each.vectors_gb)
    volume = ceil(disk_gb(workload) / nodes / (1 - RESERVED))
    return Domain(instance, nodes, max(SMALLEST_GIB, volume), max(1, ceil(disk_gb(workload) / SHARD_GB)))
