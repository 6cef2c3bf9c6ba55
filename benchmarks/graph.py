"""CPU time of query_kg on a laptop over 100,000 edges, hubs included, and of the import that brings them.

    python -m benchmarks.graph [--edges 100000]

Edges are drawn by Zipf's law, so that some nodes have thousands. Every tenth cites a paper, which the corpus is asked
for. Hubs are the nodes of each type with the most edges.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from bio_mcp.adapters.embedded.database import FILE
from bio_mcp.call import call
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType
from bio_mcp.ingesting.graph_import import import_graph
from bio_mcp.settings import Settings
from bio_mcp.tools.kg import query_kg
from bio_mcp.wiring.embedded import Embedded

QUESTIONS, HUBS = 300, 5
SIZES = {
    NodeType.HERB: 3_000,
    NodeType.FORMULATION: 500,
    NodeType.CONSTITUENT: 20_000,
    NodeType.INDICATION: 2_000,
    NodeType.DRUG: 1_000,
    NodeType.CONTRAINDICATION: 200,
}
SHARES = (
    (EdgeType.HAS_CONSTITUENT, NodeType.HERB, NodeType.CONSTITUENT, 45),
    (EdgeType.TREATS, NodeType.CONSTITUENT, NodeType.INDICATION, 15),
    (EdgeType.TREATS, NodeType.HERB, NodeType.INDICATION, 10),
    (EdgeType.ACTS_ON, NodeType.CONSTITUENT, NodeType.INDICATION, 20),
    (EdgeType.CONTAINS, NodeType.FORMULATION, NodeType.HERB, 4),
    (EdgeType.INTERACTS_WITH, NodeType.HERB, NodeType.DRUG, 4),
    (EdgeType.CONTRAINDICATED_WITH, NodeType.HERB, NodeType.CONTRAINDICATION, 2),
)
PATTERNS: Mapping[str, Sequence[str | None]] = {
    "herb": (None, "herb>constituent>indication", "has_constituent>treats", "^contains", "herb>indication>herb"),
    "constituent": (None, "^has_constituent>treats", "constituent>indication"),
    "indication": (None, "^treats", "indication>constituent>herb"),
}


def nodes() -> Iterator[Node]:
    for type, size in SIZES.items():
        for n in range(size):
            name = f"{type.value} number {n}"
            yield Node(f"{type.value}:{n}", type, {"en": name, "la": f"{name} latina"}, (f"synonym of {name}",))


def edges(total: int, draw: random.Random) -> Iterator[Edge]:
    """So many different edges, in the shares of their types."""
    seen = set()
    for type, first, second, share in SHARES:
        left = total * share // 100
        starts, ends = (_popular(each, draw) for each in (first, second))
        while left:
            edge = Edge(type, next(starts), next(ends), (f"source {draw.randrange(50)}",), _evidence(draw))
            if edge.key not in seen:
                seen.add(edge.key)
                left -= 1
                yield edge


def _popular(type: NodeType, draw: random.Random) -> Iterator[str]:
    """Ids of a type, forever, by Zipf's law."""
    size = SIZES[type]
    weights = [1 / (n + 1) ** 0.8 for n in range(size)]
    while True:
        yield from (f"{type.value}:{n}" for n in draw.choices(range(size), weights, k=10_000))


def _evidence(draw: random.Random) -> tuple[Evidence, ...]:
    if draw.random() > 0.1:
        return ()
    return (Evidence(str(draw.randrange(1, 30_000_000)), "A sentence of the paper that says so, letter by letter."),)


def asked(starts: Sequence[str], draw: random.Random) -> dict[str, Any]:
    """A question from one of these nodes."""
    start = draw.choice(starts)
    type = start.partition(":")[0]
    pattern = draw.choice(PATTERNS[type])
    return {"start": {"type": type, "id": start}} | ({"pattern": pattern} if pattern else {})


def milliseconds(backends: Embedded, arguments: dict[str, Any]) -> tuple[float, bool]:
    """CPU time of a call, and whether its answer has all paths."""
    start = time.process_time()
    body = call(query_kg, arguments, backends).body
    taken = 1000 * (time.process_time() - start)
    assert "error" not in body, body
    return taken, body["complete"]


def report(name: str, measured: Sequence[tuple[float, bool]]) -> None:
    times = sorted(taken for taken, _ in measured)
    p95 = statistics.quantiles(times, n=20)[-1]
    complete = sum(each for _, each in measured) / len(measured)
    print(
        f"{name:<24} p50 {statistics.median(times):5.1f} ms   p95 {p95:5.1f} ms   max {times[-1]:5.1f} ms   "
        f"{complete:4.0%} of answers complete"
    )


def measure(home: Path, total: int) -> None:
    draw = random.Random(1)  # noqa: S311  the same graph each time
    backends = Embedded(Settings(home=home))
    content = [*nodes(), *edges(total, draw)]
    start = time.process_time()
    import_graph(zip(count(1), content), backends.graph)
    taken = time.process_time() - start
    size = (home / FILE).stat().st_size >> 20
    print(f"{sum(SIZES.values()):,} nodes, {total:,} edges, {size} MB; imported in {taken:.1f} s; CPU time")
    degrees = Counter(end for each in content if isinstance(each, Edge) for end in (each.from_id, each.to_id))
    walked = [each for each in degrees if each.partition(":")[0] in PATTERNS]
    hubs = [each for type in PATTERNS for each in [n for n, _ in degrees.most_common() if n.startswith(type)][:HUBS]]
    del content  # or collecting garbage would look through it
    milliseconds(backends, asked(walked, draw))
    everyone = [milliseconds(backends, asked(walked, draw)) for _ in range(QUESTIONS)]
    dense = [milliseconds(backends, asked(hubs, draw)) for _ in range(QUESTIONS)]
    report("from any node", everyone)
    report(f"from hubs of {degrees[hubs[-1]]:,}-{max(degrees.values()):,} edges", dense)
    backends.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=100_000)
    with tempfile.TemporaryDirectory() as home:
        measure(Path(home), parser.parse_args().edges)


if __name__ == "__main__":
    main()
