"""What may import what, and rules for each module by itself; each is shown to fail on a source that breaks it."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from benchmarks.code import nodes_of
from tests.support.package_source import MODULES_OF_PACKAGE, ROOT, body_of, imports, modules_that_break, within

# A module imports its own layer and what stands before it.
ORDER = [
    "errors",
    "health",
    "lazy",
    "untrusted",
    "refreshing",
    "deadline",
    "callers",
    "tracing",
    "literature",
    "retrieval",
    "graph",
    "ports",
    "query_terms",
    "scope",
    "recording",
    "tenants",
    "jobs",
    "syncing",
    "ingesting",
    "answering",
    "extracting",
    "evaluating",
    "querying",
    "screening",
    "exporting",
    "tool",
    "arguments",
    "tools",
    "catalog",
    "skills",
    "call",
    "replaying",
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
    },
}
# Who may import what we did not write. A layer or module not named for a package may not import it.
THIRD_PARTIES = {
    "pydantic": {
        "adapters.parsers.frames",
        "tool",
        "arguments",
        "tools",
        "call",
        "adapters.caching",
        "doors.auth.clients",
        "doors.aws",
        "doors.cli",
        "doors.console.library",
    },
    "pydantic_core": {"doors.cli", "recording"},
    "yaml": {"adapters.parsers"},
    "rfc8785": {"call", "literature", "querying.references"},
    "docx": {"adapters.parsers"},
    "orjson": {"literature", "adapters.embedded"},
    "isal": {"literature"},
    "lxml": {"literature.jats", "literature.medline", "literature.references", "adapters.entrez", "adapters.parsers"},
    "markdown_it": {"adapters.parsers"},
    "numpy": {
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
    "pythainlp": {"retrieval.thai"},
    "httpx": {"adapters"},
    "httpx2": {"doors.aws.heartbeat"},
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
    "opensearchpy": {"adapters.opensearch.client"},
    "urllib3": {"adapters.opensearch"},
    "anyio": {"doors"},
    "click": {"doors"},
    "fastapi": {"doors"},
    "jinja2": {"doors.console"},
    "markupsafe": {"doors.console"},
    "jwt": {"doors.auth"},
    "mangum": {"doors"},
    "mcp": {"doors"},
    "mcp_types": {"doors"},
    "opentelemetry": {"doors.mcp.tracing", "doors.logs"},
    "pypdfium2": {"adapters.parsers.pdf"},
    "rich": {"doors"},
    "sse_starlette": {"doors"},
    "starlette": {"doors"},
    "uvicorn": {"doors"},
    "aws_lambda_powertools": {"doors.aws"},
}
STANDARD = set(__import__("sys").stdlib_module_names) | {"bio_mcp"}


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


RULES: dict[Callable[[str, str], list[str]], list[tuple[str, str]]] = {
    imports_against_the_order: [
        ("literature.records", "import bio_mcp.retrieval.passages"),
        ("tools.search", "def late():\n    from bio_mcp import settings"),
        ("adapters.rate_limit", "from bio_mcp.settings import Settings"),
        ("syncing.delta", "from . import windows"),
        ("doors.mcp.http", "from bio_mcp.adapters.aws.documents import DynamoDocuments"),
        ("helpers", "import json"),
    ],
    misplaced_third_parties: [
        ("tools.search", "import boto3"),
        ("adapters.embedded.passages", "from boto3 import client"),
        ("adapters.rate_limit", "import requests"),
    ],
}


# ---- rules for each module by itself: its names, what it reads, catches and raises ----

VAGUE = ("Manager", "Service", "Helper", "Util", "Utils", "Base", "Processor", "Data", "Info")


def reading_the_environment(name: str, source: str) -> list[str]:
    read = [
        ast.unparse(node)
        for node in nodes_of(source)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb", "putenv")
    ]
    allowed = ("settings", "adapters.embedders", "retrieval.thai")  # the latter turn off what libraries do
    return [] if name in allowed else read


def vague_names(name: str, source: str) -> list[str]:
    tree = nodes_of(source)
    classes = [node.name for node in tree if isinstance(node, ast.ClassDef)]
    words = [*name.title().replace("_", "").split("."), *classes]
    return [word for word in words if word.lstrip("_").endswith(VAGUE)]


def broad_excepts(name: str, source: str) -> list[str]:
    """Handlers of everything, but for those that clean up and raise again, and the one each of a call, the doctor's
    checks, the process that parses, and the reading of a tokenizer, whose library raises no narrower class."""
    handlers = [node for node in nodes_of(source) if isinstance(node, ast.ExceptHandler)]
    broad = [
        f"line {each.lineno}"
        for each in handlers
        if (each.type is None or {"Exception", "BaseException"} & {getattr(n, "id", "") for n in ast.walk(each.type)})
        and ast.unparse(each.body[-1]) != "raise"
    ]
    return broad[1:] if name in ("call", "health", "adapters.parsers.child", "adapters.embedders.onnx") else broad


RETRY = "adapters.retry"
TURNS = {  # they sleep until a turn
    *("adapters.rate_limit", "adapters.aws.rate_limit", "adapters.embedded.rate_limit"),
    "deadline",  # for writers of one project, who take turns
}


def retries_of_its_own(name: str, source: str) -> list[str]:
    """Sleeping between two tries, but in the one place that does it for all, with the call's deadline."""
    if name in TURNS | {RETRY, "adapters.embedded.database"}:  # the latter waits for SQLite's lock, as SQLite does
        return []
    calls = [node.func for node in nodes_of(source) if isinstance(node, ast.Call)]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in calls]
    return [each for each in names if each.lstrip("_") == "sleep"]


