"""A built stack for `sam local`: a Docker engine, Lambda's image, and an emulator that containers can reach."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.emulated.build import ROOT
from tests.emulated.cloud import SAMPLES, Cloud, cloud
from tests.sam_local.engine import engine, run
from tests.sam_local.image import ensure
from tests.sam_local.invoking import Local, logical_id

FUNCTIONS = sorted(path.name for path in (ROOT / "events").iterdir() if path.is_dir())  # those that have events
FILES = (*SAMPLES, ROOT / "tests/data/pubmed/edges.xml.xz")  # the last has the book that an event asks for
ADDRESSES = "{{json .IPAM.Config}}"


@dataclass(frozen=True)
class SamLocal:
    local: Local
    cloud: Cloud

    def event(self, path: Path) -> dict[str, Any]:
        """The event of a file; one of the HTTP API comes with an access token, as a client would send it."""
        event: dict[str, Any] = json.loads(path.read_text())
        if "authorization" in event.get("headers", {}):
            event["headers"]["authorization"] = f"Bearer {self.cloud.stack.token()}"
        return event

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        return self.local.invoke(function, event)


def host_of(addresses: str) -> str:
    """This machine's address on a Docker network. An engine that has just made the network names only the subnet, of
    which it takes the first address itself."""
    [first, *_] = json.loads(addresses)
    return str(first.get("Gateway") or next(ip_network(first["Subnet"]).hosts()))


@contextmanager
def sam_local() -> Iterator[SamLocal]:
    """Functions in containers, over the stores of a stack deployed into an emulator on Docker's bridge."""
    with engine() as env:
        ensure(env)
        bridge = run(env, "docker", "network", "inspect", "bridge", "--format", ADDRESSES)
        with cloud(host=host_of(bridge), files=FILES, enforcing=False) as up:
            yield SamLocal(Local(env, {logical_id(name): _variables(up, name) for name in FUNCTIONS}), up)
            run(env, "docker", "image", "prune", "--force")


def _variables(up: Cloud, function: str) -> dict[str, str]:
    asked = up.stack.client("lambda").get_function_configuration
    given = asked(FunctionName=f"{up.stack.name}-{function}")["Environment"]["Variables"]
    return {name: value for name, value in given.items() if name != "BIO_MCP_MODELS"}
