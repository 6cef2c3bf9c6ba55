"""The skills: their form is the Agent Skills specification's, and what they name is there."""

import re
from pathlib import Path

import pytest
import yaml

from bio_mcp import skills
from bio_mcp.skills import NAMES, skill
from tests.support.named_tools import PORTABLE, calls, camel_case, snake_case, words_of_tools

FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}  # of the specification
each_skill = pytest.mark.parametrize("name", NAMES)


def unknown(text):
    """What a skill's text names and no tool has: tools, arguments, fields."""
    called = list(calls(text))
    strangers = [tool for tool, _ in called if tool not in PORTABLE]
    known = {tool: set(PORTABLE[tool].input.model_fields) for tool, _ in called if tool in PORTABLE}
    arguments = [
        f"{tool}({each})" for tool, given in called if tool in known for each in given if each not in known[tool]
    ]
    words = (camel_case(text) | snake_case(text)) - words_of_tools(*known)
    return [*strangers, *arguments, *sorted(words)]


def test_every_directory_is_listed():
    package = Path(skills.__file__).parent
    assert sorted(NAMES) == sorted(each.parent.name for each in package.glob("*/SKILL.md"))


@each_skill
def test_a_skill_is_as_the_specification_has_it_and_short(name):
    content = skill(name).content.decode()
    fields = skill(name).front_matter
    assert dict(fields) == yaml.safe_load(content.split("---\n")[1])
    assert fields.keys() <= FIELDS
    assert fields["name"] == name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(name) <= 64
    assert 50 < len(fields["description"]) <= 1024
    assert len(content.splitlines()) < 150
    assert "## When a call fails" in skill(name).text


@each_skill
def test_every_tool_argument_and_field_that_a_skill_names_exists(name):
    assert unknown(skill(name).text) == []


def test_a_tool_argument_or_field_that_is_not_there_is_found():
    text = "Call `rag_search(query, top=3)` and `rag_fetch(doc_id)`; read `all_snippets`, `retraction`, `totalHits`."
    assert unknown(text) == ["rag_fetch", "rag_search(top)", "all_snippets", "totalHits"]


def test_each_skill_is_for_another_task():
    descriptions = [skill(name).front_matter["description"] for name in NAMES]
    assert len(set(descriptions)) == len(descriptions)
    assert all("Use for" in each for each in descriptions)
