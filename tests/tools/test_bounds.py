"""Every input of every tool is bounded, and the same text is a PMID, or is none, for every tool."""

import json
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import NcbiFailed, NotFound
from bio_mcp.tool import MAX_ITEMS, MAX_KEYS, MAX_NUMBER, MAX_TEXT, Request
from tests.support.examples import EXAMPLES

TOO_LONG = {str: "1" * (MAX_TEXT + 1), int: MAX_NUMBER + 1, list: ["1"] * (MAX_ITEMS + 1)}


def models():
    """Every input model, and those within it."""
    found, left = [], [each.input for each in TOOLS.values()]
    while left:
        model = left.pop()
        if model not in found:
            found.append(model)
            left += [
                part for field in model.model_fields.values() for part in kinds(field.annotation) if is_model(part)
            ]
    return found


def kinds(annotation):
    """What a value may be, and what its parts may be."""
    inner = [each for part in get_args(annotation) if isinstance(part, type) or get_args(part) for each in kinds(part)]
    return [get_origin(annotation) or annotation, *inner]


def is_model(kind):
    return isinstance(kind, type) and issubclass(kind, BaseModel)


FREE = {("StoredItem", "metadata")}  # the contract's object of any fields: checked_metadata bounds it
FIELDS = [(model, name) for model in models() for name in model.model_fields if (model.__name__, name) not in FREE]


def lengths_of(field):
    """One more than a text's own limit, where it is above everybody's."""
    return [each.max_length + 1 for each in field.metadata if getattr(each, "max_length", 0) > MAX_TEXT]


@pytest.mark.parametrize(("model", "name"), FIELDS, ids=[f"{model.__name__}.{name}" for model, name in FIELDS])
def test_no_field_takes_a_value_without_bounds(model, name):
    kind, *inner = kinds(model.model_fields[name].annotation)
    assert issubclass(model, Request)
    assert kind not in (Any, dict, Union, UnionType)
    tried = [TOO_LONG[kind]] if kind in TOO_LONG else []
    tried = [longer * "1" for longer in lengths_of(model.model_fields[name])] or tried
    tried += [[TOO_LONG[str]]] if kind is list and str in inner else []
    for value in tried:
        with pytest.raises(ValidationError) as refused:
            model.model_validate({name: value})
        assert any(each["type"] != "missing" for each in refused.value.errors())


@pytest.mark.parametrize("model", models(), ids=lambda each: each.__name__)
def test_no_object_takes_keys_without_number(model):
    with pytest.raises(ValidationError) as refused:
        model.model_validate({f"k{number}": 1 for number in range(MAX_KEYS + 1)})
    assert refused.value.error_count() == 1


def test_a_general_limit_is_not_repeated_in_schemas():
    assert str(MAX_TEXT) not in str([each.input_schema for each in TOOLS.values()])


TAKING = {
    (tool.name, name): field
    for tool in TOOLS.values()
    for name, field in tool.input.model_fields.items()
    if "pmid" in f"{name} {field.description}".lower()
}
DOC_IDS = {("rag.get", "doc_id"), ("fetch", "id")}
PMIDS = ["384001", "0384001", "007", "999999999", "0" * 20 + "1"]
NONE = ["0", "000", "", "1234567890", "-1", "1.5", "0x1", "１２３", "٣٨٤", "384 001", "12\n34", "abc", "9" * 5_000]


class NobodyAnswers:
    """Backends that fail whatever they are asked: what is refused before is the caller's fault."""

    def __getattr__(self, name):
        return self

    def __call__(self, *_args, **_options):
        raise NcbiFailed("nobody answers")


class EmptyCorpus(NobodyAnswers):
    recorder = None  # its calls are not logged

    def get(self, pmid):
        raise NotFound(f"{pmid} is not here")


ALONE = {"exportPapers": {"format": "ris"}}  # what goes with PMIDs, where the example names papers by something else


def refused(tool, name, text):
    """Whether `tool` says that `text` is none; a list of ids says so of each id."""
    given = f"pmid:{text}" if (tool, name) in DOC_IDS else text
    field = [given] if get_origin(TAKING[tool, name].annotation) is list else given
    body = call(TOOLS[tool], {**ALONE.get(tool, EXAMPLES[tool]), name: field}, EmptyCorpus()).body
    if "error" not in body:
        return '"invalid"' in json.dumps(body)
    return bool(body["error"]["code"] == "VALIDATION")


def test_every_tool_that_takes_pmids_is_tested_here():
    assert {tool for tool, _ in TAKING} == {
        *("convertArticleIds", "exportPapers", "fetch", "fetchArticleDetails", "findVersions", "getBookRecord"),
        *("getArticleRelationships", "getCitationMetrics", "getFullText", "labelPapers", "rag.get", "snowball"),
    }


@pytest.mark.parametrize("text", PMIDS)
@pytest.mark.parametrize(("tool", "name"), TAKING)
def test_a_pmid_is_one_everywhere(tool, name, text):
    assert not refused(tool, name, text)


@pytest.mark.parametrize("text", NONE, ids=lambda text: text[:12] or "empty")
@pytest.mark.parametrize(("tool", "name"), TAKING)
def test_what_is_no_pmid_is_none_anywhere(tool, name, text):
    assert refused(tool, name, text)
