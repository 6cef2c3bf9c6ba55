"""The rules of the house, read off the source; each is shown to fail on a source that breaks it."""

import ast
import json
import re
import runpy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest

from benchmarks.code import patches
from bio_mcp.catalog import MODULES, TOOLS
from bio_mcp.doors.aws.events import Event
from bio_mcp.doors.aws.inbox import call_for
from tests.doors.lambda_bridge import in_a_thread_with_a_loop

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "layers/common/bio_mcp"
FUNCTIONS = ROOT / "functions"

# A module imports its own layer and what stands before it.
ORDER = [
    "errors",
    "dialects",
    "health",
    "lazy",
    "refreshing",
    "deadline",
    "callers",
    "literature",
    "retrieval",
    "graph",
    "costing",
    "ports",
    "tenants",
    "query_terms",
    "cache_use",
    "one_index",
    "metering",
    "progress",
    "syncing",
    "ingesting",
    "answering",
    "extracting",
    "evaluating",
    "querying",
    "screening",
    "exporting",
    "schemas",
    "tool",
    "tools",
    "catalog",
    "untrusted",
    "skills",
    "prompts",
    "call",
    "replaying",
    "directories",
    "setting_fields",
    "aws_settings",
    "embedding_settings",
    "language_model_settings",
    "source_settings",
    "limit_settings",
    "settings",
    "adapters",
    "wiring",
    "doors",
]
FORBIDDEN = {
    "tools": {"adapters", "settings", "wiring", "catalog", "call"},
    "doors": {"adapters"},
    "adapters": {
        "tool",
        "tools",
        "catalog",
        "call",
        "settings",
        "aws_settings",
        "embedding_settings",
        "language_model_settings",
        "source_settings",
        "limit_settings",
    },
}

# Who may import what we did not write. A layer or module not named for a package may not import it.
THIRD_PARTIES = {
    "pydantic": {"tool", "tools", "call", "schemas", "adapters.caching", "doors.auth.server", "doors.aws", "doors.cli"},
    "pydantic_core": {"doors.cli"},
    "yaml": {"adapters.parsers"},
    "rfc8785": {"call", "literature", "querying.references"},
    "docx": {"adapters.parsers"},
    "orjson": {"literature", "adapters.embedded"},
    "isal": {"literature"},
    "lxml": {"literature.jats", "literature.medline", "literature.references", "adapters.entrez", "adapters.parsers"},
    "markdown_it": {"adapters.parsers"},
    "numpy": {
        "literature.medline.regular",
        "retrieval",
        "ports",
        "syncing",
        "answering",
        "evaluating",
        "ingesting",
        "screening",
        "adapters",
        "doors",
    },
    "Stemmer": {"retrieval"},
    "pythainlp": {"retrieval.thai_words"},
    "httpx": {"adapters"},
    "httpx2": {"doors.aws.heartbeat"},
    "onnx": {"adapters.embedders"},
    "onnxruntime": {"adapters.embedders"},
    "sentence_transformers": {"adapters.embedders"},
    "tokenizers": {"adapters.embedders", "adapters.rerankers"},
    "torch": {"adapters.embedders"},
    "boto3": {"adapters.aws"},
    "botocore": {"adapters.aws", "adapters.opensearch"},
    "mypy_boto3_dynamodb": {"adapters.aws"},
    "mypy_boto3_events": {"adapters.aws"},
    "mypy_boto3_lambda": {"adapters.aws"},
    "mypy_boto3_s3": {"adapters.aws"},
    "mypy_boto3_sqs": {"adapters.aws"},
    "opensearchpy": {"adapters.opensearch.library"},
    "urllib3": {"adapters.opensearch"},
    "anyio": {"doors"},
    "click": {"doors"},
    "fastapi": {"doors"},
    "jinja2": {"doors.console"},
    "jwt": {"doors.auth"},
    "mangum": {"doors"},
    "mcp": {"doors"},
    "mcp_types": {"doors"},
    "opentelemetry": {"doors.mcp.tracing", "doors.telemetry"},
    "pypdfium2": {"adapters.parsers.pdf"},
    "rich": {"doors"},
    "sse_starlette": {"doors"},
    "starlette": {"doors"},
    "uvicorn": {"doors"},
    "aws_lambda_powertools": {"doors.aws"},
}
STANDARD = set(__import__("sys").stdlib_module_names) | {"bio_mcp"}
VAGUE = ("Manager", "Service", "Helper", "Util", "Utils", "Base", "Processor", "Data", "Info")


