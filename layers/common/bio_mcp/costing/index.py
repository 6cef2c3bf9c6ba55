"""How much memory and disk the index takes, and which search domain holds it."""

from dataclasses import dataclass
from itertools import chain, count
from math import ceil

from bio_mcp.costing.prices import INSTANCES, Instance
from bio_mcp.costing.workload import Workload

LINKS_BYTES = 8 * 16  # of a vector in the graph, at m = 16
OVERHEAD = 1.1  # OpenSearch's own formula for the memory of a graph
DISK_A_PAPER = 43_000  # bytes at most until segments are merged; 15,000 to 17,000 afterwards
FILE_A_PAPER = 12_000  # bytes of the embedded engine's file
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
        """Return of how many nodes each shard is: of two, as soon as there is a second one."""
        return copies(self.nodes)


def copies(nodes: int) -> int:
    """Return how many copies of the index a domain of so many nodes has."""
    return min(nodes, 2)


def vectors_of(workload: Workload) -> float:
    """Return how many vectors the graph has of a paper."""
    return 1 if workload.vectors == "paper" else workload.windows


def vectors_gb(workload: Workload) -> float:
    """Return the memory that searching the vectors of one copy takes, beside the heap."""
    dimension = workload.dimension * (4 if workload.vectors == "float" else 1)
    return workload.records * vectors_of(workload) * OVERHEAD * (dimension + LINKS_BYTES) / GB


def disk_gb(workload: Workload) -> float:
    """Return the disk of one copy: of the domain as it is written, or of the file in S3."""
    if workload.tier == "s3":
        return workload.records * FILE_A_PAPER / GB
    return workload.records * DISK_A_PAPER / GB


def domain_for(workload: Workload) -> Domain:
    """Return the fewest nodes that hold the vectors of all copies, and of these the smallest instance."""
    memory = vectors_gb(workload)
    most = INSTANCES[-1].vectors_gb
    nodes = next(nodes for nodes in chain(NODES, count(6)) if memory * copies(nodes) <= nodes * most)
    instance = next(each for each in INSTANCES if memory * copies(nodes) <= nodes * each.vectors_gb)
    volume = ceil(disk_gb(workload) * copies(nodes) / nodes / (1 - RESERVED))
    return Domain(instance, nodes, max(SMALLEST_GIB, volume), ceil(workload.records / PAPERS_A_SHARD))
