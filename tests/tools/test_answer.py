"""rag_answer, called as every door calls it."""

from dataclasses import replace

from bio_mcp.call import call
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.tools.answer import MOST_PAPERS, rag_answer
from tests.answering.ginger import GINGER, QUESTION, corpus_of
from tests.support.memory_corpus import article
from tests.support.validation import validate


def ask(corpus, question=QUESTION, **more):
    return call(rag_answer, {"question": question, **more}, corpus)


def test_an_answer_carries_what_an_agent_needs_to_quote_it():
    corpus = corpus_of(*GINGER)
    body = ask(corpus).body
    validate(body, rag_answer.output_schema)
    assert body["answer"].startswith(f"{body['citations'][0]['quote']} [1]")
    for each in body["citations"]:
        pmid = each["id"].removeprefix("pmid:")
        article = corpus.documents.get(pmid).article
        field, _, places = each["span"].partition(":")
        start, end = map(int, places.split("-"))
        assert (each["uri"], each["title"], field) == (f"paper://pmid/{pmid}", article.title, "abstract")
        assert abstract_text(article)[start:end] == each["quote"]
        assert (each["version"], each["retraction"]) == (1, "clear")
        assert 0 < each["relevance"] < 1
    assert (body["withheld"], body["tau"], body["mode"]) == (False, 0.2, "extractive")
    assert (body["reason"], body["conflicts"]) == ("", [])
    assert body["scores"]["answer_conf"] >= 0.2
    assert corpus.answers.get(body["answer_id"]).question == QUESTION


def test_what_is_withheld_has_its_citations_and_scores_and_says_why():
    body = ask(corpus_of(*GINGER, tau=1.0)).body
    validate(body, rag_answer.output_schema)
    assert (body["answer"], body["withheld"], len(body["citations"])) == ("", True, 3)
    assert "is below 1.00" in body["reason"]


def test_filters_are_those_of_a_search():
    body = ask(corpus_of(*GINGER), filters={"publication_types": ["meta-analysis"]}).body
    assert (body["citations"], body["withheld"]) == ([], True)
    assert "No paper in the corpus passes the filters." in body["warnings"]
    assert ask(corpus_of(), filters={"year_from": 2020, "year_to": 2010}).body["error"]["code"] == "INVALID_ARG"


def test_no_more_papers_can_be_asked_for_than_an_answer_reads():
    error = ask(corpus_of(), retrieval={"top_k": MOST_PAPERS + 1}).body["error"]
    assert (error["code"], "top_k" in error["message"]) == ("INVALID_ARG", True)


def test_an_empty_corpus_says_how_to_fill_it():
    corpus = corpus_of()
    corpus.passages.delete(list(corpus.documents.by_pmid))
    assert "the index has none of them" in ask(corpus).body["error"]["message"]
    corpus.documents.by_pmid.clear()
    assert "The corpus is empty" in ask(corpus).body["warnings"][0]


def test_an_earlier_answer_to_the_question_is_named_once_a_paper_that_it_cites_was_retracted():
    corpus = corpus_of(*GINGER)
    earlier = ask(corpus).body["answer_id"]
    gone = replace(GINGER[0], retraction=RetractionStatus.RETRACTED)
    corpus.add(Document(gone, "hash", version=2))
    corpus.answers.flag("11")
    body = ask(corpus).body
    assert body["warnings"] == [
        "PMID 11 seems relevant, but was retracted: it is not cited.",
        f"The earlier answer {earlier} to this question cites PMID 11, retracted since: do not rely on it.",
    ]
    assert body["withheld"] is True
    assert "pmid:11" not in {each["id"] for each in body["citations"]}
    assert not any("earlier" in each for each in ask(corpus, "Is ginger good against nausea?").body["warnings"])


def test_contradictions_are_named_by_the_numbers_of_the_citations():
    against = article("31", "Ginger in pregnancy again.", "Ginger did not reduce nausea in pregnancy.")
    body = ask(corpus_of(*GINGER, against)).body
    validate(body, rag_answer.output_schema)
    ids = [body["citations"][number - 1]["id"] for number in body["conflicts"][0]["between"]]
    assert "pmid:31" in ids
    assert body["conflicts"][0]["outcome"] == "nausea"
