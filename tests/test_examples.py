"""Every tool has one example, which other tests call it with; entry points of functions are thin."""

import ast
import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from bio_mcp.catalog import MODULES, TOOLS
from tests.doors.lambda_bridge import in_a_thread_with_a_loop
from tests.sam_local.local import FILES
from tests.support.eutils_server.client import running
from tests.support.examples import EXAMPLES, example_of, examples_of, path_of, without_example
from tests.support.package_source import ROOT, body_of, imports
from tests.tools.live import LiveDesk


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_has_an_example(name):
    assert without_example(TOOLS[name]) is None


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_calls_the_tool_that_it_is_named_for(name):
    assert json.loads((ROOT / path_of(TOOLS[name])).read_text())["tool"] == name


def test_a_tool_without_an_example_fails_with_what_to_add_and_is_left_out_of_the_other_tests():
    new = replace(TOOLS["rag.get"], name="corpus.size")
    added = 'add events/get_doc/corpus_size.json, as {"tool": "corpus.size", "arguments": {...}}'
    assert without_example(new) == f"corpus.size has no example: {added}"
    assert examples_of([new]) == {}
    with pytest.raises(LookupError, match=r"add events/get_doc/corpus_size\.json"):
        example_of(new)


FUNCTIONS = ROOT / "functions"


def apps() -> dict[str, Path]:
    return {path.parent.name: path for path in sorted(FUNCTIONS.glob("*/app.py"))}


def thick(source: str) -> list[str]:
    """What a function's app.py does beyond importing one door and making its handler."""
    body = body_of(source)
    allowed = (ast.Expr, ast.ImportFrom, ast.Assign)
    extra = [ast.unparse(node) for node in body if not isinstance(node, allowed)]
    doors = [each for each in imports(source) if not each.startswith(("bio_mcp.doors.", "bio_mcp.tools."))]
    return [*extra, *doors, *(["too long"] if len(source.splitlines()) > 7 else [])]


@pytest.mark.parametrize("name", apps())
def test_a_functions_entry_point_is_thin(name):
    assert thick(apps()[name].read_text()) == []


@pytest.mark.parametrize(
    "source", ["import boto3", "def handler(e, c): ...", "from bio_mcp.adapters import x", "x = 1\n" * 8]
)
def test_a_thick_entry_point_would_be_seen(source):
    assert thick(source)


def test_every_tools_module_has_a_function_of_its_name_and_none_is_left_over():
    assert set(apps()) == {module.__name__.rpartition(".")[2] for module in MODULES} | {
        "mcp_http",
        "authorize",
        "heartbeat",
        "load",
        "console",
    }
    assert {tool.lambda_module for tool in TOOLS.values()} <= set(apps())


@pytest.mark.parametrize("name", [each for each in apps() if each != "mcp_http"])
def test_an_entry_point_makes_a_handler(name):
    with in_a_thread_with_a_loop() as environment:  # Mangum takes the thread's loop, or makes one that nobody closes
        made = environment.submit(runpy.run_path, str(apps()[name])).result()
    assert callable(made["handler"])


@pytest.fixture(scope="module")
def at():
    with running(FILES) as ncbi:
        made = LiveDesk(ncbi)
        yield made
        made.close()


@pytest.mark.parametrize("path", sorted((ROOT / "events/lookup").glob("*.json")), ids=lambda path: path.stem)
def test_an_event_of_the_lookup_finds_what_it_asks_for(at, path):
    event = json.loads(path.read_text())
    answer = at.ask(TOOLS[event["tool"]], **event["arguments"])
    assert [name for name in TOOLS[event["tool"]].output_schema["required"] if not answer[name]] == []
