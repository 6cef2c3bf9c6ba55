"""A question is asked through the product's own search and answering, and compared with what is known of it."""

from dataclasses import replace

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.evaluating.asking import Asking
from bio_mcp.evaluating.questions import JudgedQuestion, Rationale
from bio_mcp.literature.records import AbstractSection, RetractionStatus
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked
from tests.support.memory_corpus import article

BESIDE = "Nausea in pregnancy was reduced by less ginger too."
TRIAL = f"Ginger reduces nausea in pregnancy. {BESIDE} Pregnancy with ginger was a pregnancy of reduced nausea."
PAPERS = [
    replace(article("1", "Ginger against nausea"), abstract=(AbstractSection("RESULTS", "RESULTS", TRIAL),)),
    article("5", "Ginger once more", "Nausea in pregnancy is reduced by ginger, once more."),
    article("2", "Ginger for nausea after surgery", "Ginger reduces nausea after surgery. It was given twice."),
    article("3", "Nausea of travellers", "Nausea of travellers was reduced by ginger. They ate it."),
    article("4", "Vitamin B6", "Vitamin B6 reduces nausea in pregnancy too. It is cheap."),
    *(
        article(str(n), f"The {word}", f"All about the {word}.")
        for n, word in enumerate(["heart", "liver", "lung"], 10)
    ),
]
QUESTION = JudgedQuestion(
    "q", "ginger reduces nausea in pregnancy", ("1",), (Rationale("1", "Ginger reduces nausea in pregnancy."),)
)


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path / "home") as corpus:
        apply_records(PAPERS, corpus)
        yield corpus


def ask(corpus, question=QUESTION, answers=True):
    return Asking(corpus, NEVER, answers=answers).ask(question)


def test_the_places_of_the_right_papers_are_noted(corpus):
    outcome = ask(corpus, answers=False)
    assert (outcome.relevant, outcome.places) == (1, (1,))
    assert outcome.answers == ()


def test_each_citation_is_compared_with_the_right_papers_and_their_rationale(corpus):
    first, *others = ask(corpus).answer.cited
    assert (first.right, first.evidence, first.finding, first.intact, first.retracted) == (
        True,
        True,
        True,
        True,
        False,
    )
    assert [(each.right, each.evidence) for each in others] == [(True, False), (True, False)]


def test_a_paper_that_corrects_the_question_is_right_and_what_it_says_is_evidence(corpus):
    corrected = replace(QUESTION, pmids=(), rationale=(), corrections=QUESTION.rationale)
    outcome = ask(corpus, corrected)
    assert (outcome.relevant, outcome.judged, outcome.without) == (0, True, None)
    assert outcome.answer.first_right
    assert outcome.answer.cited[0].evidence


def test_a_quote_beside_the_rationale_is_of_a_right_paper_and_no_evidence(corpus):
    elsewhere = replace(QUESTION, rationale=(Rationale("1", BESIDE),))
    first = ask(corpus, elsewhere).answer.cited[0]
    assert (first.right, first.evidence) == (True, False)


def test_a_quote_that_is_not_at_its_place_is_not_intact(corpus):
    def revised(pmid, _version):
        return replace(corpus.documents.get(pmid), article=article(pmid, text="Other words."))

    documents = Hooked(corpus.documents, at_version=revised)
    assert not any(each.intact for each in ask(Over(corpus, documents=documents)).answer.cited)


def test_without_the_right_papers_none_of_them_is_cited(corpus):
    outcome = ask(corpus)
    assert outcome.answer.right
    assert not any(each.right for each in outcome.without.cited)
    assert outcome.without.confidence < outcome.answer.confidence


def test_a_question_that_no_paper_answers_is_asked_once(corpus):
    outcome = ask(corpus, JudgedQuestion("q", "what do giraffes eat"))
    assert (outcome.relevant, outcome.without) == (0, None)
    assert outcome.answer is not None


def test_a_retracted_copy_is_neither_cited_nor_in_the_ranking(corpus):
    copy = replace(PAPERS[0], pmid="99", retraction=RetractionStatus.RETRACTED)
    apply_records([copy], corpus)
    outcome = ask(corpus, replace(QUESTION, retracted=("99",)))
    assert outcome.places == (1,)
    assert outcome.answer.cited
    assert not any(each.retracted for answer in outcome.answers for each in answer.cited)


def test_a_question_that_cannot_be_answered_counts_as_withheld(corpus):
    outcome = ask(corpus, JudgedQuestion("q", "ฟหกด", ("1",)))
    assert [(each.answered, each.confidence, each.cited) for each in outcome.answers] == [(False, 0, ())] * 2


def test_no_answer_is_stored(corpus):
    ask(corpus)
    assert [each for paper in PAPERS for each in corpus.answers.citing(paper.pmid)] == []


def test_each_sentence_of_an_answer_is_compared_by_what_it_cites(corpus):
    given = ask(Over(corpus, answer_tau=0.1)).answer
    assert given.answered
    assert given.sentences == tuple((at,) for at in range(len(given.cited)))
