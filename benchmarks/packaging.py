"""What the functions weigh and what a cold start costs: `python -m benchmarks.packaging` prints Markdown tables.

Both architectures are built, as `make build` does. A cold start is measured in a fresh process of Lambda's Python over
the layers built for this machine, in the mode on AWS: CPU time of importing the entry point, and of a first call that
needs no data. What the call reaches over the network is a stub here that knows nothing, so no more than finding nothing
is measured; the question of a search is embedded all the same. Each figure is the least of eight, since other work only
adds.

--before TREE   measure the imports of another checkout too, in turns; `make setup` was run in it
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt

from tests.support.aws_template import FUNCTIONS, TEMPLATE, branches, text, variables

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache/packaging"
HERE = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
LIMIT = 250 * 1024 * 1024  # bytes of a function and its layers, unzipped
REPEATS = 8
SECRET = "a secret that is long enough to sign with"  # noqa: S105  # of this benchmark
URL = "https://mcp.example.org/mcp"
LAYERS = {name: [each["Ref"] for each in made["Layers"]] for name, (_, made) in FUNCTIONS.items()}
FIRST = {  # of its events, one that needs no data
    "authorize": "sign_in",
    "checkpoint": "corpus_checkpoint_get",
    "console": "corpora",
    "get_doc": "rag_get",
    "lookup": "getBookRecord",
    "mcp_http": "tools_call",
    "pubmed": "searchPubMedArticles",
    "search": "rag_search",
}
TOOL_MS, MODEL_MS, DOOR_MS = 300, 400, 900  # of the import, at most
COLD = """
import json, sys, time
class Context:
    function_name = function_version = memory_limit_in_mb = invoked_function_arn = aws_request_id = "benchmark"
    def get_remaining_time_in_millis(self): return 20_000
event = json.loads(sys.argv[1])
began = time.process_time()
import app
imported = time.process_time()
answer = app.handler(event, Context()) if event else {}
called = time.process_time()
print()
print(json.dumps([(imported - began) * 1000, (called - imported) * 1000, answer]))
"""


class Stub(BaseHTTPRequestHandler):
    """Stands for DynamoDB, OpenSearch, Lambda and NCBI when they have nothing."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # http.server's name
        self._read()
        self._answer(404, {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404})

    def do_POST(self) -> None:
        self._read()
        if "esearch" in self.path:
            self._answer(200, {"esearchresult": {"count": "0", "idlist": [], "querytranslation": ""}})
        elif "invocations" in self.path:
            self._answer(200, {"body": {"results": []}, "audit": {}})
        elif self.headers.get("X-Amz-Target", "").endswith(".UpdateItem"):
            soon = int(time.time() * 1e6) + 400_000  # whoever asks may ask NCBI at once
            self._answer(200, {"Attributes": {"tat": {"N": str(soon)}}})
        else:
            self._answer(200, {"Responses": {}, "UnprocessedKeys": {}, "Items": []})

    def do_PUT(self) -> None:
        self._read()
        self._answer(403, {"message": "not allowed"})  # as AWS says to a function that may only read

    def _read(self) -> None:
        """Read the body, which would be taken for the next request: OpenSearch's searches are GET with a body."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@contextmanager
def stub() -> Iterator[str]:
    """The address of a running `Stub`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def built(arch: str, tree: Path = ROOT) -> Path:
    """The directory that `sam build` fills for this architecture."""
    into = tree / CACHE.relative_to(ROOT) / arch
    environment = {**os.environ, "ARCH": arch, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"}
    command = [ROOT / ".cache/sam/bin/sam", "build", "--build-dir", into]
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True)
    return into


def python313() -> str:
    """The Python that the layers were compiled by."""
    shown = subprocess.run(["make", "--silent", "python313"], cwd=ROOT, check=True, capture_output=True, text=True)
    return shown.stdout.strip()


def runtime(python: str) -> Path:
    """What Lambda's own Python holds beside its standard library: boto3."""
    into, uv = CACHE / "runtime", ROOT / ".venv/bin/uv"
    locked = ["--require-hashes", "-r", ROOT / "requirements/lambda.txt"]
    command = [uv, "pip", "install", "--quiet", "--python", python, "--target", into, "--compile-bytecode", *locked]
    subprocess.run(command, check=True, capture_output=True)
    return into


def weight(*paths: Path) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for path in paths for file in path.rglob("*") if file.is_file())


