"""The glossary names things that exist, and whoever reads the architecture finds it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
ROW = re.compile(r"^\| (?P<word>(?!word )[a-z]+) \| (?P<meaning>.+) \| (?P<where>.+) \|$", re.MULTILINE)
ROWS = {row["word"]: row for row in ROW.finditer((DOCS / "glossary.md").read_text())}


def exists(name: str) -> bool:
    """Whether `name` is a module, or a public name in one."""
    try:
        import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return bool(module) and exists(module) and hasattr(import_module(module), attribute)
    return True


@pytest.mark.parametrize("word", ROWS)
def test_each_word_lives_where_the_glossary_says(word):
    places = re.findall(r"`(bio_mcp[\w.]*)`", ROWS[word]["where"])
    assert places
    assert [place for place in places if not exists(place)] == []


@pytest.mark.parametrize("name", ["bio_mcp.nowhere", "bio_mcp.tool.Nothing", "nowhere.at.all"])
def test_a_name_that_does_not_exist_is_not_found(name):
    assert not exists(name)


def test_the_words_are_in_order_each_with_a_meaning():
    assert list(ROWS) == sorted(ROWS)
    assert len(ROWS) == len(re.findall(r"^\| (?!word|---)", (DOCS / "glossary.md").read_text(), re.MULTILINE))
    assert all(row["meaning"].endswith(".") for row in ROWS.values())


def test_the_architecture_links_to_the_glossary():
    assert "](glossary.md)" in (DOCS / "architecture.md").read_text()
