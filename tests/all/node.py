"""The Node programs that judge the endpoint from outside; `make test-all` installs them into .cache."""

import os
import subprocess
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache"
NODE, PROGRAMS = CACHE / "node/bin/node", CACHE / "npm/node_modules"


def run(script: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of an installed npm package with a home of its own; fails when it is not installed."""
    assert NODE.exists(), "Node is not installed in .cache/node: run make test-all"
    assert (PROGRAMS / script).exists(), f"{script} is not installed in .cache/npm: run make test-all"
    env = {
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "MCP_CATALOG_PATH": str(home / "catalogue.json"),
        "NO_COLOR": "1",
    }
    command = [NODE, PROGRAMS / script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=home, check=False, timeout=100)
