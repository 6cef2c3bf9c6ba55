"""Everything that the product serves, over every door, by the official client, in both protocol eras."""

import base64
import json
import re
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path

import anyio
import pytest
from mangum import Mangum
from mcp import MCPError, StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.running import in_process
from bio_mcp.errors import NcbiFailed, UpstreamFailed, code_for
from bio_mcp.settings import Settings
from bio_mcp.tool import FileText
from tests.doors.lambda_bridge import bridge
from tests.doors.serving import running
from tests.support.examples import EVENTS, EXAMPLES, EXPECTED, parameters_of, paths_of
from tests.support.sample_corpus import corpus

ROOT = Path(__file__).parents[2]
PMID = "17727691"  # a record of the sample
pytestmark = pytest.mark.anyio


@contextmanager
def over_http(behind_lambda):
    app = mcp_http.application(Settings(listed_tools=("all", "chatgpt", "topics")), in_process(corpus()), public=False)
    made = bridge(lambda: Mangum(app, lifespan="off")) if behind_lambda else nullcontext(app)
    with made as served, running(served) as base:
        yield f"{base}/mcp"


@asynccontextmanager
async def over_stdio():
    arguments = ["-m", "tests.doors.serve_corpus", str(corpus().settings.home)]
    yield stdio_client(StdioServerParameters(command=sys.executable, args=arguments, cwd=str(ROOT)))


@pytest.fixture(params=["http", "lambda", "stdio"])
async def server(request):
    if request.param == "stdio":
        async with over_stdio() as transport:
            yield transport
    else:
        with over_http(request.param == "lambda") as url:
            yield url


@pytest.mark.parametrize(
    ("server", "era"),
    [("http", "2026-07-28"), ("lambda", "2026-07-28"), ("stdio", "legacy")],
    indirect=["server"],
)
async def test_everything_is_listed_called_and_read(server, era):
    async with Client(server, mode="auto" if era != "legacy" and not isinstance(server, str) else era) as client:
        listed = (await client.list_tools()).tools
        assert [each.title or each.name for each in listed] == list(TOOLS)
        assert [each.name for each in listed] == [each.portable_name for each in TOOLS.values()]
        for example, arguments in EXAMPLES.items():
            result = await client.call_tool(TOOLS[example].portable_name, arguments)
            assert not result.is_error, result.content[0].text
            assert json.loads(result.content[0].text) == result.structured_content
        templates = (await client.list_resource_templates()).resource_templates
        plain = [each.uri for each in (await client.list_resources()).resources if not each.uri.startswith("skill://")]
        listed_uris = [*(each.uri_template for each in templates), *plain]
        assert listed_uris == sorted(RESOURCES, key=lambda uri: "{" not in uri)
        for uri, resource in RESOURCES.items():
            parameters = parameters_of(resource, PMID)
            contents = (await client.read_resource(uri.format(**parameters))).contents
            text = contents[-1].text
            assert not resource.blob or base64.b64decode(contents[0].blob).decode() == text
            if issubclass(resource.output, FileText):
                assert (contents[0].mime_type, text[:5]) == ("application/x-research-info-systems", "TY  -")
                continue
            assert contents[0].mime_type == "application/json"
            named = "pubmed" if resource.blob else parameters.get(resource.parameters[0])
            assert f"{named}".lower() in json.dumps(json.loads(text)).lower()
        for uri in ("resource://pubmed/paper/abc", "paper://pmid/abc"):
            with pytest.raises(MCPError, match="a PMID is digits only"):
                await client.read_resource(uri)
        for uri in ("resource://pubmed/paper/99999999", "paper://pmid/99999999"):
            with pytest.raises(MCPError, match="not in the corpus"):
                await client.read_resource(uri)
        for uri in ("resource://pubmed/paper/../etc", "paper://pmid/1%2F2", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="Unknown resource"):
                await client.read_resource(uri)


async def test_twenty_different_calls_at_once_are_answered():
    async def ask(client, number, answers):
        name = list(EXAMPLES)[number % len(EXAMPLES)]
        answers.append(await client.call_tool(name, {**EXAMPLES[name]}))

    with over_http(behind_lambda=False) as url:
        async with Client(url) as client:
            answers = []
            async with anyio.create_task_group() as group:
                for number in range(20):
                    group.start_soon(ask, client, number, answers)
    failures = [each.structured_content["error"] for each in answers if each.is_error]
    assert len(answers) == 20
    assert {each["code"] for each in failures} <= {"STORE"}, failures  # a sync of the same query_key holds its lease
    assert all(each["details"]["retryable"] for each in failures)


def test_every_functions_entry_point_answers_its_events():
    """In one process; in tests/all each function is loaded alone, as the Lambda service does it."""
    functions = sorted({TOOLS[name].lambda_module for name in EXAMPLES})
    events = {function: events_of(function) for function in functions}
    events["mcp_http"] = [path for path in events_of("mcp_http") if '"rawPath": "/mcp"' in Path(path).read_text()]
    done = run_with_corpus(events)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(line["message"] == "call" for line in lines) >= sum(len(events[each]) for each in functions)
    answered = dict(json.loads(line) for line in done.stderr.splitlines())
    by_http = answered.pop("mcp_http")
    expected = [EXPECTED[str(Path(path).relative_to(EVENTS))] for path in events["mcp_http"]]
    assert [each["statusCode"] for each in by_http] == [each["statusCode"] for each in expected]
    for answer, wanted in zip(by_http, expected, strict=True):
        assert ('"result"' in answer["body"]) == any("body.result" in each for each in wanted)
    for function, answers in answered.items():
        assert len(answers) == len(events[function]) > 0
        codes = {answer["error"]["code"] for answer in answers if "error" in answer}
        asks_others = [tool for tool in TOOLS.values() if tool.lambda_module == function and tool.open_world]
        away = (NcbiFailed("x"), UpstreamFailed("x"))
        assert codes <= {code_for(each, tool.family.dialect) for tool in asks_others for each in away}, function


def events_of(function):
    return [
        str(path) for path in paths_of(function) if "Records" not in json.loads(path.read_text())
    ]  # a queue is AWS's only


PROGRAM = """
import json, runpy, sys
import bio_mcp.adapters.scholarly
bio_mcp.adapters.scholarly.TRIES = 1  # services that are away are asked once
from tests.doors.lambda_bridge import context
for function, events in json.loads(sys.argv[1]).items():
    handler = runpy.run_path(f"functions/{function}/app.py")["handler"]
    print(json.dumps([function, [handler(json.load(open(path)), context()) for path in events]]), file=sys.stderr)
"""


def run_with_corpus(events):
    env = {"BIO_MCP_HOME": str(corpus().settings.home), "NCBI_BASE_URL": "http://127.0.0.1:9/", "NCBI_MAX_RETRIES": "0"}
    env |= {f"BIO_MCP_{name}_URL": "http://127.0.0.1:9" for name in ("ICITE", "CROSSREF", "EUROPE_PMC", "UNPAYWALL")}
    env |= {"NCBI_REQUEST_DELAY_MS": "1", "BIO_MCP_INGEST_ROOTS": str(ROOT)}
    env |= {"MCP_AUTH_SECRET_KEY": re.search(r"```text\n(.+)\n```", (ROOT / "events/README.md").read_text())[1]}
    command = [sys.executable, "-c", PROGRAM, json.dumps(events)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=env)
