"""rag.search, called as every door calls it."""

import pytest

from bio_mcp.call import call
from bio_mcp.errors import EmbeddingFailed, IndexUnavailable
from bio_mcp.literature.records import AbstractSection, Document, Journal, RetractionStatus
from bio_mcp.retrieval.passages import chunk_uuid
from bio_mcp.tools.search import rag_search
from tests.support.memory_corpus import Corpus, WordVectors, article
from tests.support.validation import validate

STATIN = article(
    "11", "Statins and survival.", "Statins lowered mortality. Placebo did not. Nausea was rare. Cost was low.",
    types=[("D016449", "Randomized Controlled Trial")], mesh=[("D006801", "Humans")],
    journal=Journal(title="The Lancet", nlm_id="2985213R"),
)  # fmt: skip
OLD = article("12", "Statins in mice.", "Statins lowered cholesterol of mice.", 1998, mesh=[("D000818", "Animals")])
ASPIRIN = article("13", "Aspirin for headache.", "Aspirin eased pain within one hour.", 2021)
TITLE_ONLY = article("14", "Interleukin-6 blockade.", "", 2023)
RETRACTED = article(
    "15", "Statins cure all.", "Statins lowered mortality.", 2023, retraction=RetractionStatus.RETRACTED
)
PAPERS = (STATIN, OLD, ASPIRIN, TITLE_ONLY, RETRACTED)


@pytest.fixture
def corpus():
    return Corpus(*PAPERS)


def search(corpus, query, **more):
    return call(rag_search, {"query": query, **more}, corpus)


def found(corpus, query, **more):
    outcome = search(corpus, query, **more)
    assert not outcome.failed, outcome.body
    return [hit["doc_id"] for hit in outcome.body["results"]]


def refusal(corpus, query, **more):
    error = search(corpus, query, **more).body["error"]
    return error["code"], error["message"]


def test_the_right_paper_comes_first(corpus):
    assert found(corpus, "aspirin against headache")[0] == "pmid:13"
    assert found(corpus, "IL-6 blockade", synonyms=False)[0] == "pmid:14"


def test_the_answer_fits_its_own_published_schema(corpus):
    for arguments in ({"query": "statins"}, {"query": "statins", "group_by_doc": False}, {"query": "quark"}):
        validate(call(rag_search, arguments, corpus).body, rag_search.output_schema)


def test_a_hit_carries_what_an_agent_needs_to_cite_it(corpus):
    hit = search(corpus, "statins survival mortality", top_k=1).body["results"][0]
    assert hit["doc_id"] == "pmid:11"
    assert hit["uuid"] == chunk_uuid("11", hit["chunk_id"])
    assert hit["title"] == "Statins and survival."
    assert "Statins lowered mortality." in hit["snippet"]
    assert (hit["year"], hit["journal"], hit["retraction"]) == (2024, "The Lancet", "clear")
    assert hit["quality"] == 8
    assert hit["explanation"].endswith("listed journal (+2), studied in humans (+2)")


def test_quality_bias_is_the_score_times_one_plus_a_tenth_of_the_quality(corpus):
    plain = {hit["doc_id"]: hit for hit in search(corpus, "statins", quality_bias=False).body["results"]}
    biased = search(corpus, "statins").body["results"]
    assert all(0 <= hit["score"] <= 1 for hit in plain.values())
    for hit in biased:
        assert hit["score"] == pytest.approx(plain[hit["doc_id"]]["score"] * (1 + hit["quality"] / 10), abs=2e-6)
    assert [hit["score"] for hit in biased] == sorted((hit["score"] for hit in biased), reverse=True)


def test_a_retracted_paper_is_flagged_and_sinks(corpus):
    for bias in (True, False):
        hits = search(corpus, "statins lowered mortality", quality_bias=bias).body["results"]
        flags = {hit["doc_id"]: (hit["retraction"], hit["quality"]) for hit in hits}
        assert flags["pmid:15"] == ("retracted", 0)
        assert hits[0]["doc_id"] == "pmid:11"


