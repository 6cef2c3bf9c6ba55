"""Answers: when they are given, when withheld and why, how sure they are, and that they are stored."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bio_mcp.answering.answers import LEAST_PAPERS, LIKELY, answer, confidence_of
from bio_mcp.answering.search import Question, search_papers
from bio_mcp.answering.writing import GENERATED
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.retrieval.passages import Filters
from tests.answering.ginger import GINGER, LABELLED, META, QUESTION, TRIAL, corpus_of
from tests.answering.test_writing import Model
from tests.support.hooked import raising
from tests.support.memory_corpus import Corpus, article

TOPICS = "sleep work iron mood smell taste travel vision gait sugar skin hair pain teeth fever"


def ask(corpus, question=QUESTION, **more):
    return answer(question, corpus, **more)


def cited(given):
    return [each.span.pmid for each in given.cited]


def test_an_answer_is_the_best_sentence_of_each_paper_word_for_word_with_its_number():
    given = ask(corpus_of(*GINGER))
    assert given.text == " ".join(f"{each.span.quote} [{at}]" for at, each in enumerate(given.cited, 1))
    assert sorted(cited(given)) == ["11", "12", "13"]
    assert given.reason is None
    assert given.mode == "extractive"
    assert 0 < given.confidence <= 1


def test_below_three_papers_it_is_withheld_and_shows_what_was_found():
    given = ask(corpus_of(TRIAL, LABELLED))
    assert (given.text, sorted(cited(given))) == ("", ["11", "12"])
    assert given.reason.startswith("2 of the papers found have a sentence that fits the question")
    assert f"at least {LEAST_PAPERS}" in given.reason


def test_a_question_on_something_else_is_withheld():
    given = ask(corpus_of(*GINGER), "What is lattice quantum chromodynamics?")
    assert (given.text, given.cited, given.confidence) == ("", (), 0.0)
    assert given.reason.startswith("0 of the papers")


def test_a_paper_that_shares_only_what_all_have_is_not_cited():
    nausea = [
        article(str(pmid), f"Nausea in pregnancy and {topic}.", f"Nausea in pregnancy does not change {topic}.")
        for pmid, topic in enumerate(TOPICS.split(), 70)
    ]
    given = ask(corpus_of(*GINGER[:2], *nausea), top_k=10)
    assert sorted(cited(given)) == ["11", "12"]
    assert given.text == ""


def test_below_tau_it_is_withheld_and_both_numbers_are_named():
    sure = ask(corpus_of(*GINGER)).confidence
    assert ask(corpus_of(*GINGER, tau=sure)).text
    given = ask(corpus_of(*GINGER, tau=0.99))
    assert given.text == ""
    assert f"{sure:.2f}, is below 0.99" in given.reason
    assert len(given.cited) == 3


def test_fewer_papers_asked_for_than_an_answer_needs_is_the_reason():
    assert "at most 2 papers may be used" in ask(corpus_of(*GINGER), top_k=2).reason


@pytest.mark.parametrize(
    "third",
    [
        replace(META, retraction=RetractionStatus.RETRACTED),
        replace(META, retraction=RetractionStatus.NOTICE),
        replace(META, publication_date=replace(META.publication_date, year=1990)),
        article("99", TRIAL.title, TRIAL.abstract[0].text),
        article("99", TRIAL.title, TRIAL.abstract[0].text.replace("Ginger reduced nausea", "Ginger  reduced Nausea")),
    ],
    ids=["retracted", "notice", "left out by the filters", "the same words", "the same words, spaced otherwise"],
)
def test_what_is_neither_cited_nor_counted(third):
    given = ask(corpus_of(TRIAL, LABELLED, third), filters=Filters(year_from=2000))
    assert (len(given.cited), given.text) == (2, "")
    assert "13" not in cited(given)


def test_the_store_says_whether_a_paper_is_retracted_not_the_index():
    corpus = corpus_of(*GINGER)
    corpus.documents.by_pmid["13"] = Document(replace(META, retraction=RetractionStatus.RETRACTED), "hash", version=2)
    assert "13" not in cited(ask(corpus))


def test_the_place_of_a_retracted_paper_is_taken_by_the_next():
    gone = [replace(TRIAL, pmid=str(pmid), retraction=RetractionStatus.RETRACTED) for pmid in range(90, 95)]
    given = ask(corpus_of(*GINGER, *gone))
    assert sorted(cited(given)) == ["11", "12", "13"]


def test_an_expression_of_concern_is_cited_with_a_warning():
    given = ask(corpus_of(TRIAL, LABELLED, replace(META, retraction=RetractionStatus.CONCERN)))
    assert "13" in cited(given)
    assert given.warnings == (
        "Ginger: a meta-analysis. (PMID 13) has an expression of concern: say so where you cite it.",
    )


def test_an_answer_is_stored_with_its_spans_and_the_same_answer_once():
    corpus = corpus_of(*GINGER)
    given, again = ask(corpus), ask(corpus)
    assert (given.answer_id, given.text, given.cited) == (again.answer_id, again.text, again.cited)
    stored = corpus.answers.get(given.answer_id)
    assert (stored.question, stored.text, stored.confidence) == (QUESTION, given.text, given.confidence)
    assert stored.spans == tuple(each.span for each in given.cited)
    assert stored.asked == corpus.now()


def test_another_version_of_a_paper_makes_another_answer():
    corpus = corpus_of(*GINGER)
    before = ask(corpus)
    corpus.add(Document(TRIAL, "hash", version=2))
    after = ask(corpus)
    assert after.text == before.text
    assert after.answer_id != before.answer_id
    assert {each.span.version for each in after.cited if each.span.pmid == "11"} == {2}


def test_an_answer_that_cannot_be_stored_is_given_and_says_so():
    corpus = corpus_of(*GINGER)
    corpus.answers = SimpleNamespace(put=raising(StoreFailed, "the disk is full"))
    given = ask(corpus)
    assert given.text
    assert "could not be stored" in given.warnings[0]


def test_an_outage_of_the_papers_is_no_withheld_answer():
    corpus = corpus_of(*GINGER)
    corpus.documents.get_many = raising(StoreFailed, "down")
    with pytest.raises(StoreFailed):
        ask(corpus)


def test_a_language_model_writes_the_answer_and_its_sentences_cite_the_extracts():
    corpus = corpus_of(*GINGER)
    corpus.language_model = Model("Ginger reduced nausea in pregnancy by 40% [1]. Nausea was less with ginger [2][3].")
    given = ask(corpus)
    assert given.mode == GENERATED
    assert given.text == "Ginger reduced nausea in pregnancy by 40%. [1] Nausea was less with ginger. [2][3]"


def test_what_a_language_model_makes_of_fewer_papers_than_an_answer_needs_is_not_used():
    corpus = corpus_of(*GINGER)
    corpus.language_model = Model("Ginger reduced nausea in pregnancy by 40% [1].")
    given = ask(corpus)
    assert given.mode == "extractive"
    assert given.text.count("[") == 3
    assert "fewer than 3 papers" in given.warnings[0]


def test_a_language_model_is_not_asked_for_an_answer_that_is_withheld():
    corpus = corpus_of(*GINGER, tau=1.0)
    corpus.language_model = Model("Ginger helps [1].")
    assert ask(corpus).text == ""
    assert corpus.language_model.given == []


AGAINST = article("31", "Ginger in pregnancy again.", "Ginger did not reduce nausea in pregnancy.")


def test_sentences_that_contradict_each_other_are_named_side_by_side():
    given = ask(corpus_of(*GINGER, AGAINST))
    one, other = given.conflicts[0].one, given.conflicts[0].other
    assert "31" in {given.cited[one].span.pmid, given.cited[other].span.pmid}
    assert f"[{one + 1}] and [{other + 1}] contradict each other on" in given.text
    assert all(each.span.quote in given.text for each in given.cited)


def test_a_thai_question_is_looked_up_in_english_and_quotes_its_papers_in_english():
    given = ask(corpus_of(*GINGER), "ขิงช่วยลดอาการคลื่นไส้ในหญิงตั้งครรภ์หรือไม่")
    assert given.text.startswith("Ginger reduced nausea in pregnancy by 40%. [1]")
    assert given.warnings[0].startswith("Looked up in English as: ginger")
    assert given.warnings[0].endswith("The papers are quoted in English.")


def test_thai_words_that_the_dictionary_does_not_have_are_named():
    given = ask(corpus_of(*GINGER), "ขิงกับฟุ้งกระจายลด nausea ได้ไหม")
    assert any("ฟุ้งกระจาย" in each and "The Thai dictionary does not have" in each for each in given.warnings)


def test_a_thai_question_that_the_dictionary_has_no_word_of_is_refused():
    with pytest.raises(InvalidInput, match="the Thai dictionary has none of its words"):
        ask(corpus_of(*GINGER), "ฟุ้งกระจาย")


def test_an_answer_whose_papers_are_mostly_about_something_near_says_so():
    near = [article(str(pmid), f"{plant}.", f"{plant} and nausea in pregnancy.") for pmid, plant in NEAR.items()]
    given = ask(corpus_of(TRIAL, *near))
    assert given.text
    likely = sum(each.relevance >= LIKELY for each in given.cited)
    assert likely < LEAST_PAPERS
    assert f"{likely} of the 3 papers cited probably answer the question" in given.warnings[0]


NEAR = {41: "Wheat with barley and rye from several mills", 42: "Cotton with hemp and flax from several fields"}
GOUT = "Does curcumin lower uric acid in gout?"
TEXTS = {
    "1": "Curcumin lowers uric acid in gout.",
    "2": "Colchicine eases gout in adults.",
    **{str(each): f"A report of case {each} on the eyes of horses." for each in range(3, 40)},
}


@pytest.fixture(scope="module")
def retrieved():
    corpus = Corpus(*(article(pmid, title=text, text=text) for pmid, text in TEXTS.items()))
    return search_papers(Question(GOUT), corpus)


def test_an_answer_that_cites_what_fits_is_surer_than_one_that_cites_what_does_not(retrieved):
    assert confidence_of(retrieved, ["1"]) > 0.8 > 0.2 > confidence_of(retrieved, ["3", "4"])


def test_a_further_paper_never_makes_it_less_sure_and_one_that_the_search_did_not_find_counts_for_nothing(retrieved):
    assert confidence_of(retrieved, ["1", "2", "3"]) == confidence_of(retrieved, ["1"])
    assert confidence_of(retrieved, ["999"]) == 0.0
    assert confidence_of(retrieved, []) == 0.0
    assert confidence_of(retrieved, ["999", "2"]) == confidence_of(retrieved, ["2"])
