"""The same text is a PMID, or is none, for every tool that takes PMIDs, whatever its field is called."""

import json
from typing import get_origin

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import NcbiFailed, NotFound
from tests.support.examples import EXAMPLES

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
