"""What `tools/list` leaves out says nothing that a client could miss."""

import json

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.mcp.listing import DEFS, inlined, sparing, unlimited


def spelt_out(part, root):
    """A schema with every reference replaced by what it stands for."""
    if isinstance(part, list):
        return [spelt_out(each, root) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**root["$defs"][part["$ref"].removeprefix(DEFS)], **{k: v for k, v in part.items() if k != "$ref"}}
    return {key: spelt_out(each, root) for key, each in part.items() if key != "$defs"}


@pytest.mark.parametrize("name", TOOLS)
def test_a_schema_with_its_definitions_in_place_means_the_same(name):
    for schema in (TOOLS[name].input_schema, TOOLS[name].output_schema):
        short = inlined(schema)
        assert spelt_out(short, short) == spelt_out(schema, schema)
        assert len(json.dumps(short)) <= len(json.dumps(schema))


def test_only_what_is_used_once_moves():
    twice, once = {"type": "string", "minLength": 2}, {"items": {"$ref": "#/$defs/Twice"}, "type": "array"}
    properties = {"a": {"$ref": "#/$defs/Once", "description": "kept"}, "b": {"$ref": "#/$defs/Twice"}}
    assert inlined({"properties": properties, "$defs": {"Once": once, "Twice": twice}}) == {
        "properties": {"a": {**once, "description": "kept"}, "b": {"$ref": "#/$defs/Twice"}},
        "$defs": {"Twice": twice},
    }


def test_a_definition_that_holds_itself_stays():
    tree = {"properties": {"branches": {"items": {"$ref": "#/$defs/Tree"}, "type": "array"}}, "type": "object"}
    schema = {"properties": {"root": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}}
    assert inlined(schema) == schema


def test_an_answer_keeps_its_fields_and_the_outer_one_its_bounds():
    inner = {"type": "object", "additionalProperties": False, "properties": {"type": {"type": ["string", "null"]}}}
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"type": "string", "enum": ["a"], "description": "of it"},
            "description": {"type": "string"},
            "inner": inner,
            "more": {"additionalProperties": {"type": "string"}},
        },
    }
    assert sparing(schema) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"enum": ["a"]},
            "description": {"type": "string"},
            "inner": {"type": "object", "properties": {"type": {"type": ["string", "null"]}}},
            "more": {"additionalProperties": {"type": "string"}},
        },
    }


def test_without_limits_a_schema_takes_more_and_keeps_its_fields():
    schema = {
        "type": "object",
        "properties": {"minimum": {"type": "integer", "minimum": 1, "maximum": 9}},
        "minItems": 1,
    }
    assert unlimited(schema) == {"type": "object", "properties": {"minimum": {"type": "integer", "maximum": 9}}}
