"""A declaration, and everything that is read off it."""

import re
from types import ModuleType

import pytest
from pydantic import Field

from bio_mcp.call import read
from bio_mcp.ports import Backends
from bio_mcp.tool import Context, Request, Response, resource, tool, tools_in
from tests.doors import sample
from tests.doors.sample import AUDITED, PLAIN


class Asked(Request):
    text: str = Field(min_length=1)
    limit: int = Field(default=None, ge=1)
    words: list[str] = Field(default=None)


class Inner(Response):
    """A part."""

    value: float | None


class Answered(Response):
    """An answer."""

    parts: list[Inner]
    best: Inner | None = None
    note: str | None = Field(default=None, pattern="^x")


@tool("a.b_c", family=PLAIN, scope="read", timeout=1)
def declared(request: Asked, backends: Backends) -> Answered:
    """Do it.

    In some detail.
    """
    return Answered(parts=[])


def test_a_tool_is_read_off_its_function():
    assert declared.name == "a.b_c"
    assert declared.portable_name == "a_b_c"
    assert declared.description == "Do it.\n\nIn some detail."
    assert declared.lambda_module == "test_tool"
    assert declared.input is Asked
    assert declared.output is Answered
    assert declared.read_only
    assert not declared.destructive
    assert not declared.open_world


def test_the_input_schema_is_in_the_contracts_words():
    assert declared.input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1},
            "words": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_the_output_schema_is_in_the_contracts_words():
    schema = declared.output_schema
    assert schema["properties"]["parts"] == {"type": "array", "items": {"$ref": "#/$defs/Inner"}}
    assert schema["properties"]["best"] == {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]}
    assert schema["properties"]["note"] == {"type": ["string", "null"], "pattern": "^x"}
    assert schema["$defs"]["Inner"]["properties"]["value"] == {"type": ["number", "null"]}
    assert not {"title", "default"} & set(re.findall(r"\w+", str(schema)))


def test_the_schema_of_an_audited_tool_has_the_record():
    schema = sample.kept.output_schema
    assert schema["required"][-1] == "audit"
    assert schema["properties"]["audit"]["required"] == ["in_hash", "out_hash", "latency_ms", "seed", "status"]
    assert "audit" not in sample.echo.output_schema["properties"]


def test_a_call_may_use_every_form_of_a_name():
    assert sample.echo.names == ("sample.echo", "sample_echo")
    assert sample.kept.names == ("kept", "tool.kept", "tool_kept")


def module(*declarations):
    made = ModuleType("made")
    for number, each in enumerate(declarations):
        setattr(made, f"d{number}", each)
    return made


def make(name, family=PLAIN):
    @tool(name, family=family, scope="read", timeout=1)
    def made(request: Asked, backends: Backends) -> Answered:
        """Made."""
        return Answered(parts=[])

    made.run.__module__ = "made"
    return made


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a.b_c", PLAIN), ("a_b.c", PLAIN)),
        (("a.b", PLAIN), ("a_b", PLAIN)),
        (("a.b", PLAIN), ("a.b", PLAIN)),
        (("x", AUDITED), ("tool.x", PLAIN)),
        (("x", AUDITED), ("tool_x", PLAIN)),
    ],
)
def test_two_tools_that_could_be_called_by_one_name_are_refused(first, second):
    with pytest.raises(ValueError, match="could both be called"):
        tools_in(module(make(*first), make(*second)))


def test_tools_are_found_in_the_order_of_their_declaration():
    assert list(tools_in(module(make("b"), make("a")))) == ["b", "a"]


def test_a_tool_that_a_module_only_imports_is_not_its_own():
    assert tools_in(module(declared, make("mine"))).keys() == {"mine"}


@pytest.mark.parametrize(
    ("uri", "parameters"),
    [
        ("sample://paper/7", {"pmid": "7"}),
        ("sample://paper/PMC7.1", {"pmid": "PMC7.1"}),
        ("sample://paper/", None),
        ("sample://paper/7/", None),
        ("sample://paper/7/8", None),
        ("sample://paper/7?x", None),
        ("sample://paper/7#x", None),
        ("sample://paper/%37", None),
        ("sample://paper/..", None),
        ("sample://paper/%2e%2e", None),
        ("sample://paper/.7", None),
        ("sample://paper/7\n", None),
        ("sample://paper/7\x00", None),
        ("sample://paper/７", None),
        ("SAMPLE://paper/7", None),
        ("xsample://paper/7", None),
        ("sample:paper/7", None),
    ],
)
def test_a_uri_matches_its_template_or_nothing(uri, parameters):
    assert sample.paper.match(uri) == parameters


def test_a_dot_of_a_template_is_a_dot():
    @resource("s://a.b/{x}", name="dotted", family=PLAIN, scope="read", timeout=1)
    def dotted(backends: Backends, x: str) -> Answered:
        """Dotted."""
        return Answered(parts=[])

    assert dotted.match("s://a.b/1") == {"x": "1"}
    assert dotted.match("s://aXb/1") is None


def test_a_resource_is_given_the_time_it_has_when_it_asks_for_it():
    @resource("s://timed/{x}", name="timed", family=PLAIN, scope="read", timeout=7, blob=True)
    def timed(backends: Backends, context: Context, x: str) -> Answered:
        """Timed."""
        return Answered(parts=[Inner(value=float(x)), Inner(value=context.deadline.remaining)])

    given, left = (each["value"] for each in read(timed, {"x": "3"}, None).body["parts"])
    assert given == 3
    assert 0 < left <= 7
    assert (timed.wants_context, timed.blob) == (True, True)
    assert (sample.paper.wants_context, sample.paper.blob) == (False, False)
