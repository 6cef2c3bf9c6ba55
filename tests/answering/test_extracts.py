"""Sentences that are cited: which, from where, and in what order."""

from dataclasses import replace

import pytest

from bio_mcp.answering.extracts import EMBEDDED, OF_A_PAPER, SUPPORTS_FROM, citable, extracts
from bio_mcp.answering.search import Question, search_papers
from bio_mcp.literature.records import AbstractSection, Document
from bio_mcp.retrieval.chunking import abstract_text
from tests.answering.ginger import GINGER, LABELLED, QUESTION, TRIAL, corpus_of
from tests.support.hooked import Hooked
from tests.support.memory_corpus import WordVectors, article

SECTIONS = (
    AbstractSection("BACKGROUND", "BACKGROUND", "Ginger reduced nausea in pregnancy elsewhere."),
    AbstractSection("OBJECTIVE", "OBJECTIVE", "To see whether ginger reduces nausea in pregnancy."),
    AbstractSection("METHODS", "METHODS", "Ginger was given against nausea in pregnancy."),
    AbstractSection("RESULTS", "RESULTS", "Nausea in pregnancy fell with ginger."),
    AbstractSection("FUNDING", None, "Ginger growers paid for nausea in pregnancy."),
)


def found(corpus, question=QUESTION, papers=None):
    retrieved = search_papers(Question(question, quality_bias=False), corpus)
    likely = papers if papers is not None else {each.candidate.pmid: 0.5 for each in retrieved.ranked[:5]}
    return extracts(retrieved, likely, corpus.documents.by_pmid, corpus)


def quotes(paper):
    return [each.text for each in citable(Document(paper, "hash"))]


def test_a_quote_is_what_stands_at_its_place_in_the_stored_version_without_the_label_of_its_section():
    corpus = corpus_of()
    corpus.add(Document(LABELLED, "hash", version=3))
    cited = [each.span for each in found(corpus)]
    assert [(each.where, each.quote) for each in cited] == [
        ("abstract:43-84", "Nausea in pregnancy was less with ginger.")
    ]
    [span] = cited
    assert abstract_text(LABELLED)[span.start : span.end] == span.quote
    assert (span.pmid, span.version) == ("12", 3)


def test_aims_methods_background_and_funding_are_never_cited_where_something_was_found():
    assert quotes(replace(TRIAL, abstract=SECTIONS)) == ["Nausea in pregnancy fell with ginger."]


def test_what_a_paper_says_of_others_work_is_secondary_and_background_is_cited_where_nothing_was_found():
    said = replace(TRIAL, abstract=(SECTIONS[0], SECTIONS[2]))
    assert [(each.text, each.role) for each in citable(Document(said, ""))] == [
        ("Ginger reduced nausea in pregnancy elsewhere.", "secondary")
    ]


def test_a_paper_without_an_abstract_is_not_cited_by_its_title():
    assert quotes(article("9", "Ginger works.", "")) == []


def test_a_reference_to_the_paper_itself_is_no_sentence_of_it_and_neither_is_a_question():
    title = "Ginger reduces nausea in early pregnancy: a trial in several hospitals."
    text = f"Does ginger help? Ginger reduced nausea by 40%. Rossi M, Bianchi A: {title[:-1]}, J Midwifery 2020."
    assert quotes(replace(TRIAL, title=title, abstract=(AbstractSection("RESULTS", None, text),))) == [
        "Ginger reduced nausea by 40%."
    ]


@pytest.mark.parametrize(
    "open_",
    [
        "The mechanism of ginger against nausea remains unclear.",
        "Larger trials of ginger against nausea are needed.",
        "Ginger deserves further investigation.",
    ],
)
def test_what_is_left_open_is_no_finding_unless_it_has_a_figure(open_):
    text = f"Ginger reduced nausea by 40%. {open_}"
    assert quotes(replace(TRIAL, abstract=(AbstractSection("CONCLUSION", None, text),))) == [
        "Ginger reduced nausea by 40%."
    ]
    counted = "Ginger reduced nausea by 40%, and larger trials are needed."
    assert quotes(replace(TRIAL, abstract=(AbstractSection("CONCLUSION", None, counted),))) == [counted]


def test_the_most_direct_sentence_comes_first():
    first = found(corpus_of(*GINGER))[0]
    assert first.span.quote == "Ginger reduced nausea in pregnancy by 40%."
    assert first.coverage == 1
    assert first.score >= SUPPORTS_FROM


def test_a_paper_has_no_more_than_its_share_of_the_sentences_and_few_are_embedded():
    text = " ".join(f"Ginger reduced nausea in pregnancy {n} times." for n in range(30))
    corpus, embedded = corpus_of(replace(TRIAL, abstract=(AbstractSection("RESULTS", None, text),))), []
    corpus.embeddings = Hooked(WordVectors(), "embed", before=embedded.extend)
    assert len(found(corpus, papers={"11": 0.9})) == OF_A_PAPER
    assert len(embedded) == EMBEDDED


def test_a_sentence_that_does_not_support_an_answer_is_not_there():
    results = "Nausea in pregnancy fell with ginger. The corridor was painted green."
    paper = replace(TRIAL, abstract=(AbstractSection("RESULTS", None, results),))
    assert [each.span.quote for each in found(corpus_of(paper), papers={"11": 0.9})] == [
        "Nausea in pregnancy fell with ginger."
    ]


def test_no_papers_have_no_sentences():
    assert found(corpus_of(*GINGER), papers={}) == []
