"""Sentences that are cited: which, from where, and by what score."""

from dataclasses import replace

import pytest

from bio_mcp.answering.extracts import (
    EMBEDDED,
    FINDING,
    LATE,
    MEANING,
    PAPER,
    WORDS,
    bm25_among,
    extracts,
    says_what_was_found,
    scaled,
    sentences_of,
)
from bio_mcp.answering.search import Question, search_papers
from bio_mcp.literature.records import AbstractSection, Document
from bio_mcp.retrieval.chunking import abstract_text
from tests.answering.ginger import GINGER, LABELLED, QUESTION, TRIAL, corpus_of
from tests.support.hooked import Hooked
from tests.support.memory_corpus import WordVectors, article


def found(corpus, question=QUESTION):
    retrieved = search_papers(Question(question, quality_bias=False), corpus)
    return extracts(retrieved, retrieved.ranked[:5], corpus.documents.by_pmid, corpus)


def quotes(document):
    return [(each.span.where, each.span.quote) for each in sentences_of(document)]


def test_a_quote_is_what_stands_at_its_place_in_the_stored_version():
    document = Document(LABELLED, "hash", version=3)
    text = abstract_text(LABELLED)
    for each in sentences_of(document):
        assert text[each.span.start : each.span.end] == each.span.quote
        assert (each.span.pmid, each.span.version, each.span.field) == ("12", 3, "abstract")


def test_a_quote_leaves_out_the_label_of_its_section():
    assert quotes(Document(LABELLED, "hash")) == [
        ("abstract:12-33", "Many women feel sick."),
        ("abstract:43-84", "Nausea in pregnancy was less with ginger."),
        ("abstract:85-102", "Headache was not."),
    ]


def test_a_sentence_that_repeats_its_label_is_found_behind_it():
    paper = replace(TRIAL, abstract=(AbstractSection("RESULTS", None, "RESULTS: RESULTS vary."),))
    assert [quote for _, quote in quotes(Document(paper, "hash"))] == ["RESULTS: RESULTS vary."]


def test_a_paper_without_an_abstract_is_cited_by_its_title_and_one_without_a_title_not_at_all():
    assert quotes(Document(article("9", "Ginger works.", ""), "hash")) == [("title:0-13", "Ginger works.")]
    assert quotes(Document(article("9", None, ""), "hash")) == []


def test_the_sentence_that_answers_comes_before_the_others_of_its_paper():
    first = next(each for each in found(corpus_of(*GINGER)) if each.span.pmid == "11")
    assert first.span.quote == "Ginger reduced nausea in pregnancy by 40%."
    assert first.coverage == 1


def test_every_paper_has_an_extract_whatever_the_others_say():
    wordy = article("14", "Ginger.", " ".join(f"Ginger reduced nausea in pregnancy {n} times." for n in range(30)))
    assert {"11", "12", "13", "14"} <= {each.span.pmid for each in found(corpus_of(*GINGER, wordy))}


def test_few_sentences_are_embedded_however_many_there_are():
    corpus, embedded = corpus_of(*(replace(TRIAL, pmid=str(n), abstract=TRIAL.abstract * 20) for n in range(9))), []
    corpus.embeddings = Hooked(WordVectors(), "embed", "embed_questions", before=embedded.extend)
    found(corpus)
    assert len(embedded) == 1 + EMBEDDED


def test_a_sentence_on_something_else_does_not_fit():
    for each in found(corpus_of(), "Does ginger reduce nausea?"):
        assert not each.fits
    assert all(each.fits for each in found(corpus_of(*GINGER)) if each.span.quote.endswith("pregnancy by 40%."))


def test_a_reference_to_the_paper_itself_is_no_sentence_of_it_but_a_finding_like_the_title_is():
    title = "Ginger reduces nausea in early pregnancy: a trial in several hospitals."
    reference = f"Rossi M, Bianchi A: {title[:-1]}, J Midwifery 2020."
    paper = Document(article("14", title, f"{title} Women were asked. {reference}"), "")
    assert [each.span.quote for each in sentences_of(paper)] == [title, "Women were asked."]


def test_papers_that_were_deleted_meanwhile_have_none():
    corpus = corpus_of(*GINGER)
    retrieved = search_papers(Question(QUESTION), corpus)
    assert extracts(retrieved, retrieved.ranked[:5], {}, corpus) == []


def test_scores_are_scaled_from_the_lowest_to_the_highest_and_add_up_with_their_weights():
    assert scaled([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert scaled([2.0, 2.0]) == [1.0, 1.0]
    assert scaled([]) == []
    corpus = corpus_of(article("14", "Ginger and nausea.", "Women were asked. Ginger reduced nausea in pregnancy."))
    best = next(each for each in found(corpus) if each.span.pmid == "14")
    assert best.score == pytest.approx(MEANING + WORDS + LATE + FINDING + PAPER)


def test_a_rare_word_counts_more_than_one_that_every_sentence_has():
    texts = ["Aspirin and fever.", "Aspirin and pain.", "Aspirin and sleep."]
    fever, pain, _ = bm25_among(texts, {"aspirin", "fever"})
    assert fever > pain > 0
    assert bm25_among(["Fever fell.", ""], {"aspirin"}) == [0.0, 0.0]
    assert bm25_among([], {"aspirin"}) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Ginger reduced nausea in pregnancy by 40%.",
        "We examined 120 women and found less nausea with ginger.",
        "No difference was measured between the groups, and there was no effect on weight.",
        "The odds ratio was 1.4 (95% CI 1.1-1.8).",
        "Adult tissue-resident macrophages are seeded before birth.",
        "This study shows that the drug is effective.",
    ],
)
def test_a_finding_or_a_statement_of_fact_passes(sentence):
    assert says_what_was_found(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Does ginger help?",
        "The aim of this study was to assess ginger.",
        "We investigated the role of p53 in neurons.",
        "The association was analyzed by binary logistic regression.",
        "This study fills this gap by examining craving.",
        "Whether ginger reduces nausea is unclear.",
        "Implications for practice are discussed.",
        "Little is known about lower doses.",
        "Patients were randomized to two groups.",
    ],
)
def test_a_question_an_aim_a_method_and_what_is_unknown_do_not(sentence):
    assert not says_what_was_found(sentence)