def modules() -> dict[str, str]:
    """Every module of the package, by dotted name within it, with its source."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path.read_text()
    return found


MODULES_OF_PACKAGE = modules()


@cache
def parsed(source: str) -> ast.Module:
    """The tree of `source`, which most rules walk."""
    return ast.parse(source)


def imports(source: str) -> Iterator[str]:
    """What `source` imports, anywhere in it, as dotted names; a relative import starts with a dot."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def within(name: str, places: set[str]) -> bool:
    return any(name == place or name.startswith(place + ".") for place in places)


# Each rule: (name of a module, its source) -> what breaks the rule.


def imports_against_the_order(name: str, source: str) -> list[str]:
    layer = name.partition(".")[0]
    if layer == "__init__":
        return [each for each in imports(source) if each.startswith("bio_mcp")]
    if layer not in ORDER:
        return [f"{layer} has no place in the order"]
    allowed = set(ORDER[: ORDER.index(layer) + 1]) - FORBIDDEN.get(layer, set())
    ours = [each for each in imports(source) if each.startswith(("bio_mcp.", "."))]
    return [each for each in ours if each.startswith(".") or not _allowed(each, allowed)]


def _allowed(imported: str, allowed: set[str]) -> bool:
    layer = imported.split(".")[1]
    return layer in allowed or layer == "__version__"


def misplaced_third_parties(name: str, source: str) -> list[str]:
    foreign = {each.partition(".")[0] for each in imports(source)} - STANDARD - {""}
    return sorted(each for each in foreign if not within(name, THIRD_PARTIES.get(each, set())))


def reading_the_environment(name: str, source: str) -> list[str]:
    read = [
        ast.unparse(node)
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb", "putenv")
    ]
    allowed = ("settings", "adapters.embedders", "retrieval.thai_words")  # the latter turn off what libraries do
    allowed += ("adapters.embedders.registry",)  # hands pip its own settings
    return [] if name in allowed else read


def too_long(name: str, source: str) -> list[str]:
    lines = len(source.splitlines())
    return [f"{lines} lines"] if lines > 300 else []


def vague_names(name: str, source: str) -> list[str]:
    tree = ast.walk(parsed(source))
    classes = [node.name for node in tree if isinstance(node, ast.ClassDef)]
    words = [*name.title().replace("_", "").split("."), *classes]
    return [word for word in words if word.lstrip("_").endswith(VAGUE)]


def broad_excepts(name: str, source: str) -> list[str]:
    """Handlers of everything, but for those that clean up and raise again, and the one each of a call, the doctor's
    checks and the process that parses."""
    handlers = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.ExceptHandler)]
    broad = [
        f"line {each.lineno}"
        for each in handlers
        if (each.type is None or {"Exception", "BaseException"} & {getattr(n, "id", "") for n in ast.walk(each.type)})
        and ast.unparse(each.body[-1]) != "raise"
    ]
    return broad[1:] if name in ("call", "health", "adapters.parsers.child") else broad


RETRY = "adapters.retry"
TURNS = {"adapters.rate_limit", "adapters.aws.rate_limit", "adapters.embedded.rate_limit"}  # they sleep until a turn


def retries_of_its_own(name: str, source: str) -> list[str]:
    """Sleeping between two tries, but in the one place that does it for all, with the call's deadline."""
    if name in TURNS | {RETRY, "adapters.embedded.database"}:  # the latter waits for SQLite's lock, as SQLite does
        return []
    calls = [node.func for node in ast.walk(parsed(source)) if isinstance(node, ast.Call)]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in calls]
    return [each for each in names if each.lstrip("_") == "sleep"]


CONFIGURATION = {
    "setting_fields",
    "settings",
    "wiring",
    "adapters.http",
    "adapters.aws.clients",
    "adapters.aws.secrets",
}
CONFIGURATION |= {f"doors.auth.{each}" for each in ("access", "bearer", "keys", "origin", "tokens")}


def blaming_the_caller(name: str, source: str) -> list[str]:
    """What reads the configuration raises `Misconfigured`: no argument of a caller can mend a setting."""
    return ["InvalidInput"] if within(name, CONFIGURATION) and "InvalidInput" in source else []


def unfinished(name: str, source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if any(word in line for word in ("TODO", "FIXME", "XXX"))]


