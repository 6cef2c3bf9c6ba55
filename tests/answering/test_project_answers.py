"""Answers from projects: sentences of documents, word for word, or why there is none."""

import pytest

from bio_mcp.answering.project_answers import NOTHING, answer_from_projects
from tests.support.sample_corpus import corpus
from tests.support.sample_project import NEWBORNS, PROJECT, RETRACTED, TEXTS

QUESTION = "perfusion index in newborns with a critical heart obstruction"


@pytest.fixture(scope="module")
def answer():
    return answer_from_projects(QUESTION, [PROJECT], corpus())


def test_the_sentences_that_answer_stand_in_their_documents_as_quoted(answer):
    assert answer.statements[0].quote == TEXTS["Results"]
    assert {each.hit.chunk.work.doc_id for each in answer.statements} == {NEWBORNS.doc_id}
    assert all(each.quote in each.hit.chunk.text for each in answer.statements)
    assert answer.reason == ""


def test_no_sentence_of_a_retracted_paper_is_quoted_and_it_is_found_and_flagged():
    answer = answer_from_projects("does miR-429 promote the proliferation of lung cancer cells", [PROJECT], corpus())
    assert RETRACTED.doc_id in {each.chunk.work.doc_id for each in answer.hits}
    assert RETRACTED.doc_id not in {each.hit.chunk.work.doc_id for each in answer.statements}
    assert any("was retracted" in each for each in answer.warnings)


@pytest.mark.parametrize(
    "question", ["do statins lower mortality in diabetes", "perfusion index in adults with asthma"]
)
def test_what_the_documents_do_not_have_is_not_answered(question):
    answer = answer_from_projects(question, [PROJECT], corpus())
    assert (answer.statements, answer.reason) == ((), NOTHING)