CONFIGURATION = {
    "settings",
    "wiring",
    "adapters.aws.clients",
}
CONFIGURATION |= {"doors.auth.bearer", "doors.auth.tokens", "doors.mcp.http", "doors.web"}


def blaming_the_caller(name: str, source: str) -> list[str]:
    """What reads the configuration raises `Misconfigured`: no argument of a caller can mend a setting."""
    return ["InvalidInput"] if within(name, CONFIGURATION) and "InvalidInput" in source else []


def possessive_groups(name: str, source: str) -> list[str]:
    """Expressions that Python before 3.11.5 matches wrongly (python/cpython#106052); Debian 12 has 3.11.2."""
    return re.findall(r"\)[*+?]\+|\(\?>", source)


def unfinished(name: str, source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if any(word in line for word in ("TODO", "FIXME", "XXX"))]


RULES |= {
    reading_the_environment: [
        ("wiring", "import os\nx = os.environ['HOME']"),
        ("adapters.rate_limit", "import os\nx = os.getenv('HOME')"),
        ("tools.search", "from os import environ as e\nimport os\ny = os.environ.get('x')"),
    ],
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
        ("adapters.aws.state", "import time\nfor n in range(3):\n    time.sleep(2**n)"),
        ("adapters.opensearch.client", "def f(self):\n    self._backoff.sleep(1)"),
        ("syncing.delta", "from time import sleep\nsleep(1)"),
    ],
    blaming_the_caller: [
        ("settings", "raise InvalidInput('BIO_MCP_MODE is set to nothing')"),
        ("wiring.aws", "from bio_mcp.errors import InvalidInput"),
        ("doors.auth.tokens", "from bio_mcp import errors\nraise errors.InvalidInput('too short')"),
    ],
    unfinished: [("tools.search", "x = 1  # TODO finish")],
    possessive_groups: [("tools.search", each) for each in ("(?:['-][a-z]++)*+", "(?:a|b)++", "(?>a+)b")],
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule):
    assert modules_that_break(rule) == {}


@pytest.mark.parametrize(
    ("rule", "name", "source"), [(rule, *mutation) for rule, mutations in RULES.items() for mutation in mutations]
)
def test_the_rule_can_fail(rule, name, source):
    assert rule(name, source)


def module_level(source: str) -> Iterator[ast.stmt]:
    """The statements of a module, those within `if`, `try` and `with` included, not those of functions and classes."""
    waiting: list[ast.AST] = list(body_of(source))
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


@cache
def all_defined() -> dict[str, set[str]]:
    return {name: defined(source) for name, source in MODULES_OF_PACKAGE.items()}


@cache
def all_handed_on() -> dict[str, dict[str, str]]:
    return modules_that_break(lambda _, source: handed_on(source))


WHOLE = {*MODULES_OF_PACKAGE, "__version__"}


def second_paths(name: str, source: str) -> list[str]:
    """What `source` imports of ours by another way than the one: the module that defines it, or that hands it on."""
    imported = [each.removeprefix("bio_mcp.") for each in imports(source) if each.startswith("bio_mcp.")]
    wanted = [each for each in imported if each not in WHOLE]
    return [each for each in wanted if not _the_path(name, *each.rpartition(".")[::2])]


def _the_path(importer: str, module: str, name: str) -> bool:
    fronts = [front for front, names in all_handed_on().items() if names.get(name) == module]
    own = name in all_defined().get(module, ()) and all(within(importer, {front}) for front in fronts)
    return own or name in all_handed_on().get(module, {})


def test_each_public_name_has_one_import_path():
    others = [path for place in ("tests", "benchmarks", "scripts") for path in (ROOT / place).rglob("*.py")]
    sources = MODULES_OF_PACKAGE | {str(path.relative_to(ROOT)): path.read_text() for path in others}
    assert {name: found for name, source in sources.items() if (found := second_paths(name, source))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from bio_mcp.adapters.entrez.client import Summaries",
        "from bio_mcp.ports import Jobs",
        "from bio_mcp.literature.jats import FullText",
        "def late():\n    from bio_mcp.literature.medline.stream import parse",
    ],
)
def test_a_second_import_path_would_be_seen(source):
    assert second_paths("tools.search", source)
