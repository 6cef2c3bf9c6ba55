"""A Lambda pays for what it imports at each cold start: heavy packages are imported where they are used, when they are.

Each entry point is imported by a process of its own. What it may not have loaded by then is written down here.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))

# What is loaded on first use: models, parsers, clients.
LATER = {"boto3", "httpx", "lxml", "numpy", "onnxruntime", "sqlite3", "tokenizers"}
# What belongs to another door, or to no Lambda at all.
MCP = {"anyio", "fastapi", "mangum", "mcp", "mcp_types", "starlette"}
NEVER = {"click", "httpx2", "moto", "onnx", "pytest", "rich", "torch", "yaml"}
SPEAK_MCP = ("authorize", "console", "heartbeat", "mcp_http")
FRONT = {"fastapi", "mcp", "mcp_types", "uvicorn"}  # the endpoint's, and no page's
REFUSED = {name: LATER | MCP | NEVER for name in FUNCTIONS}
REFUSED |= {name: LATER | NEVER - {"click", "httpx2"} for name in SPEAK_MCP}
REFUSED["console"] |= FRONT | {"click", "httpx2"}
REFUSED["authorize"] |= {"fastapi"}


def loaded(code: str, depth: int = 1, **environment: str) -> set[str]:
    """The packages, named to this depth, that a fresh process has loaded after running `code`."""
    shown = f"{code}\nimport sys\nprint(*{{'.'.join(name.split('.')[:{depth}]) for name in sys.modules}})"
    environment |= {"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "us-east-1"}
    ran = subprocess.run(
        [sys.executable, "-c", shown], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_entry_point_loads_nothing_heavy_that_its_first_call_may_not_need(function):
    found = loaded(f"import sys; sys.path.insert(0, 'functions/{function}'); import app")
    assert found & REFUSED[function] == set()
    assert "bio_mcp" in found


def test_the_endpoint_loads_what_calls_functions_when_it_calls_one():
    served = ",".join(f"{name}={name}" for name in FUNCTIONS if name not in SPEAK_MCP)
    settings = {"BIO_MCP_MODE": "aws", "BIO_MCP_FUNCTIONS": served, "MCP_AUTH_SECRET_KEY": "s" * 40}
    found = loaded("import sys; sys.path.insert(0, 'functions/mcp_http'); import app", depth=2, **settings)
    assert found & {"botocore.session", "botocore.config", "urllib3"} == set()
    assert "bio_mcp.wiring" in found


@pytest.fixture
def sdk_of_the_layer(tmp_path):
    """The SDK as the layer has it: its packages import nothing by themselves."""
    for package in ("mcp", "mcp_types"):
        copytree(Path(find_spec(package).origin).parent, tmp_path / package)
    emptied = re.search("^PARTS := (.+)$", (ROOT / "layers/mcp/Makefile").read_text(), re.MULTILINE)[1].split()
    for each in emptied:
        (tmp_path / each).write_text("")
    return str(tmp_path)


def test_the_layer_of_the_endpoint_imports_neither_the_clients_side_nor_a_second_server(sdk_of_the_layer):
    server = loaded("import mcp.server.lowlevel", depth=3, PYTHONPATH=sdk_of_the_layer)
    assert "mcp.server.lowlevel" in server
    assert server & {"mcp.client.client", "mcp.client.session", "mcp.server.mcpserver"} == set()


@pytest.mark.parametrize("function", ["authorize", "heartbeat", "mcp_http"])
def test_functions_start_with_the_sdk_as_the_layer_has_it(sdk_of_the_layer, function):
    code = f"import sys; sys.path.insert(0, 'functions/{function}'); import app, mcp; print(mcp.__file__)"
    found = loaded(code, depth=3, PYTHONPATH=sdk_of_the_layer)
    assert f"{sdk_of_the_layer}/mcp/__init__.py" in found
    assert "mcp.server.mcpserver" not in found


def test_a_heavy_import_would_be_seen():
    assert loaded("import numpy") & LATER == {"numpy"}


def test_settings_and_the_catalogue_load_no_backend():
    found = loaded("import bio_mcp.settings, bio_mcp.catalog, bio_mcp.call")
    assert found & (LATER | MCP | NEVER | {"aws_lambda_powertools", "botocore"}) == set()
