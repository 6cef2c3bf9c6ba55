"""The image of the endpoint, built by its recipe and run with no more rights than compose.yaml gives it."""

import json
import subprocess
import time

import anyio
import httpx
import pytest
import yaml
from mcp.client import Client

from scripts.image import CONTEXT, ROOT, build, lay_out_endpoint
from tests.sam_local.engine import Unusable, engine, run
from tests.sam_local.image import ARCH
from tests.sam_local.ingest_image import base

pytestmark = pytest.mark.timeout(600)
NAME = f"bio-mcp/endpoint:{ARCH}"
COMPOSED = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["endpoint"]
START_S = 60.0


@pytest.fixture(scope="module")
def env():
    """An engine that has the image."""
    with engine() as env:
        lay_out_endpoint(ARCH, CONTEXT)
        options = ["--quiet", "--network", "host", "--build-arg", f"BASE={base(env)}"]
        build("endpoint", CONTEXT, ARCH, NAME, options, env)
        yield env


@pytest.fixture(scope="module")
def endpoint(env):
    """A running container, and the address at which it serves reading to anybody."""
    rights = ["--read-only", "--user", COMPOSED["user"], "--cap-drop", "ALL", "--tmpfs", COMPOSED["tmpfs"][0]]
    options = ["--security-opt", COMPOSED["security_opt"][0], "--publish", "127.0.0.1::3010"]
    settings = ["--env", "BIO_MCP_PUBLIC_READ=on", "--env", "MCP_HTTP_WORKERS=1"]
    name = run(env, "docker", "run", "--detach", *rights, *options, *settings, NAME).strip()
    try:
        address = f"http://{run(env, 'docker', 'port', name, '3010/tcp').split()[0]}"
        yield name, ready(env, name, address)
    finally:
        run(env, "docker", "rm", "--force", "--volumes", name)


def ready(env, name, address):
    end = time.monotonic() + START_S
    while True:
        try:
            if httpx.get(f"{address}/ready", timeout=10).status_code == httpx.codes.OK:
                return address
        except httpx.TransportError:
            pass
        if time.monotonic() > end:
            raise Unusable(run(env, "docker", "logs", name))
        time.sleep(0.3)


def test_a_client_is_answered_by_the_model_that_the_image_holds(endpoint):
    async def ask():
        async with Client(f"{endpoint[1]}/mcp") as client:
            return await client.call_tool("rag_search", {"query": "migraine"})

    assert anyio.run(ask).structured_content["results"] == []


def test_it_looks_after_its_health_by_the_command_of_the_recipe(env, endpoint):
    assert run(env, "docker", "exec", endpoint[0], "health") == ""


def test_it_runs_as_nobody_in_particular_and_writes_its_data_alone(env, endpoint):
    assert run(env, "docker", "exec", endpoint[0], "id", "-u").strip() == COMPOSED["user"].partition(":")[0]
    run(env, "docker", "exec", endpoint[0], "touch", "/data/x")
    with pytest.raises(Unusable, match="Read-only"):
        run(env, "docker", "exec", endpoint[0], "touch", "/opt/x")


def test_commands_run_in_it(env, endpoint):
    assert "bio-mcp" in run(env, "docker", "exec", endpoint[0], "bio-mcp", "--version")


def test_a_client_of_the_registry_starts_it_over_stdio(env):
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    command = ["docker", "run", "--interactive", "--rm", NAME, "stdio"]
    spoken = json.dumps(initialize) + "\n"
    answered = subprocess.run(command, env=env, input=spoken, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(answered.stdout)["result"]["serverInfo"]["name"] == "bio-mcp"