def test_a_title_without_abstract_is_its_own_snippet(corpus):
    hit = search(corpus, "interleukin blockade", top_k=1).body["results"][0]
    assert (hit["snippet"], hit["chunk_id"]) == ("Interleukin-6 blockade.", "w0")


def test_one_passage_a_paper_or_every_passage(corpus):
    assert len(found(corpus, "statins nausea cost")) == len(set(found(corpus, "statins nausea cost")))
    every = search(corpus, "nausea cost", group_by_doc=False).body["results"]
    assert [hit["chunk_id"] for hit in every if hit["doc_id"] == "pmid:11"] == ["w1", "w0"]
    assert [hit["score"] for hit in every] == sorted((hit["score"] for hit in every), reverse=True)


def test_a_passage_that_has_only_what_a_better_one_has_is_left_out():
    corpus = Corpus(article("21", "Statins.", "Statins lowered mortality. Statins lowered mortality."))
    hits = search(corpus, "statins", group_by_doc=False).body["results"]
    assert [hit["chunk_id"] for hit in hits] == ["w0"]


@pytest.mark.parametrize(
    ("filters", "pmids"),
    [
        ({"year_from": 2023}, {"11", "14", "15"}),
        ({"year_to": 2000}, {"12"}),
        ({"journals": ["the lancet"]}, {"11"}),
        ({"journals": ["2985213R"]}, {"11"}),
        ({"publication_types": ["Randomized Controlled Trial"]}, {"11"}),
        ({"publication_types": ["D016449"]}, {"11"}),
    ],
)
def test_filters_say_which_papers_may_be_returned(corpus, filters, pmids):
    corpus.add(Document(article("21", "Statins.", "", 2010), "hash"))
    assert set(found(corpus, "statins", filters=filters)) == {f"pmid:{pmid}" for pmid in pmids}


def test_synonyms_find_what_the_words_do_not():
    corpus = Corpus(article("1", "Myocardial infarction.", "It was severe."), article("2", "Heart of gold.", "A poem."))
    by_words = {hit["doc_id"]: hit["bm25"] for hit in search(corpus, "heart attack", synonyms=False).body["results"]}
    widened = {hit["doc_id"]: hit["bm25"] for hit in search(corpus, "heart attack").body["results"]}
    assert by_words["pmid:1"] is None
    assert widened["pmid:1"] > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query": " \n\t"}, "no word"),
        ({"query": "?!"}, "no word"),
        ({"query": "x", "limit": 5}, "not a parameter"),
        ({"query": "x", "filters": None}, "filters"),
        ({"query": "x", "filters": {"tags": ["a"]}}, "filters.tags"),
        ({"query": "x", "filters": {"project": "hearts"}}, "filters.project"),
        ({"query": "x", "max_characters": 999}, "max_characters"),
        ({"query": "x", "filters": {"journals": ["x" * 301]}}, "filters.journals.0"),
        ({"query": "x", "filters": {"year_from": 2020, "year_to": 2010}}, "year_from"),
        ({"query": "x", "filters": {"publication_types": ["poem"]}}, "randomized controlled trial"),
    ],
)
def test_bad_input_is_refused_with_a_sentence_that_helps(corpus, arguments, says):
    error = call(rag_search, arguments, corpus).body["error"]
    assert error["code"] == "VALIDATION"
    assert says in error["message"]


def test_an_empty_corpus_says_what_to_do():
    body = search(Corpus(), "statins").body
    assert body["results"] == []
    assert "Sync" in body["warnings"][0]


def test_filters_that_nothing_passes_are_named(corpus):
    body = search(corpus, "statins", filters={"year_from": 2100}).body
    assert (body["results"], body["warnings"]) == ([], ["No paper in the corpus passes the filters."])


def test_a_warning_names_hits_that_were_found_by_meaning_alone(corpus):
    assert "in the corpus: these papers were found by meaning alone" in search(corpus, "สมุนไพร").body["warnings"][0]
    filtered = search(corpus, "สมุนไพร", filters={"year_to": 2000}).body["warnings"][0]
    assert "in the papers that pass the filters" in filtered


