"""Tools and arguments that pages name exist: no page outlives what it describes."""

import re
from pathlib import Path

import pytest

from tests.support.named_tools import PORTABLE, calls, camel_case, snake_case, words_of_tools

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
OF_THE_CODE = {
    "adding_a_tool",
    "adding_an_adapter",
    "architecture",
    "benchmarks",
    "decisions",
    "runbook",
}  # which name functions and stores
OTHERS = frozenset(
    """
    clientVersion corpus_size directoryRead documentationUrl hasMore icdCode insufficient_scope retry_after_s
    syncDeleteLog acts_on has_constituent plant_species fish_source zsh_source get_doc sync_delta pubmed_chunk
    clinical_question systematic_search what_is_new mesh_heading on_disk
    """.split()
)
"""Names of protocols, of other programs, of functions on AWS, and of prompts and their arguments."""


def strangers(text, *, of_the_code=False):
    """What a page names that no tool has: tools, arguments and fields."""
    called = [(tool, given) for tool, given in calls(text) if tool in PORTABLE]
    wrong = [
        f"{tool}({each})" for tool, given in called for each in given if each not in PORTABLE[tool].input.model_fields
    ]
    typed = re.findall(r"bio-mcp admin call ([a-z][\w.]+)", text)
    words = camel_case(text) | (set() if of_the_code else snake_case(text)) | set(typed)
    return [*wrong, *sorted(words - words_of_tools() - OTHERS)]


@pytest.mark.parametrize("path", PAGES, ids=[each.stem for each in PAGES])
def test_every_tool_argument_and_field_that_a_page_names_exists(path):
    assert strangers(path.read_text(encoding="utf-8"), of_the_code=path.stem in OF_THE_CODE) == []


def test_a_name_that_no_tool_has_is_found():
    page = "`rag_search(query, topics)` or `bio-mcp admin call rag_find`; `searchPubMed`, `doc_number`, `doc_id`"
    assert strangers(page) == ["rag_search(topics)", "doc_number", "rag_find", "searchPubMed"]
