"""Which methods of which ports a tool calls, as a recorder under its examples sees them, and what they take on AWS."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from bio_mcp.call import Outcome, call, read
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.ports import Backends, port
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tool import Resource, Tool
from scripts.port_grants import CONTINUATIONS, FOLDER, Given, given_for
from scripts.template.functions import declared, settings_of
from tests.support.aws_template import allowed, variables
from tests.support.corpus import HashedWords
from tests.support.examples import events_of
from tests.support.sample_corpus import Corpus, articles
from tests.support.sample_graph import add_graph
from tests.support.sample_job import add_job
from tests.support.sample_project import add_project

VALUES = {"chunk_namespace", "answer_tau", "sync_max_records", "workers", "scratch", "checks", "upstreams"}
PORTS = {name for name, member in vars(Backends).items() if isinstance(member, port)} - VALUES
CHARGED = "budgets.spend"  # by every call of a caller
RECORD, RECORDED = "calls.record", {"documents", "passages", "graph"}
STORED = 12  # of the sample's papers: the rest is for a sync to bring


class _Port:
    """A port that notes what is asked of it."""

    def __init__(self, name: str, port: Any, touched: set[str]) -> None:
        self._name, self._port, self._touched = name, port, touched

    def __getattr__(self, method: str) -> Any:
        self._touched.add(f"{self._name}.{method}")
        return getattr(self._port, method)


class Recorder:
    """`Backends` over others; `touched` has what was asked of them, as "documents.get"."""

    def __init__(self, backends: Any) -> None:
        self._backends = backends
        self.touched: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._backends, name)
        return _Port(name, found, self.touched) if name in PORTS and found is not None else found


class _Words(Corpus):
    """The sample corpus, without a model."""

    @property
    def embeddings(self) -> Any:
        return HashedWords()


@contextmanager
def small_corpus() -> Iterator[Corpus]:
    with tempfile.TemporaryDirectory(prefix="bio-mcp-touched-") as home:
        made = _Words(Path(home), articles())
        apply_records(made.articles[:STORED], made)
        add_project(made)
        add_graph(made)
        add_job(made)
        yield made
        made.close()


def touched_by(what: Tool | Resource, event: dict[str, Any], backends: Any) -> set[str]:
    """The methods that this call and its record use. Raises `AssertionError` where it fails: then it did not reach
    them all."""
    recorder = Recorder(backends)
    outcome = run(what, event, recorder)
    backends.recorder.close()  # a thread records the call after the answer
    assert not outcome.failed, f"the example of {what.name} fails: {outcome.text}"
    return recorder.touched


def run(what: Tool | Resource, event: dict[str, Any], backends: Any) -> Outcome:
    if isinstance(what, Resource):
        return read(what, what.match(event["resource"]) or {}, backends)
    return call(what, event["arguments"], backends)


def _named(event: dict[str, Any]) -> Tool | Resource:
    if "tool" in event:
        return TOOLS[event["tool"]]
    return next(each for each in RESOURCES.values() if each.match(event["resource"]) is not None)


@cache
def reached(function: str) -> dict[str, frozenset[str]]:
    """By tool or resource of a function, the methods that its events reach."""
    found: dict[str, frozenset[str]] = {}
    with small_corpus() as corpus:
        for event in events_of(function):
            what = _named(event)
            found[what.name] = found.get(what.name, frozenset()) | touched_by(what, event, corpus)
    return found


def used(what: Tool | Resource, reached: Iterable[str]) -> set[str]:
    """What a tool takes: the methods that its examples reach, and those that it declares."""
    if isinstance(what, Resource):
        return set(reached)
    return (set(reached) | set(what.also_uses)) - set(what.does_without)


def is_recorded(what: Tool | Resource, reached: Iterable[str]) -> bool:
    """Whether calls are recorded: those of a tool that only reads, of what the stack stores."""
    return isinstance(what, Tool) and what.read_only and not RECORDED.isdisjoint(map(port_of, reached))


def port_of(method: str) -> str:
    return method.partition(".")[0]


def needed(function: str) -> Given:
    """What a function is given for its tools and resources."""
    offered = [each for each in (*TOOLS.values(), *RESOURCES.values()) if each.lambda_module == function]
    found = reached(function)
    methods = {method for each in offered for method in used(each, found.get(each.name, ()))}
    methods |= {RECORD} if any(is_recorded(each, found.get(each.name, ())) for each in offered) else set()
    return given_for(methods | {CHARGED}, queue_of(function), folder_of(function)) | settings_of(function)


def queue_of(function: str) -> str:
    """The queue that the continuations of a function go to."""
    return str(declared(function).get("queue", CONTINUATIONS))


def folder_of(function: str) -> str:
    """The folder of the bucket that a function keeps files in."""
    return str(declared(function).get("folder", FOLDER))


def ungranted(what: Tool | Resource, methods: Iterable[str]) -> list[str]:
    """A sentence for each method of `methods` that the function of `what` cannot call on AWS."""
    has = Given(frozenset(variables(what.lambda_module)), frozenset(allowed(what.lambda_module)))
    sentences = []
    for method in sorted(methods):
        missing = given_for([method], queue_of(what.lambda_module), folder_of(what.lambda_module)).without(has)
        if missing != Given():
            lacks = [*sorted(missing.variables), *(f"{action} on {on}" for action, on in sorted(missing.grants))]
            sentences.append(
                f"{what.name} cannot work on AWS: it calls {method}, and its function {what.lambda_module} lacks "
                f"{', '.join(lacks)}; `make docs` gives it that"
            )
    return sentences
