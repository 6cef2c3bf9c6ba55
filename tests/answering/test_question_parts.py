"""Questions that one search does not answer."""

from dataclasses import replace

import pytest

from bio_mcp.answering.answers import LONGEST, MOST_PARTS, find_parts, in_turns, parts_of
from bio_mcp.answering.search import Question, search_papers
from bio_mcp.retrieval.passages import Filters
from tests.support.memory_corpus import Corpus, article

QUESTION = "Is colchicine or allopurinol better in gout?"
TEXTS = {
    "1": "Colchicine eases attacks of gout.",
    "2": "Allopurinol prevents attacks of gout.",
    "3": "Gout and diet.",
    **{str(each): f"Case {each} of a horse with a lame leg." for each in range(4, 40)},
}
BOTH = [
    ("colchicine", "Is colchicine better in gout?"),
    ("allopurinol", "Is allopurinol better in gout?"),
]


@pytest.fixture(scope="module")
def corpus():
    return Corpus(*(article(pmid, text, text, year=2000 + int(pmid) % 20) for pmid, text in TEXTS.items()))


def test_alternatives_are_parts():
    assert parts_of(QUESTION) == BOTH


@pytest.mark.parametrize(
    "question",
    [
        "P: adults with gout; I: colchicine; C: allopurinol; O: flares",
        "P: adults with gout, (I): colchicine, (C): allopurinol (O): flares",
        "Population: adults with gout. Intervention: colchicine. Comparator: allopurinol. Outcome: flares?",
        "Patients = adults with gout\nExposure = colchicine\nControl = allopurinol\nOutcomes = flares",
    ],
)
def test_intervention_and_comparison_of_a_pico_question_are_each_searched_in_its_population(question):
    assert parts_of(question) == [
        ("colchicine", "colchicine, adults with gout, flares"),
        ("allopurinol", "allopurinol, adults with gout, flares"),
    ]


def test_without_a_comparison_each_outcome_is_a_part():
    assert parts_of("P: adults with gout; I: colchicine; O: flares, diarrhoea and mortality") == [
        ("flares", "flares, colchicine, adults with gout"),
        ("diarrhoea", "diarrhoea, colchicine, adults with gout"),
        ("mortality", "mortality, colchicine, adults with gout"),
    ]
    assert parts_of("P: adults with gout; I: colchicine; O: flares") == []


def test_several_questions_are_parts_and_one_that_refers_back_takes_the_first_along():
    assert parts_of("Does aspirin prevent stroke? Does it cause bleeding? Who should not take ibuprofen?") == [
        ("Does aspirin prevent stroke", "Does aspirin prevent stroke?"),
        ("Does it cause bleeding", "Does aspirin prevent stroke? Does it cause bleeding?"),
        ("Who should not take ibuprofen", "Who should not take ibuprofen?"),
    ]


@pytest.mark.parametrize(
    "question",
    ["Does vitamin D lower mortality?", "aspirin", "I: ; C: ;", "I: --; C: !!; O: ..", "? ? !?", "I: a, O:", ""],
)
def test_a_question_that_one_search_answers_has_no_parts(question):
    assert parts_of(question) == []


def test_there_are_never_more_parts_than_searches_that_a_question_may_cost():
    assert len(parts_of("Which helps in gout, " + ", ".join(f"drug{n}" for n in range(9)) + " or rest?")) == MOST_PARTS
    assert parts_of(QUESTION.rjust(LONGEST + 1)) == []


def test_each_part_is_searched_with_the_filters_and_says_what_it_found(corpus):
    parts = find_parts(Question(QUESTION, Filters(year_to=2001)), corpus)
    assert [(each.subject, each.question) for each in parts] == BOTH
    assert [[pmid for pmid in TEXTS if each.found(pmid)] for each in parts] == [["1", "20", "21"]] * 2
    assert find_parts(Question("Does colchicine help in gout?"), corpus) == ()


def test_a_paper_says_which_parts_found_it(corpus):
    parts = find_parts(Question(QUESTION, quality_bias=False), corpus)
    assert [each.retrieved.ranked[0].candidate.pmid for each in parts] == ["1", "2"]
    assert [[each.found(pmid) for each in parts] for pmid in ("3", "999")] == [[True, True], [False, False]]


def test_papers_are_taken_in_turns_and_each_once(corpus):
    question = Question(QUESTION, quality_bias=False)
    whole, parts = search_papers(question, corpus), find_parts(question, corpus)
    taken = [each.candidate.pmid for each in in_turns(whole, parts, 3)]
    assert sorted(taken) == ["1", "2", "3"]
    assert taken[0] == whole.ranked[0].candidate.pmid
    everything = [each.candidate.pmid for each in in_turns(whole, parts, 1_000)]
    assert len(everything) == len(set(everything))


def test_a_part_that_nothing_answers_takes_no_place_from_what_was_found(corpus):
    question = Question(QUESTION, quality_bias=False)
    whole, parts = search_papers(question, corpus), find_parts(question, corpus)
    unlikely = [replace(each, retrieved=replace(each.retrieved, answerable=0.1)) for each in parts]
    assert in_turns(whole, unlikely, 10) == whole.ranked[:10] != in_turns(whole, parts, 10)
