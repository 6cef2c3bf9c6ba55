"""What of opensearch-py is loaded, and what of it the layer holds."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = {"boto3", "httpx", "sqlite3", "onnxruntime", "requests", "asyncio", "dateutil", "grpc", "aiohttp"}
USED = {"_version", "compat", "connection", "connection_pool", "exceptions", "helpers", "metrics", "serializer"}
LOCKS = [
    *ROOT.glob("layers/*/requirements.txt"),
    *(ROOT / "requirements" / f"{name}.txt" for name in ("dev", "hf", "run")),
]


@cache
def loaded(code):
    """The modules that a process of its own has loaded after `code`."""
    shown = f"import sys\n{code}\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def parts(of="opensearchpy."):
    found = loaded("import bio_mcp.adapters.opensearch.passages")
    return {name.removeprefix(of).partition(".")[0] for name in found if name.startswith(of)}


def locked(lock):
    return set(re.findall(r"^([a-z0-9-]+)==", lock.read_text(), re.MULTILINE))


def test_the_adapter_loads_nothing_heavy_before_it_signs_and_of_opensearch_py_its_transport_alone():
    assert loaded("import bio_mcp.adapters.opensearch.passages") & HEAVY == set()
    assert parts() == {*USED, "transport"}
    assert parts("opensearchpy.helpers.") == {"signer", "utils"}


def test_whoever_imports_opensearch_py_after_the_adapter_gets_it_whole():
    whole = "import asyncio, opensearchpy, requests; asyncio.run, opensearchpy.OpenSearch, requests.Session"
    found = loaded(f"import bio_mcp.adapters.opensearch.passages; {whole}; opensearchpy.helpers.bulk")
    assert {"opensearchpy", "opensearchpy.client", "requests.sessions"} <= found


def test_nothing_that_another_thread_might_import_is_hidden_beside_one():
    beside = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"
    found = loaded(f"{beside}\nimport bio_mcp.adapters.opensearch.passages")
    assert {"asyncio", "requests.sessions"} <= found
    assert "opensearchpy.client" not in found


def test_the_layer_leaves_out_only_what_is_never_loaded():
    recipe = (ROOT / "layers/common/Makefile").read_text()
    left_out = set(re.findall(r"opensearchpy/(\w+)", recipe))
    assert left_out == {"_async", "client", "plugins"}
    assert left_out.isdisjoint(parts())


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.relative_to(ROOT)))
def test_grpc_is_installed_nowhere(lock):
    assert locked(lock).isdisjoint({"grpcio", "opensearch-protobufs"})


def test_the_layer_has_opensearch_py_and_not_its_other_ways_to_connect():
    names = locked(ROOT / "layers/common/requirements.txt")
    assert {"opensearch-py", "events"} <= names
    assert names.isdisjoint({"requests", "charset-normalizer", "aiohttp", "protobuf"})
