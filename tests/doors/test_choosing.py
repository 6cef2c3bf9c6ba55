"""What `tools/list` has by default, how more is asked for, and that what its schemas leave out says nothing."""

import json

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.mcp.listing import DEFS, Listing, brief, chosen, inlined, list_entry, sparing
from bio_mcp.errors import InvalidInput
from bio_mcp.settings import words_of

ALL = tuple(TOOLS.values())
FAMILIES = sorted({each.family.name for each in ALL})
BY_DEFAULT = ["rag_search", "rag_get", "rag_answer", "searchPubMedArticles", "fetchArticleDetails", "getFullText"]


def listed(*asked):
    return Listing(ALL).select("portable", asked)


def test_the_default_list_has_what_answers_a_question_and_says_that_there_is_more():
    tools = listed("default")
    assert {*BY_DEFAULT} < {each.name for each in tools}
    assert "?tools=all" in tools[0].description
    assert "--tools all" in tools[0].description
    assert not any("?tools=" in each.description for each in tools[1:])


def test_only_the_default_list_alone_says_that_there_is_more():
    assert not any("?tools=" in each.description for each in (*listed("all"), *listed("default", "projects")))


def test_tools_of_the_default_list_come_without_the_schemas_of_their_answers_unless_they_are_asked_for():
    assert not any(each.output_schema for each in listed("default"))
    mixed = {each.name: each for each in listed("default", "rag.get")}
    assert mixed["rag_get"].output_schema
    assert not mixed["rag_search"].output_schema


def test_all_is_every_family_that_is_not_for_one_kind_of_client():
    assert [*chosen(ALL, ["all"])] == [each.name for each in ALL if not each.family.by_name_only]


def test_families_and_tools_mix_in_the_order_of_the_catalogue_and_each_tool_is_listed_once():
    names = [each.name for each in listed(*words_of(" ttm ,getFullText, rag_answer,,rag_get"))]
    assert names[:2] == ["rag_get", "getFullText"]
    assert set(names[2:]) == {each.portable_name for each in ALL if each.family.name == "ttm"}
    assert len(names) == len({*names})


def test_no_word_means_two_things():
    names = {name for each in ALL for name in each.names}
    assert not names & {"default", "all", *FAMILIES}


def test_what_does_not_exist_is_answered_with_the_choices():
    with pytest.raises(
        InvalidInput, match=r"no tool or family 'sonnets'; tools takes default, all, rag, .*, and names"
    ):
        chosen(ALL, ["rag", "sonnets"])


@pytest.mark.parametrize("name", TOOLS)
def test_each_tool_is_small_enough_to_pay_for(name):
    tool = TOOLS[name]
    most = 4_000 if tool.output_listed else 1_600
    assert size(list_entry(tool, tool.portable_name)) <= most
    assert size(list_entry(tool, tool.portable_name, with_answer=False)) <= 1_800


@pytest.mark.parametrize("name", [name for name, each in TOOLS.items() if each.beyond and not each.family.by_name_only])
def test_a_tool_that_no_contract_has_is_described_in_few_words(name):
    tool = TOOLS[name]
    assert not tool.output_listed
    assert size(list_entry(tool, tool.portable_name)) <= 1_200


def size(entry):
    return len(entry.model_dump_json(by_alias=True, exclude_none=True).encode())


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


def test_a_brief_schema_takes_more_and_keeps_its_fields():
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "minimum": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
            "default": {"type": "boolean", "default": False},
            "pattern": {"type": "string", "pattern": "^x$"},
            "max_characters": {"type": "integer"},
        },
        "minItems": 1,
    }
    assert brief(schema) == {
        "type": "object",
        "properties": {
            "minimum": {"type": "integer", "maximum": 9, "default": 5},
            "default": {"type": "boolean"},
            "pattern": {"type": "string"},
        },
    }
