"""Rules for each module by itself: its names, what it reads, catches and raises. Each is shown to fail."""

import ast
from collections.abc import Callable

import pytest

from tests.support.package_source import modules_that_break, parsed, within

VAGUE = ("Manager", "Service", "Helper", "Util", "Utils", "Base", "Processor", "Data", "Info")


def reading_the_environment(name: str, source: str) -> list[str]:
    read = [
        ast.unparse(node)
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb", "putenv")
    ]
    allowed = ("settings", "adapters.embedders", "retrieval.thai")  # the latter turn off what libraries do
    return [] if name in allowed else read


def vague_names(name: str, source: str) -> list[str]:
    tree = ast.walk(parsed(source))
    classes = [node.name for node in tree if isinstance(node, ast.ClassDef)]
    words = [*name.title().replace("_", "").split("."), *classes]
    return [word for word in words if word.lstrip("_").endswith(VAGUE)]


def broad_excepts(name: str, source: str) -> list[str]:
    """Handlers of everything, but for those that clean up and raise again, and the one each of a call, the doctor's
    checks, the process that parses, and the reading of a tokenizer, whose library raises no narrower class."""
    handlers = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.ExceptHandler)]
    broad = [
        f"line {each.lineno}"
        for each in handlers
        if (each.type is None or {"Exception", "BaseException"} & {getattr(n, "id", "") for n in ast.walk(each.type)})
        and ast.unparse(each.body[-1]) != "raise"
    ]
    return broad[1:] if name in ("call", "health", "adapters.parsers.child", "adapters.embedders.onnx") else broad


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
    "settings",
    "wiring",
    "adapters.aws.clients",
}
CONFIGURATION |= {"doors.auth.bearer", "doors.auth.tokens", "doors.mcp.http"}


def blaming_the_caller(name: str, source: str) -> list[str]:
    """What reads the configuration raises `Misconfigured`: no argument of a caller can mend a setting."""
    return ["InvalidInput"] if within(name, CONFIGURATION) and "InvalidInput" in source else []


def unfinished(name: str, source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if any(word in line for word in ("TODO", "FIXME", "XXX"))]


RULES: dict[Callable[[str, str], list[str]], list[tuple[str, str]]] = {
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
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule):
    assert modules_that_break(rule) == {}


@pytest.mark.parametrize(
    ("rule", "name", "source"), [(rule, *mutation) for rule, mutations in RULES.items() for mutation in mutations]
)
def test_the_rule_can_fail(rule, name, source):
    assert rule(name, source)
