"""rag_answer, called as every door calls it."""

from dataclasses import replace

from bio_mcp.call import call
from bio_mcp.literature.records import Author, Document, Journal, RetractionStatus
from bio_mcp.retrieval.chunking import abstract_text, study_of
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
        assert each["role"] in ("result", "conclusion")
    assert (body["withheld"], body["tau"], body["mode"]) == (False, 0.2, "extractive")
    assert (body["reason"], body["conflicts"]) == ("", [])
    assert (body["rests_on"], body["missing_concepts"]) == ("papers", [])
    assert body["scores"]["answer_conf"] >= 0.2
    assert corpus.answers.get(body["answer_id"]).question == QUESTION


def test_a_citation_says_in_a_line_what_its_abstract_states_of_the_study():
    corpus = corpus_of(*GINGER)
    stated = {each["id"]: each.get("study", "") for each in ask(corpus).body["citations"]}
    articles = {doc_id: corpus.documents.get(doc_id.removeprefix("pmid:")).article for doc_id in stated}
    assert stated == {doc_id: study_of(each).short for doc_id, each in articles.items()}
    assert any(stated.values())


def test_a_journal_that_the_corpus_lacks_is_named_and_one_alone_refused():
    in_lancet = [replace(each, journal=Journal("Lancet")) for each in GINGER]
    told = ask(corpus_of(*in_lancet), filters={"journals": ["Lancet", "Lancett"]}).body
    assert told["warnings"][0].endswith("'Lancett'; did you mean 'Lancet'?")
    assert told["citations"]
    refused = ask(corpus_of(*in_lancet), filters={"journals": ["Lancett"]}).body
    assert "did you mean 'Lancet'?" in refused["error"]["message"]


def test_what_is_withheld_has_its_citations_and_scores_and_says_why():
    body = ask(corpus_of(*GINGER, tau=1.0)).body
    validate(body, rag_answer.output_schema)
    assert (body["answer"], body["withheld"], len(body["citations"])) == ("", True, 3)
    assert body["reason"] == "the papers found may well be about something else"
    assert (body["scores"]["answer_conf"], "rests_on" in body) == (0, False)


def test_a_citation_says_who_wrote_it_when_and_where():
    written = replace(
        GINGER[0],
        authors=tuple(Author(last_name=name, initials="A") for name in ("Rossi", "Bianchi", "Verdi", "Neri")),
        journal=Journal(title="Midwifery"),
        doi="10.1000/ginger",
    )
    first = ask(corpus_of(written, *GINGER[1:])).body["citations"][0]
    assert first["authors"] == ["Rossi A", "Bianchi A", "Verdi A", "et al."]
    assert (first["year"], first["journal"], first["doi"]) == (2024, "Midwifery", "10.1000/ginger")
    assert first["url"] == "https://doi.org/10.1000/ginger"


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