RULES: dict[Callable[[str, str], list[str]], list[tuple[str, str]]] = {
    imports_against_the_order: [
        ("errors", "from bio_mcp.dialects import BIO_MCP"),
        ("literature.records", "import bio_mcp.retrieval.passages"),
        ("retrieval.chunking", "from bio_mcp import ports"),
        ("tools.search", "from bio_mcp.adapters.embedded import database"),
        ("tools.search", "def late():\n    from bio_mcp import settings"),
        ("tools.search", "from bio_mcp.wiring import backends"),
        ("adapters.rate_limit", "from bio_mcp.settings import Settings"),
        ("adapters.rate_limit", "from bio_mcp.tool import Tool"),
        ("adapters.rate_limit", "from bio_mcp.call import call"),
        ("wiring", "from bio_mcp.doors.mcp import server as mcp_server"),
        ("syncing.delta", "from . import windows"),
        ("syncing.delta", "from ..ports import Jobs"),
        ("doors.mcp.http", "from bio_mcp.adapters.aws.documents import DynamoDocuments"),
        ("doors.auth.access", "def late():\n    from bio_mcp.adapters import jwks"),
        ("helpers", "import json"),
    ],
    misplaced_third_parties: [
        ("tools.search", "import boto3"),
        ("adapters.embedded.passages", "from boto3 import client"),
        ("tools.search", "from mcp.server import lowlevel"),
        ("call", "import aws_lambda_powertools"),
        ("doors.mcp.server", "from aws_lambda_powertools import Logger"),
        ("retrieval.analysis", "from lxml import etree"),
        ("literature.records", "import numpy as np"),
        ("literature.records", "import pydantic"),
        ("adapters.rate_limit", "import requests"),
        ("adapters.opensearch.passages", "from opensearchpy import OpenSearch"),
        ("tools.search", "from fastapi import FastAPI"),
    ],
    reading_the_environment: [
        ("wiring", "import os\nx = os.environ['HOME']"),
        ("adapters.rate_limit", "import os\nx = os.getenv('HOME')"),
        ("tools.search", "from os import environ as e\nimport os\ny = os.environ.get('x')"),
    ],
    too_long: [("tools.search", "x = 1\n" * 301)],
    vague_names: [
        ("tools.search", "class SearchManager: ..."),
        ("tools.search", "class _HitProcessor: ..."),
        ("tools.string_utils", "x = 1"),
        ("retrieval.data", "x = 1"),
        ("tools.search", "class ToolBase: ..."),
    ],
    broad_excepts: [
        ("tools.search", "try:\n    f()\nexcept Exception:\n    pass"),
        ("tools.search", "try:\n    f()\nexcept:\n    pass"),
        ("tools.search", "try:\n    f()\nexcept (ValueError, BaseException):\n    pass"),
        ("call", "try:\n    f()\nexcept Exception:\n    pass\ntry:\n    g()\nexcept Exception:\n    pass"),
    ],
    retries_of_its_own: [
        ("adapters.aws.jobs", "import time\nfor n in range(3):\n    time.sleep(2**n)"),
        ("adapters.opensearch.bulk", "def f(self):\n    self._backoff.sleep(1)"),
        ("syncing.delta", "from time import sleep\nsleep(1)"),
    ],
    blaming_the_caller: [
        ("settings", "raise InvalidInput('BIO_MCP_MODE is set to nothing')"),
        ("wiring.aws", "from bio_mcp.errors import InvalidInput"),
        ("doors.auth.keys", "from bio_mcp import errors\nraise errors.InvalidInput('too short')"),
    ],
    unfinished: [("tools.search", "x = 1  # TODO finish")],
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule):
    broken = {name: found for name, source in MODULES_OF_PACKAGE.items() if (found := rule(name, source))}
    assert broken == {}


@pytest.mark.parametrize(
    ("rule", "name", "source"), [(rule, *mutation) for rule, mutations in RULES.items() for mutation in mutations]
)
def test_the_rule_can_fail(rule, name, source):
    assert rule(name, source)


