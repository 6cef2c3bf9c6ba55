"""Ten thousand calls that no client should make, over every tool and resource: none is a bug, none tells a secret."""

import json
import random

import pytest

from bio_mcp.call import call, read
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.deadline import Deadline
from tests.all.fuzzing.conftest import told
from tests.all.fuzzing.values import STRINGS, arguments
from tests.support.examples import EXAMPLES

EACH = 320  # calls of a tool or a resource
LONGEST_S = 2.0
LARGEST = 1_000_000  # characters of an answer


def test_there_are_ten_thousand_of_them():
    assert EACH * (len(TOOLS) + len(RESOURCES)) >= 10_000


def check(outcome, corpus, given):
    """The answer is one of the contract: no bug, no secret, not endless, and JSON."""
    text = outcome.text
    assert not outcome.failed or outcome.failure is not None, (given, outcome.body)
    assert told(corpus, text) == [], (given, text[:500])
    assert len(text) < LARGEST, given
    json.dumps(json.loads(text.encode()))


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_no_arguments_break_a_tool_or_make_it_tell_a_secret(corpus, name):
    tool, rng = TOOLS[name], random.Random(name)  # noqa: S311  the same calls each time
    ok = 0
    for _ in range(EACH):
        given = arguments(rng, EXAMPLES[name], tool.input_schema)
        outcome = call(tool, given, corpus, deadline=Deadline(min(tool.timeout, LONGEST_S)))
        check(outcome, corpus, given)
        ok += not outcome.failed
    assert ok, "no call got past the checks of its arguments"
    assert not call(tool, EXAMPLES[name], corpus).failed, "the tool does not work any more"


@pytest.mark.parametrize("uri", sorted(RESOURCES))
def test_no_address_breaks_a_resource_or_makes_it_tell_a_secret(corpus, uri):
    resource, rng = RESOURCES[uri], random.Random(uri)  # noqa: S311  the same calls each time
    for _ in range(EACH):
        parameters = {each: rng.choice(STRINGS) for each in resource.parameters}
        check(read(resource, parameters, corpus), corpus, parameters)
        asked = resource.uri.format(**{each: rng.choice(STRINGS) for each in resource.parameters})
        if (matched := resource.match(asked)) is not None:
            check(read(resource, matched, corpus), corpus, asked)
