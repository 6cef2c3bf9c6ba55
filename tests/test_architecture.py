"""What may import what, read off the source; each rule is shown to fail on a source that breaks it."""

from collections.abc import Callable

import pytest

from tests.support.package_source import imports, modules_that_break, within

# A module imports its own layer and what stands before it.
ORDER = [
    "errors",
    "health",
    "lazy",
    "refreshing",
    "deadline",
    "callers",
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
    "untrusted",
    "exporting",
    "tool",
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
        "tools",
        "call",
        "adapters.caching",
        "doors.auth.clients",
        "doors.aws",
        "doors.cli",
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


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule):
    assert modules_that_break(rule) == {}


@pytest.mark.parametrize(
    ("rule", "name", "source"), [(rule, *mutation) for rule, mutations in RULES.items() for mutation in mutations]
)
def test_the_rule_can_fail(rule, name, source):
    assert rule(name, source)
