"""Whether a search domain has room for more projects: each takes a shard, and a copy of it where there is another node.

A node holds `cluster.max_shards_per_node` shards, and each costs heap, however little is in it: an empty index of a
project 0.2 MB, one of 1,000 chunks 0.3 MB (measured, docs/runbook.md).
"""

from dataclasses import dataclass
from typing import Any

from bio_mcp.adapters.opensearch.transport import OpenSearchTransport
from bio_mcp.health import OK, WARN, Finding

SHARD_MB = 0.3  # of heap
HEAP_SHARE = 0.2  # of all heap that shards may take
NEARLY = 0.8  # of the room
REMEDY = "Delete projects that nobody needs, or give the domain more or larger nodes, before it refuses new ones."


@dataclass(frozen=True, slots=True)
class Room:
    """Shards in use and shards that the data nodes have room for, by their limit and by their heap."""

    shards: int
    limit: int
    heap: int
    nodes: int

    @property
    def projects(self) -> int:
        """How many more projects fit."""
        return max(0, min(self.limit, self.heap) - self.shards) // min(2, max(1, self.nodes))


def room_for(transport: OpenSearchTransport, corpus: str) -> Finding:
    """Count the projects of `corpus` and the shards of the domain, and compare them with what its nodes hold."""
    projects, room = count_projects(transport, corpus), _room(transport)
    found = (
        f"{projects:,} projects; {room.shards:,} shards in use of {room.limit:,} that {room.nodes} data nodes may hold "
        f"and {room.heap:,} that their heap is good for: room for {room.projects:,} more projects"
    )
    full = room.shards >= NEARLY * min(room.limit, room.heap)
    return Finding(WARN, found, REMEDY) if full else Finding(OK, found)


def count_projects(transport: OpenSearchTransport, corpus: str) -> int:
    """Count the collections of `corpus`."""
    answer: dict[str, Any] = transport.ask("GET", f"/_alias/{corpus}.*")
    return len({alias for each in answer.values() for alias in each["aliases"] if "~" not in alias})


def _room(transport: OpenSearchTransport) -> Room:
    health: dict[str, Any] = transport.ask("GET", "/_cluster/health")
    settings: dict[str, Any] = transport.ask("GET", "/_cluster/settings?include_defaults=true")
    stats: dict[str, Any] = transport.ask("GET", "/_nodes/stats/jvm")
    data = [each for each in stats["nodes"].values() if "data" in each["roles"]]
    heap_mb = sum(each["jvm"]["mem"]["heap_max_in_bytes"] for each in data) / (1 << 20)
    nodes = health["number_of_data_nodes"]
    return Room(
        health["active_shards"] + health["unassigned_shards"],
        nodes * _limit(settings),
        int(heap_mb * HEAP_SHARE / SHARD_MB),
        nodes,
    )


def _limit(settings: dict[str, Any]) -> int:
    """`cluster.max_shards_per_node`, the most transient of what is set."""
    found = [
        settings[kind]["cluster"]["max_shards_per_node"]
        for kind in ("transient", "persistent", "defaults")
        if "max_shards_per_node" in settings.get(kind, {}).get("cluster", {})
    ]
    return int(found[0])