ADDRESS_OR_ID = re.compile(r"https?://\S+\.\S+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LISTABLE = 9_999  # records of a search that PubMed lists


def constants(source: str) -> set[object]:
    """The addresses, ids and limits of others that a source writes out; longer texts do not count."""
    written = {node.value for node in ast.walk(parsed(source)) if isinstance(node, ast.Constant)}
    return {each for each in written if each == LISTABLE or (isinstance(each, str) and ADDRESS_OR_ID.fullmatch(each))}


def written_twice(sources: Mapping[str, str]) -> set[object]:
    every = Counter(each for source in sources.values() for each in constants(source))
    return {each for each, modules_with_it in every.items() if modules_with_it > 1}


def test_an_address_an_id_and_a_limit_of_others_stand_in_one_module():
    beside_the_calendar = {name: source for name, source in MODULES_OF_PACKAGE.items() if name != "literature.clock"}
    assert written_twice(beside_the_calendar) == set()


@pytest.mark.parametrize("constant", ['"https://x.example/"', 'f"https://x.example/{id}"', f'"{UUID(int=7)}"', "9_999"])
def test_a_constant_that_stands_in_two_modules_would_be_seen(constant):
    assert written_twice({"pubmed": f"X = {constant}", "settings": f"def f():\n    return {constant}"})


def module_level(source: str) -> Iterator[ast.stmt]:
    """The statements of a module, those within `if`, `try` and `with` included, not those of functions and classes."""
    waiting: list[ast.AST] = list(parsed(source).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            waiting += ast.iter_child_nodes(node)


def defined(source: str) -> set[str]:
    """The names that a module defines by itself."""
    nodes = list(module_level(source))
    named = {each.name for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    targets = [each for node in nodes if isinstance(node, ast.Assign) for each in node.targets]
    targets += [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    return named | {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def handed_on(source: str) -> dict[str, str]:
    """What a module declares as its own although another defines it: name -> the module that defines it."""
    froms = [node for node in module_level(source) if isinstance(node, ast.ImportFrom)]
    listed = source.partition("__all__ = ")[2]
    return {
        alias.name: (node.module or "").removeprefix("bio_mcp.")
        for node in froms
        for alias in node.names
        if alias.asname == alias.name or f'"{alias.name}"' in listed
    }


def circles(package: Mapping[str, str]) -> list[str]:
    """The modules of `package` that reach themselves by imports, wherever these stand."""
    reached = {name: _imported_modules(source, package) - {name} for name, source in package.items()}
    for through in package:
        for modules in reached.values():
            if through in modules:
                modules |= reached[through]
    return sorted(name for name, modules in reached.items() if name in modules)


def _imported_modules(source: str, package: Mapping[str, str]) -> set[str]:
    names = [each.removeprefix("bio_mcp.") for each in imports(source) if each.startswith("bio_mcp.")]
    return {each if each in package else each.rpartition(".")[0] for each in names}


def test_no_module_imports_itself_by_way_of_others():
    assert circles(MODULES_OF_PACKAGE) == []


def test_a_circle_would_be_seen():
    package = {
        "tools.a": "from bio_mcp.tools import b",
        "tools.b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bio_mcp.tools.c import C",
        "tools.c": "class C:\n    def late(self):\n        import bio_mcp.tools.a",
        "tools.d": "from bio_mcp.tools import a",
    }
    assert circles(package) == ["tools.a", "tools.b", "tools.c"]


DEFINED = {name: defined(source) for name, source in MODULES_OF_PACKAGE.items()}
HANDED_ON = {name: handed_on(source) for name, source in MODULES_OF_PACKAGE.items()}


def second_paths(name: str, source: str) -> list[str]:
    """What `source` imports of ours by another way than the one: the module that defines it, or that hands it on."""
    imported = [each.removeprefix("bio_mcp.") for each in imports(source) if each.startswith("bio_mcp.")]
    wanted = [each for each in imported if each not in {*MODULES_OF_PACKAGE, "__version__"}]
    return [each for each in wanted if not _the_path(name, *each.rpartition(".")[::2])]


def _the_path(importer: str, module: str, name: str) -> bool:
    fronts = [front for front, names in HANDED_ON.items() if names.get(name) == module]
    own = name in DEFINED.get(module, ()) and all(within(importer, {front}) for front in fronts)
    return own or name in HANDED_ON.get(module, {})


def test_each_public_name_has_one_import_path():
    others = [path for place in ("tests", "benchmarks", "scripts") for path in (ROOT / place).rglob("*.py")]
    sources = MODULES_OF_PACKAGE | {str(path.relative_to(ROOT)): path.read_text() for path in others}
    assert {name: found for name, source in sources.items() if (found := second_paths(name, source))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from bio_mcp.adapters.entrez.client import Summaries",
        "from bio_mcp.ports import Jobs",
        "from bio_mcp.literature.jats.texts import FullText",
        "def late():\n    from bio_mcp.literature.medline.stream import parse",
    ],
)
def test_a_second_import_path_would_be_seen(source):
    assert second_paths("tools.search", source)


def written_again(sources: Mapping[str, str]) -> list[list[str]]:
    """Functions of several modules that do the same, word for word, whatever they are called."""
    places: dict[str, list[str]] = {}
    for name, source in sources.items():
        for node in parsed(source).body:
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                places.setdefault("\n".join(map(ast.unparse, body)), []).append(f"{name}.{node.name}")
    return [each for body, each in places.items() if body and len(each) > 1]


def test_no_function_is_written_again_in_another_module():
    assert written_again(MODULES_OF_PACKAGE) == []


def test_a_function_that_is_written_again_would_be_seen():
    one, again = (f"def {name}(x):\n    {doc}\n    return x + 1" for name, doc in (("f", '"""Add."""'), ("_g", "")))
    assert written_again({"retrieval.chunking": one, "retrieval.sentences": again}) == [
        ["retrieval.chunking.f", "retrieval.sentences._g"]
    ]


@cache
def broken_in_tests(rule: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """What breaks the rule, by test file."""
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    return {path: found for path, source in sources.items() if (found := rule(source))}


def skips(source: str) -> list[str]:
    tree = ast.walk(parsed(source))
    return [
        ast.unparse(n)
        for n in tree
        if isinstance(n, ast.Attribute) and n.attr in ("skip", "skipif", "xfail", "importorskip")
    ]


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        (patches, "from unittest.mock import patch"),
        (patches, "import unittest.mock"),
        (patches, "from unittest import mock"),
        (patches, "def test_x(mocker):\n    mocker.patch('x')"),
        (patches, "def test_x(monkeypatch):\n    monkeypatch.setattr(module, 'X', 1)"),
        (patches, "def test_x(monkeypatch):\n    monkeypatch.setattr('bio_mcp.module.X', 1)"),
        (skips, "@pytest.mark.skip\ndef test_x(): ..."),
        (skips, "def test_x():\n    pytest.skip('later')"),
        (skips, "lxml = pytest.importorskip('lxml')"),
    ],
)
def test_tests_neither_patch_nor_skip(rule, broken):
    assert broken_in_tests(rule) == {}
    assert rule(broken)


def apps() -> dict[str, Path]:
    return {path.parent.name: path for path in sorted(FUNCTIONS.glob("*/app.py"))}


def thick(source: str) -> list[str]:
    """What a function's app.py does beyond importing one door and making its handler."""
    body = parsed(source).body
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


def events() -> list[tuple[str, Path]]:
    return [(path.parent.name, path) for path in sorted((ROOT / "events").glob("*/*.json"))]


def does_not_fit(function: str, event: dict) -> str | None:
    """Why `function` would refuse `event`, or a message that a queue brings in it; or None."""
    if records := event.get("Records"):
        return next(filter(None, (does_not_fit(function, json.loads(each["body"])) for each in records)), None)
    try:
        parsed = Event.model_validate(call_for(event))
        if parsed.resource is None:
            tool = TOOLS[parsed.tool or ""]
            tool.input.model_validate(parsed.arguments)
            return None if tool.lambda_module == function else f"{tool.name} is served by {tool.lambda_module}"
    except (ValueError, KeyError) as error:
        return str(error)
    return None


OF_THE_API = {"authorize", "console", "mcp_http"}
CALLS = [each for each in events() if each[0] not in OF_THE_API]


@pytest.mark.parametrize(("function", "path"), CALLS, ids=lambda each: getattr(each, "stem", each))
def test_an_event_fits_the_input_of_its_tool(function, path):
    assert does_not_fit(function, json.loads(path.read_text())) is None


@pytest.mark.parametrize(
    "event",
    [
        {"tool": "rag.search", "arguments": {}},
        {"tool": "rag.search", "arguments": {"query": "x", "k": 1}},
        {"tool": "rag.get", "arguments": {"doc_id": "pmid:1"}},
        {"tool": "nothing"},
        {"Records": []},
        {"Records": [{"body": '{"tool": "rag.search", "arguments": {}}'}]},
    ],
)
def test_an_event_that_does_not_fit_would_be_seen(event):
    assert does_not_fit("search", event)


@pytest.mark.parametrize("name", [each for each in apps() if each != "mcp_http"])
def test_an_entry_point_makes_a_handler(name):
    with in_a_thread_with_a_loop() as environment:  # Mangum takes the thread's loop, or makes one that nobody closes
        made = environment.submit(runpy.run_path, str(apps()[name])).result()
    assert callable(made["handler"])