def environment(function: str, tree: Path, build: Path, runtime: Path, address: str) -> dict[str, str]:
    """The variables that template.yaml gives the function, filled in for a machine where there is nothing."""
    layers = [str(build / layer / "python") for layer in LAYERS[function]]
    given = {
        "AWS_ENDPOINT_URL": address,
        "BIO_MCP_FUNCTIONS": ",".join(f"{name}={name}" for name in FUNCTIONS if name != "mcp_http"),
        "BIO_MCP_MODELS": str(build / "InferenceLayer/models"),
        "BIO_MCP_OPENSEARCH_SERVICE": "none",
        "BIO_MCP_OPENSEARCH_URL": address,
        "BIO_MCP_QUEUE_URL": f"{address}/queue",
        "NCBI_BASE_URL": f"{address}/",
        "MCP_AUTH_SECRET_KEY": SECRET,
        "MCP_RESOURCE_URL": URL,
    }
    names = {name: _made(value) for name, value in variables(function).items()}
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(tree / "functions" / function), *layers, str(runtime)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        **{name: value for name, value in names.items() if not name.startswith(("MCP_", "NCBI_"))},
        **{name: value for name, value in given.items() if name in names},
    }


def _made(value: Any) -> str:
    """A variable of a stack that makes everything itself: text, the default of a parameter, or a name."""
    first = next(branches(value))
    parameter = TEMPLATE["Parameters"].get(first.get("Ref"), {}) if isinstance(first, dict) else {}
    return str(parameter.get("Default") or text(first))


def cold_starts(
    function: str, builds: dict[Path, Path], runtime: Path, python: str, address: str
) -> dict[Path, tuple[float, float]]:
    """CPU-ms of importing the entry point of each tree, which has this build, and of a first call of ours."""
    runs: dict[Path, list[tuple[float, float]]] = {tree: [] for tree in builds}
    for _ in range(REPEATS):
        for tree, build in builds.items():
            event = _event(function) if tree == ROOT else {}
            ran = subprocess.run(
                [python, "-c", COLD, json.dumps(event)],
                env=environment(function, tree, build, runtime, address),
                capture_output=True,
                text=True,
                check=False,
            )
            if ran.returncode:
                raise SystemExit(f"{function} of {tree} did not start:\n{ran.stderr}")
            imported, called, answer = json.loads(ran.stdout.splitlines()[-1])
            if re.search("internal error|BIO_MCP_", json.dumps(answer)) or answer.get("statusCode", 200) != 200:
                raise SystemExit(f"{function} failed: {answer}\n{ran.stdout}")
            runs[tree].append((imported, called))
    return {
        tree: (min(imported for imported, _ in each), min(called for _, called in each)) for tree, each in runs.items()
    }


def _event(function: str) -> dict[str, Any]:
    """A first call of the function; empty where each needs data."""
    if function not in FIRST:
        return {}
    event: dict[str, Any] = json.loads((ROOT / "events" / function / f"{FIRST[function]}.json").read_text("utf-8"))
    if "headers" in event:
        token = jwt.encode({"aud": URL, "sub": "benchmark", "exp": 4_000_000_000}, SECRET, "HS256")
        event["headers"]["authorization"] = f"Bearer {token}"
    return event


def main() -> int:
    """Print the tables; 1 if something is too heavy."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=lambda given: Path(given).resolve())
    before = parser.parse_args().before
    builds = {arch: built(arch) for arch in ("arm64", "x86_64")}
    print("| MB, unzipped | arm64 | x86_64 |\n|---|---|---|")
    for layer in ("CommonLayer", "InferenceLayer", "McpLayer", "ParsingLayer"):
        print(f"| {layer} | " + " | ".join(f"{weight(build / layer) / 1e6:.1f}" for build in builds.values()) + " |")
    sizes = {}
    for function, layers in LAYERS.items():
        sizes[function] = [
            weight(ROOT / "functions" / function, *(each / layer for layer in layers)) for each in builds.values()
        ]
        print(f"| {function} with its layers | " + " | ".join(f"{size / 1e6:.1f}" for size in sizes[function]) + " |")
    print(f"\nLambda takes {LIMIT / 1e6:.1f} MB.\n")
    python = python313()
    brought = runtime(python)
    trees = {ROOT: builds[HERE]} | ({before: built(HERE, before)} if before else {})
    named = "import before | import" if before else "import"
    print(
        f"| CPU-ms of a cold start | {named} | import at most | first call |\n|---|---|{'---|' * bool(before)}---|---|"
    )
    with stub() as address:
        for function, layers in LAYERS.items():
            measured = cold_starts(function, trees, brought, python, address)
            imported, called = measured[ROOT]
            most = DOOR_MS if "McpLayer" in layers else MODEL_MS if "InferenceLayer" in layers else TOOL_MS
            cells = [*([f"{measured[before][0]:.0f}"] if before else []), f"{imported:.0f}", str(most)]
            print(f"| {function} | {' | '.join(cells)} | {f'{called:.0f}' if function in FIRST else ''} |", flush=True)
    return int(max(map(max, sizes.values())) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