def test_a_question_that_nothing_fits_is_answered_with_a_warning_whatever_the_scores(corpus):
    body = search(corpus, "quantum chromodynamics lattice").body
    assert body["results"][0]["score"] >= 1
    assert {hit["match"] for hit in body["results"]} == {"weak"}
    assert "5 papers" in body["warnings"][-1]
    assert "searchPubMedArticles" in body["warnings"][-1]


def test_a_question_that_one_paper_fits_has_no_warning_and_the_others_a_mark(corpus):
    body = search(corpus, "aspirin against headache").body
    assert body["warnings"] == []
    assert "match" not in body["results"][0]
    assert {hit["match"] for hit in body["results"][1:]} == {"weak"}


def test_each_hit_says_how_likely_it_fits_and_no_order_depends_on_it(corpus):
    hits = search(corpus, "aspirin against headache").body["results"]
    assert 1 > hits[0]["relevance"] > 3 * max(hit["relevance"] for hit in hits[1:]) > 0
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    passages = search(corpus, "aspirin against headache", group_by_doc=False).body["results"]
    of_papers = {hit["doc_id"]: hit["relevance"] for hit in hits}
    assert all(of_papers[hit["doc_id"]] == hit["relevance"] for hit in passages)


def test_what_fits_and_was_filtered_away_is_not_made_up_for(corpus):
    body = search(corpus, "aspirin against headache", filters={"publication_types": ["D016449"]}).body
    assert [hit["doc_id"] for hit in body["results"]] == ["pmid:11"]
    assert "the papers that pass the filters" in body["warnings"][-1]


def test_a_journal_of_which_there_is_no_paper_is_named(corpus):
    def warnings(*journals):
        return search(corpus, "statins survival", top_k=1, filters={"journals": list(journals)}).body["warnings"]

    assert "'Nature' or 'Sonnets'" in warnings("Nature", "The Lancet", "Sonnets")[0]
    assert "'Nature'" in warnings("Nature")[1]
    assert warnings("The Lancet", "2985213r", "A journal") == []


class Broken(WordVectors):
    def embed(self, _texts):
        raise EmbeddingFailed("the model is not installed; run make setup")


class Other(WordVectors):
    fingerprint = "other"


class Down:
    def check_model(self, *_model):
        raise IndexUnavailable("the index is down")


@pytest.mark.parametrize(
    ("port", "failing", "code"),
    [
        ("embeddings", Broken(), "EMBEDDINGS"),
        ("embeddings", Other(), "INVARIANT_FAILURE"),
        ("passages", Down(), "WEAVIATE"),
    ],
)
def test_a_failed_or_another_model_and_a_down_index_are_errors_and_never_a_worse_list(corpus, port, failing, code):
    search(corpus, "statins")
    setattr(corpus, port, failing)
    assert refusal(corpus, "statins")[0] == code


def test_a_paper_deleted_during_the_search_makes_the_answer_partial(corpus):
    del corpus.documents.by_pmid["11"]
    body = search(corpus, "statins").body
    assert body["status"] == "partial"
    assert "1 paper" in body["reasons"][0]
    assert "pmid:11" not in [hit["doc_id"] for hit in body["results"]]


def test_half_a_character_is_refused_and_a_very_long_query_is_searched(corpus):
    assert refusal(corpus, "statins \ud800")[0] == "VALIDATION"
    assert found(corpus, "statins " * 1_200)[0] in {"pmid:11", "pmid:12"}


def test_sections_are_named_on_hits():
    paper = article("1", "T.", "")
    paper.abstract = (
        AbstractSection("METHODS", None, "We gave statins."),
        AbstractSection("RESULTS", None, "All slept."),
    )
    hit = search(Corpus(paper), "statins were given").body["results"][0]
    assert (hit["chunk_id"], hit["section"]) == ("s0", "METHODS")
