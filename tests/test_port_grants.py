"""A tool works on AWS: its function is given what the ports take that it touches."""

from typing import get_args

import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.errors import StoreFailed
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings
from bio_mcp.tool import Request, Response, tool
from bio_mcp.tools.fields import BIO_MCP
from bio_mcp.wiring.aws import Aws
from scripts.port_grants import GRANTS, VARIABLES
from tests.support.examples import EXAMPLES, example_of
from tests.support.touched_ports import PORTS, reached, run, small_corpus, touched_by, ungranted, used

OFFERED = [*(TOOLS[name] for name in EXAMPLES), *RESOURCES.values()]


@pytest.fixture(scope="module")
def corpus():
    with small_corpus() as made:
        yield made


@pytest.mark.parametrize("what", OFFERED, ids=lambda each: each.name)
def test_a_function_on_aws_has_all_that_its_tool_calls(what):
    methods = used(what, reached(what.lambda_module).get(what.name, ()))
    assert methods
    assert ungranted(what, methods) == []


class Nothing(Request):
    """No arguments."""


class Size(Response):
    papers: int


def _size(request: Nothing, backends: Backends) -> Size:
    """Count the papers and passages of the corpus."""
    return Size(papers=backends.documents.count() + backends.passages.count()[0])


def test_a_tool_that_touches_what_its_function_was_not_given_is_reported_by_a_sentence(corpus):
    _size.__module__ = "bio_mcp.tools.get_doc"
    size = tool("corpus.size", family=BIO_MCP, scope="read", timeout=5)(_size)
    touched = touched_by(size, {"arguments": {}}, corpus)
    assert touched == {"documents.count", "passages.count"}
    [sentence] = ungranted(size, touched)
    assert "corpus.size cannot work on AWS: it calls passages.count, and its function get_doc lacks" in sentence
    assert "BIO_MCP_OPENSEARCH_URL" in sentence
    assert "es:ESHttpGet on ${OpenSearchArn}/${OpenSearchIndex}/*" in sentence


INDEX = {"passages": "indexes"}  # which are asked for them at each use


class Without:
    def __init__(self, backends, broken):
        self._backends, self._broken = backends, broken

    def __getattr__(self, name):
        found = getattr(self._backends, name)
        return _Without(name, found, self._broken) if name in PORTS and found is not None else found


class _Without:
    def __init__(self, name, port, broken):
        self._name, self._port, self._broken = name, port, broken

    def __getattr__(self, method):
        if f"{self._name}.{method}" in self._broken:
            raise StoreFailed("this function was not given it")
        return getattr(self._port, method)


@pytest.mark.parametrize("name", [name for name, each in TOOLS.items() if each.does_without])
def test_what_a_tool_does_without_it_tries_and_answers_without(name, corpus):
    what, event = TOOLS[name], {"arguments": example_of(TOOLS[name])}
    assert set(what.does_without) <= touched_by(what, event, corpus)
    assert not run(what, event, Without(corpus, what.does_without)).failed


@pytest.mark.parametrize("name", [name for name, each in TOOLS.items() if each.also_uses])
def test_what_a_tool_declares_beside_its_examples_is_a_method_of_a_port_that_they_do_not_reach(name):
    declared = set(TOOLS[name].also_uses)
    assert declared & reached(TOOLS[name].lambda_module)[name] == set()
    for method in declared:
        port, _, called = method.partition(" ")[0].partition(".")
        assert port in PORTS
        declares = get_args(vars(Backends)[port].__orig_class__)[0]
        assert any(callable(getattr(each, called, None)) for each in (declares, *get_args(declares)))


def test_every_port_that_a_tool_may_touch_has_a_row():
    assert {each.partition(".")[0] for each in GRANTS} == set(VARIABLES)
    doors = {"authorizations", "budgets", "load_files", "pubmed_files"}
    assert set(VARIABLES) == (PORTS | doors) - {"reranker"}  # the stack has no parameter for it


@pytest.mark.parametrize("port", VARIABLES)
def test_a_port_is_made_of_the_variables_of_its_row(port, nobody):
    given = {name: "1" for name in [*VARIABLES[port], "BIO_MCP_BUCKET"]}
    given |= {"BIO_MCP_MODE": "aws", "BIO_MCP_OPENSEARCH_SERVICE": "none"}
    given |= {"ZOTERO_LIBRARY_TYPE": "group"}
    given |= {"BIO_MCP_SOURCES": "icite,crossref,europepmc,unpaywall"} if "BIO_MCP_SOURCES" in given else {}
    given |= {"BIO_MCP_LLM": "bedrock", "BIO_MCP_LLM_GUARDRAIL": "id:1"} if port == "language_model" else {}
    given |= {"BIO_MCP_OPENSEARCH_URL": "http://127.0.0.1:9"} if port in ("passages", "indexes", "collections") else {}
    given |= {"BIO_MCP_INDEX_TIER": "opensearch"} if "BIO_MCP_INDEX_TIER" in given else {}
    backends = Aws(Settings.from_env(given))
    if port == "embeddings":  # a model, which this machine has elsewhere
        assert backends.settings.models.name == "1"
    else:
        assert getattr(backends, INDEX.get(port, port))
    backends.close()


@pytest.mark.parametrize("port", ["passages", "collections"])
def test_a_port_over_an_index_in_s3_is_made_of_the_same_variables(port, nobody):
    given = {name: "1" for name in [*VARIABLES[port], "BIO_MCP_BUCKET"]}
    given |= {"BIO_MCP_MODE": "aws", "BIO_MCP_OPENSEARCH_SERVICE": "none"}
    backends = Aws(Settings.from_env(given | {"BIO_MCP_INDEX_TIER": "s3", "BIO_MCP_OPENSEARCH_URL": ""}))
    assert getattr(backends, INDEX.get(port, port))
    backends.close()
