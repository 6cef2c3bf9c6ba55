"""Every tool has one example, which the tests of contracts, doors and AWS call it with."""

import json
from dataclasses import replace

import pytest

from bio_mcp.catalog import TOOLS
from tests.support.examples import EXAMPLES, ROOT, example_of, examples_of, path_of, without_example


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
