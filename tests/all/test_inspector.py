"""The official Inspector's command line against the Lambda handler, in both protocol eras."""

import base64
import json

import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from tests.all.node import run
from tests.support.examples import EXAMPLES, parameters_of
from tests.support.sample_corpus import corpus

INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
pytestmark = [
    pytest.mark.parametrize("url", [False], indirect=True, ids=["product"]),
    pytest.mark.parametrize("era", ["modern", "legacy"]),
]
PMID = "17727691"  # a record of the sample


@pytest.fixture
def inspect(url, era, tmp_path):
    def ask(*options, code=0):
        shared = ["--transport", "http", "--protocol-era", era, "--format", "json"]
        done = run(INSPECTOR, "--cli", url, *shared, *options, home=tmp_path)
        assert done.returncode == code, done.stdout[-4_000:] + done.stderr[-4_000:]
        return done

    return ask


def test_every_tool_is_listed_and_its_schemas_are_strictly_valid(inspect):
    listed = json.loads(inspect("--method", "tools/list", "--strict").stdout)
    tools = listed.get("result", listed)["tools"]
    assert [each.get("title", each["name"]) for each in tools] == list(TOOLS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_tool_is_called(inspect, name):
    corpus()
    called = ["--tool-name", TOOLS[name].portable_name, "--tool-args-json", json.dumps(EXAMPLES[name])]
    answered = json.loads(inspect("--method", "tools/call", *called).stdout, parse_int=float)
    result = answered.get("result", answered)
    text = result["content"][0]["text"]
    assert json.loads(text, parse_int=float) == result["structuredContent"]  # as JavaScript reads a seed beyond 2^53


@pytest.mark.parametrize("uri", RESOURCES)
def test_every_resource_is_read(inspect, uri):
    parameters = parameters_of(RESOURCES[uri], PMID)
    answered = json.loads(inspect("--method", "resources/read", "--uri", uri.format(**parameters)).stdout)
    contents = answered.get("result", answered)["contents"]
    if RESOURCES[uri].blob:
        assert json.loads(base64.b64decode(contents[0]["blob"]))
    else:
        shown = [value for value in parameters.values() if RESOURCES[uri].mime_type == "application/json"]
        assert contents[0]["text"]
        assert all(value in contents[0]["text"] for value in shown)


def test_a_tools_failure_has_the_exit_code_of_one(inspect):
    arguments = json.dumps({"doc_id": "pmid:99999999"})
    done = inspect("--method", "tools/call", "--tool-name", "rag_get", "--tool-args-json", arguments, code=5)
    assert "NOT_FOUND" in done.stdout
