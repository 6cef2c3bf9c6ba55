"""The sets that come with the product."""

from importlib.resources import files

from bio_mcp.evaluating.questions import answers, curated, smoke
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.chunking import abstract_text


def texts(asked):
    return {each.pmid: each for each in asked.articles()}


def test_the_questions_of_the_smoke_set_are_answered_by_sentences_of_the_sample_or_by_nothing_in_it():
    papers = texts(smoke())
    answerable = [each for each in smoke().questions if each.pmids]
    assert (len(answerable), len(smoke().questions)) == (46, 62)
    for question in answerable:
        assert {each.pmid for each in question.rationale} == set(question.pmids)
        assert all(each.quote in abstract_text(papers[each.pmid]) for each in question.rationale)
        assert all(papers[pmid].retraction is not RetractionStatus.RETRACTED for pmid in question.pmids)


def test_the_curated_set_asks_for_the_paper_that_each_question_was_drawn_from():
    papers = texts(curated())
    assert len(curated().questions) == 500
    for question in curated().questions:
        [rationale] = question.rationale
        assert question.pmids == (rationale.pmid,)
        assert rationale.quote in abstract_text(papers[rationale.pmid])
        assert papers[rationale.pmid].title is None  # it is the question


def test_a_tenth_of_the_first_papers_is_there_again_retracted_with_the_same_text():
    for asked, copies in ((smoke(), 5), (curated(), 50)):
        papers = texts(asked)
        chosen = [each for each in asked.questions if each.retracted]
        assert len(chosen) == copies
        for question in chosen:
            [copy], original = question.retracted, papers[question.pmids[0]]
            assert papers[copy].retraction is RetractionStatus.RETRACTED
            assert abstract_text(papers[copy]) == abstract_text(original)


def test_each_of_the_220_questions_is_answered_or_corrected_by_sentences_of_its_papers_or_by_nothing():
    papers = texts(answers())
    assert (len(answers().questions), len(papers)) == (220, 354)
    for question in answers().questions:
        assert {each.pmid for each in question.passages} == question.citable
        assert all(each.quote in abstract_text(papers[each.pmid]) for each in question.passages)
        assert all(papers[pmid].retraction is not RetractionStatus.RETRACTED for pmid in question.citable)
        assert all(papers[pmid].retraction is RetractionStatus.RETRACTED for pmid in question.retracted)


def test_the_licence_of_the_questions_goes_with_them():
    notice = (files("bio_mcp") / "evaluating/sets/NOTICE.md").read_text("utf-8")
    assert "Copyright (c) 2019 pubmedqa" in notice
    assert "pubmedqa.jsonl.xz" in notice
