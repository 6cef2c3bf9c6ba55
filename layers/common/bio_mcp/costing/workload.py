"""What is to be stored and how much is asked of it, and the rates that were measured."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

Tier = Literal["opensearch", "s3"]
Vectors = Literal["float", "byte", "paper"]
Monitoring = Literal["full", "basic"]

PUBMED = 39_000_000
MOST = {"opensearch": 50_000_000, "s3": 250_000}  # papers; of the latter IndexLimitMB has 3,000 MB at most
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
        """Return which index it is searched by, and whether little is watched."""
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


SIZES = (
    replace(usual(10_000), tier="s3", monitoring="basic", snapstart=False),
    replace(usual(10_000), tier="s3"),
    usual(10_000),
    usual(1_000_000),
    usual(PUBMED),
    replace(usual(PUBMED), vectors="paper"),
)
