"""What a client may call after an answer, in a line: `next_step` of the tools that have a natural one.

Each takes the answer's body. A line names tools as they are listed, and of others' text PMIDs alone.
"""

from collections.abc import Mapping
from typing import Any

Body = Mapping[str, Any]

MOST_PMIDS = 5  # that are written out


def after_search(body: Body) -> str:
    if not body["results"]:
        return "searchPubMedArticles looks in PubMed itself"
    weak = f"; include_weak: true for {body['weak']} weak ones" if "weak" in body else ""
    return f"rag_get doc_id={body['results'][0]['doc_id']} for the record{weak}"


def after_paper(body: Body) -> str:
    return f"getFullText id={body['pmcid']} for the text" if body.get("pmcid") else ""


def after_answer(body: Body) -> str:
    if body["withheld"]:
        return "rag_search lists what there is; searchPubMedArticles looks in PubMed itself"
    return f"rag_get doc_id={body['citations'][0]['id']} before citing it"


def after_everything(body: Body) -> str:
    """Of a search for everything."""
    papers = [each["id"] for each in body["hits"] if each["type"] == "paper"]
    return f"rag_get doc_id={papers[0]} for the record" if papers else ""


def after_sync(body: Body) -> str:
    if body["state"] == "complete":
        return "whatsNew with this query_key lists what it brought" if body["inserted"] or body["updated"] else ""
    return _after_job(body)


def after_ingest(body: Body) -> str:
    return "query_hybrid with this project finds its passages" if body["state"] == "complete" else _after_job(body)


def _after_job(body: Body) -> str:
    return "the same call again, later, reports the result" if body["state"] == "continues" else ""


def after_dry_run(body: Body) -> str:
    return "the same with dry_run: false writes it" if body["dry_run"] and body["status"] == "done" else ""


def after_queries(body: Body) -> str:
    if body["queries"]:
        return "whatsNew with a query_key lists what became of its papers"
    return "pubmed_sync_delta follows a query and brings its papers"


def after_news(body: Body) -> str:
    return "the same call with `next` as since goes on" if body["more"] else ""


def after_pubmed_search(body: Body) -> str:
    if not body["pmids"]:
        return "fewer or other words find more; suggestedTerm, if any, is how PubMed spells them"
    return _abstracts(body["pmids"])


def after_relations(body: Body) -> str:
    related = [each["pmid"] for each in body["relatedArticles"]]
    return _abstracts(related) if related else ""


def _abstracts(pmids: list[str]) -> str:
    return f"fetchArticleDetails pmids={','.join(pmids[:MOST_PMIDS])} for abstracts"


def after_headings(body: Body) -> str:
    return "searchPubMedArticles takes a searchTerm in its queryTerm" if body["terms"] else ""


def after_spelling(body: Body) -> str:
    return "searchPubMedArticles with the correctedQuery" if body["correctedQuery"] else ""


def after_projects(body: Body) -> str:
    return "query_hybrid with a project finds its passages" if body["projects"] else ""


def after_snowball(body: Body) -> str:
    return "labelPapers adds papers to the review" if body["papers"] else ""


def after_screening(body: Body) -> str:
    return "labelPapers takes decisions on them" if body["papers"] else ""


def after_labels(_body: Body) -> str:
    return "screenPapers shows which to decide next"
