"""What an answer says that a client may call next: short, and of tools and arguments that are there."""

import inspect
import re

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.tools import answer_size, next_steps
from tests.support.examples import EXAMPLES
from tests.support.named_tools import PORTABLE
from tests.support.sample_corpus import corpus

HIT = {"doc_id": "pmid:7", "id": "pmid:7", "type": "paper", "pmid": "7"}
SAID = [
    (next_steps.after_search, {"results": [HIT]}, "rag_get doc_id=pmid:7 for the record"),
    (next_steps.after_search, {"results": [HIT], "weak": 12}, "include_weak: true for 12 weak ones"),
    (next_steps.after_search, {"results": []}, "searchPubMedArticles"),
    (next_steps.after_paper, {"pmcid": "PMC8"}, "getFullText id=PMC8"),
    (next_steps.after_paper, {"pmcid": None}, ""),
    (next_steps.after_answer, {"withheld": False, "citations": [HIT]}, "rag_get doc_id=pmid:7"),
    (next_steps.after_answer, {"withheld": True, "citations": []}, "rag_search"),
    (next_steps.after_everything, {"hits": [{"type": "herb", "id": "H1"}, HIT]}, "rag_get doc_id=pmid:7"),
    (next_steps.after_everything, {"hits": []}, ""),
    (next_steps.after_sync, {"state": "complete", "inserted": 3, "updated": 0}, "whatsNew"),
    (next_steps.after_sync, {"state": "complete", "inserted": 0, "updated": 0}, ""),
    (next_steps.after_sync, {"state": "continues", "inserted": 3, "updated": 0}, "the same call again"),
    (next_steps.after_ingest, {"state": "complete"}, "query_hybrid"),
    (next_steps.after_ingest, {"state": "continues"}, "the same call again"),
    (next_steps.after_ingest, {"state": "cancelled"}, ""),
    (next_steps.after_dry_run, {"dry_run": True, "status": "done"}, "dry_run: false"),
    (next_steps.after_dry_run, {"dry_run": False, "status": "done"}, ""),
    (next_steps.after_queries, {"queries": [{}]}, "whatsNew"),
    (next_steps.after_queries, {"queries": []}, "pubmed_sync_delta"),
    (next_steps.after_news, {"more": True}, "since"),
    (next_steps.after_news, {"more": False}, ""),
    (next_steps.after_pubmed_search, {"pmids": list("123456")}, "fetchArticleDetails pmids=1,2,3,4,5 for"),
    (next_steps.after_pubmed_search, {"pmids": []}, "suggestedTerm"),
    (next_steps.after_relations, {"relatedArticles": [HIT]}, "fetchArticleDetails pmids=7 for"),
    (next_steps.after_relations, {"relatedArticles": []}, ""),
    (next_steps.after_headings, {"terms": [{}]}, "searchPubMedArticles"),
    (next_steps.after_headings, {"terms": []}, ""),
    (next_steps.after_spelling, {"correctedQuery": "newborn"}, "searchPubMedArticles"),
    (next_steps.after_spelling, {"correctedQuery": None}, ""),
    (next_steps.after_projects, {"projects": [{}]}, "query_hybrid"),
    (next_steps.after_projects, {"projects": []}, ""),
    (next_steps.after_snowball, {"papers": [{}]}, "labelPapers"),
    (next_steps.after_snowball, {"papers": []}, ""),
    (next_steps.after_screening, {"papers": [{}]}, "labelPapers"),
    (next_steps.after_screening, {"papers": []}, ""),
    (next_steps.after_labels, {}, "screenPapers"),
]


@pytest.mark.parametrize(("after", "body", "says"), SAID)
def test_an_answer_says_what_is_natural_and_nothing_where_nothing_is(after, body, says):
    line = after(body)
    assert says in line
    assert bool(says) == bool(line)
    assert len(line) <= answer_size.NEXT_STEP - len(',"next_step":""')


def test_every_line_is_tried_and_names_only_tools_and_arguments_that_are_there():
    functions = dict(inspect.getmembers(next_steps, inspect.isfunction))
    assert {after for after, *_ in SAID} == {of for name, of in functions.items() if name.startswith("after_")}
    arguments = {field for tool in PORTABLE.values() for field in tool.input.model_fields}
    answered = {"searchTerm", "correctedQuery", "suggestedTerm"}
    for after, body, _ in SAID:
        named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z]\w+\b", after(body)))
        assert named <= PORTABLE.keys() | arguments | answered, after(body)


@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if tool.next_step and name in EXAMPLES])
def test_it_is_of_the_answer_of_its_tool(name):
    outcome = call(TOOLS[name], EXAMPLES[name], corpus())
    assert not outcome.failed
    said = TOOLS[name].next_step(outcome.body)
    assert outcome.body.get("next_step", "") == said
    assert "next_step" in TOOLS[name].output_schema["properties"]


def test_an_error_has_none():
    assert "next_step" not in call(TOOLS["rag.search"], {"query": ""}, corpus()).body
