"""`python -m tests.sam_local`: every function with each of its events, by `sam local invoke`; with --keep, by hand."""

import json
import re
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.emulated.build import BUILT, QUIET, ROOT, SAM, Failed
from tests.emulated.emulator import Unusable as NoEmulator
from tests.sam_local.engine import Unusable
from tests.sam_local.image import ARCH
from tests.sam_local.local import FUNCTIONS, SamLocal, sam_local
from tests.support.opensearch_node.artefacts import Unusable as NoNode
from tests.support.sample_graph import write_graph

DOORS = ("McpHttpFunction", "ConsoleFunction", "AuthorizeFunction")
FIRST = {"query_key": "first", "term": "17727691[uid] OR obesity OR migraine"}  # what the events are about
PROJECT = "lab"  # what those of projects are about
SHOWN = 160  # characters
VARIABLES = ROOT / ".cache/sam-local/variables.json"
BY_HAND = """
The functions' stores are up; Ctrl-C ends them. One function with one of its events:

  {environment} \\
    {sam} local invoke SearchFunction --event events/search/rag_search.json --template {template} \\
    --env-vars {variables} --parameter-overrides Arch={arch} --skip-pull-image
"""


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with sam_local() as local:
            local.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": FIRST})
            local.cloud.stack.command("projects", "create", PROJECT)
            with tempfile.TemporaryDirectory() as scratch:
                local.cloud.stack.command("kg", "import", str(write_graph(Path(scratch) / "graph.jsonl")))
            if sys.argv[1:] == ["--keep"]:
                _keep(local)
            else:
                _run_all(local)
    except KeyboardInterrupt:
        pass
    except (Unusable, Failed, NoEmulator, NoNode) as problem:
        sys.exit(str(problem))


def _run_all(local: SamLocal) -> None:
    for function in FUNCTIONS:
        for path in sorted((ROOT / "events" / function).glob("*.json")):
            began = time.monotonic()
            answer = json.dumps(local.invoke(function, local.event(path)))
            print(f"{function} {path.name} ({time.monotonic() - began:.0f} s): {answer[:SHOWN]}", flush=True)


def _keep(local: SamLocal) -> None:
    VARIABLES.parent.mkdir(parents=True, exist_ok=True)
    VARIABLES.write_text(json.dumps(by_hand(local.local.variables), indent=2))
    engine = {name: value for name, value in local.local.env.items() if name == "DOCKER_HOST"}
    environment = " ".join(f"{name}={value}" for name, value in (engine | QUIET).items())
    places = {"sam": SAM, "template": BUILT / "template.yaml", "variables": VARIABLES}
    shown = {name: path.relative_to(ROOT) for name, path in places.items()}
    print(BY_HAND.format(environment=environment, arch=ARCH, **shown), flush=True)
    while True:
        time.sleep(3_600)


def by_hand(variables: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """The variables with which the endpoint and the console let in the access token that their events bring."""
    [secret] = re.findall(r"```text\n(.+)\n```", (ROOT / "events/README.md").read_text())[:1]
    door = {"MCP_AUTH_SECRET_KEY": secret, "MCP_AUTH_AUDIENCE": "bio-mcp"}
    return {**variables, **{name: {**variables[name], **door} for name in DOORS if name in variables}}


if __name__ == "__main__":
    main()
