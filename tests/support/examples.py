"""Each tool's example, `events/<function>/<tool>.json`, and the other events: what every test calls a tool with."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bio_mcp.catalog import TOOLS
from bio_mcp.tool import Resource, Tool

ROOT = Path(__file__).parents[2]
EVENTS = ROOT / "events"
EXPECTED: dict[str, dict[str, Any]] = json.loads((EVENTS / "expected.json").read_text(encoding="utf-8"))
"""Of each event, in the order in which they may follow each other: JMESPath of its answer -> what that must be."""
NAMES = {
    "kg": "H1",
    "jobs": "sync_example",
    "exports": "export_example",
}  # of sample_graph.py, sample_job.py
PARTS = {"part": "1"}


def path_of(tool: Tool) -> Path:
    """Where the example of `tool` is, relative to the repository."""
    return Path("events") / tool.lambda_module / f"{tool.portable_name}.json"


def without_example(tool: Tool) -> str | None:
    """What to add, as a sentence, where `tool` has no example."""
    path = path_of(tool)
    if (ROOT / path).exists():
        return None
    return f'{tool.name} has no example: add {path}, as {{"tool": "{tool.name}", "arguments": {{...}}}}'


def example_of(tool: Tool) -> dict[str, Any]:
    """The arguments of the tool's example. Raises `LookupError` that says what to add."""
    if missing := without_example(tool):
        raise LookupError(missing)
    arguments: dict[str, Any] = json.loads((ROOT / path_of(tool)).read_text(encoding="utf-8"))["arguments"]
    return arguments


def examples_of(tools: Iterable[Tool]) -> dict[str, dict[str, Any]]:
    """The arguments of each example that there is: a tool without one fails the test that looks for it, no other."""
    return {each.name: example_of(each) for each in tools if without_example(each) is None}


BUCKET = "bio-mcp-bucket"  # in an event: the stack's


def paths_of(function: str) -> list[Path]:
    """The events of a function that need no stack."""
    return [path for path in sorted((EVENTS / function).glob("*.json")) if BUCKET not in path.read_text()]


def events_of(function: str) -> Iterator[dict[str, Any]]:
    """Every event of a function that is a call or reads a resource, those of a queue by their bodies.

    What another service says in a queue, as S3 of a file, is left out: it is no call before a door has read it. So is
    what names the stack's bucket, which only a stack has.
    """
    for path in paths_of(function):
        event = json.loads(path.read_text(encoding="utf-8"))
        bodies = [json.loads(each["body"]) for each in event["Records"]] if "Records" in event else [event]
        yield from (each for each in bodies if each.keys() & {"tool", "resource"})


EXAMPLES = examples_of(TOOLS.values())


def parameters_of(resource: Resource, pmid: str) -> dict[str, str]:
    """What to read a resource by: something that the sample corpus has, or this paper."""
    name = NAMES.get(resource.lambda_module, pmid)
    return {each: PARTS.get(each, name) for each in resource.parameters}
