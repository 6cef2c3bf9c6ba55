"""Answers: when they are given, when withheld and why, how sure they are, and that they are stored."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bio_mcp.answering.answers import LEAST_CITED, RestsOn, answer, bare
from bio_mcp.answering.writing import GENERATED
from bio_mcp.errors import InvalidInput, StoreFailed
from bio_mcp.literature.records import AbstractSection, Document, PublicationType, RetractionStatus
from bio_mcp.retrieval.passages import Filters
from tests.answering.ginger import GINGER, LABELLED, META, QUESTION, TRIAL, corpus_of
from tests.answering.test_writing import Model
from tests.support.hooked import raising
from tests.support.memory_corpus import article


def ask(corpus, question=QUESTION, **more):
    return answer(question, corpus, **more)


def cited(given):
    return [each.span.pmid for each in given.cited]


def test_an_answer_is_the_most_direct_sentences_word_for_word_with_their_numbers():
    given = ask(corpus_of(*GINGER))
    assert given.text == " ".join(f"{each.span.quote} [{at}]" for at, each in enumerate(given.cited, 1))
    assert sorted(cited(given)) == ["11", "12", "13"]
    assert (given.reason, given.mode, given.rests_on) == (None, "extractive", RestsOn.PAPERS)
    assert 0 < given.confidence <= 1


SERIES = AbstractSection(
    "RESULTS",
    "RESULTS",
    "Ginger reduced nausea in pregnancy by 40%. Nausea in early pregnancy fell with ginger. Less nausea in pregnancy "
    "was seen with ginger. Nausea of pregnancy fell in ginger users.",
)
ONE = replace(TRIAL, abstract=(SERIES,), publication_types=(PublicationType("D016449", "Randomized Controlled Trial"),))


def test_three_sentences_of_one_paper_are_an_answer_that_says_so_with_the_design():
    given = ask(corpus_of(ONE))
    assert cited(given) == ["11"] * 3
    assert (given.reason, given.rests_on) == (None, RestsOn.ONE_PAPER)
    assert given.text.endswith("All of it is from one paper, a study of this design: randomized controlled trial.")


def test_below_three_sentences_it_is_withheld_and_shows_what_was_found_without_a_confidence():
    given = ask(corpus_of(TRIAL, LABELLED))
    assert (given.text, sorted(cited(given))) == ("", ["11", "12"])
    assert (given.confidence, given.rests_on) == (0.0, None)
    assert given.reason == (f"only 2 sentences on it could be cited, and an answer rests on at least {LEAST_CITED}")
    assert "only one sentence on it" in ask(corpus_of(TRIAL)).reason


def test_nothing_is_added_to_papers_that_answer():
    near = [article(str(pmid), f"{plant}.", f"{plant} and nausea in pregnancy.") for pmid, plant in NEAR.items()]
    given = ask(corpus_of(TRIAL, LABELLED, *near))
    assert sorted(cited(given)) == ["11", "12"]
    assert given.text == ""


MIGRAINE = [
    article(str(at), f"Migraine and {word}.", f"Attacks of migraine fell with {word}. Migraine was frequent.")
    for at, word in enumerate(("sleep", "magnesium", "riboflavin", "exercise"), 60)
]


def test_what_no_paper_has_is_named_and_the_answer_withheld():
    given = ask(corpus_of(*MIGRAINE), "Does acarbose help against migraine?")
    assert (given.text, given.cited, given.missing) == ("", (), ("acarbose",))
    assert given.reason == "nothing on acarbose with migraine was found"


def test_what_only_different_papers_have_was_found_in_none():
    acarbose = article("80", "Acarbose in diabetes.", "Acarbose lowered glucose. Acarbose lowered weight. It was safe.")
    given = ask(corpus_of(*MIGRAINE, acarbose), "Does acarbose help against migraine?")
    assert given.text == ""
    assert len(given.missing) == 1
    assert given.missing[0] in ("acarbose", "migraine")


def test_of_a_list_each_paper_has_a_part_and_all_of_them_the_whole():
    question = "What lowers nausea in migraine or asthma?"
    asthma = [
        article(str(at), f"Nausea, asthma and {word}.", f"Nausea in asthma fell with {word}.")
        for at, word in enumerate(("sleep", "magnesium", "exercise"), 70)
    ]
    assert ask(corpus_of(*asthma), question).missing == ("migraine",)
    migraine = [replace(each, pmid=f"9{each.pmid}", title=each.title.replace("asthma", "migraine")) for each in asthma]
    given = ask(corpus_of(*asthma[:2], *migraine[2:]), question)
    assert given.missing == ()


@pytest.mark.parametrize(
    "asked",
    ["does ginger reduce nausea in pregnancy", "DOES GINGER REDUCE NAUSEA IN PREGNANCY??", f"Please, {QUESTION}"],
)
def test_a_question_mark_capitals_and_politeness_change_nothing(asked):
    corpus = corpus_of(*GINGER)
    given, plain = ask(corpus, asked), ask(corpus)
    assert (given.text, given.cited, given.confidence) == (plain.text, plain.cited, plain.confidence)


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("Please tell me: is IT good?", ": is IT good"),
        ("Thank you!", "Thank you!"),
        ("WHO guideline on ALL", "WHO guideline on ALL"),
    ],
)
def test_names_that_are_small_words_in_capitals_stay_and_something_is_always_left(asked, left):
    assert bare(asked) == left.lower() if left == "x" else bare(asked) in (left, left.lower())


def test_a_question_on_something_else_is_withheld():
    given = ask(corpus_of(*GINGER), "What is lattice quantum chromodynamics?")
    assert (given.text, given.cited, given.confidence) == ("", (), 0.0)
    assert given.reason == "no paper that was found answers the question"


def test_below_tau_it_is_withheld_and_says_so_without_numbers():
    sure = ask(corpus_of(*GINGER)).confidence
    assert ask(corpus_of(*GINGER, tau=sure)).text
    given = ask(corpus_of(*GINGER, tau=1.0))
    assert (given.text, given.confidence, len(given.cited)) == ("", 0.0, 3)
    assert given.reason == "the papers found may well be about something else"


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


def test_what_a_language_model_makes_of_fewer_sentences_than_an_answer_needs_is_not_used():
    corpus = corpus_of(*GINGER)
    corpus.language_model = Model("Ginger reduced nausea in pregnancy by 40% [1].")
    given = ask(corpus)
    assert given.mode == "extractive"
    assert given.text.count("[") == 3
    assert "fewer than 3 sentences" in given.warnings[0]


def test_a_language_model_is_not_asked_for_an_answer_that_is_withheld():
    corpus = corpus_of(*GINGER, tau=1.0)
    corpus.language_model = Model("Ginger helps [1].")
    assert ask(corpus).text == ""
    assert corpus.language_model.given == []


AGAINST = article("31", "Ginger in pregnancy again.", "Ginger did not reduce nausea in pregnancy.")


def test_sentences_that_contradict_each_other_stand_side_by_side_and_are_named():
    given = ask(corpus_of(*GINGER, AGAINST))
    one, other = given.conflicts[0].one, given.conflicts[0].other
    assert other == one + 1
    assert "31" in {given.cited[one].span.pmid, given.cited[other].span.pmid}
    assert f"[{one + 1}] and [{other + 1}] contradict each other on" in given.text
    assert all(each.span.quote in given.text for each in given.cited)


def test_a_thai_question_is_looked_up_in_english_and_quotes_its_papers_in_english():
    given = ask(corpus_of(*GINGER), "ขิงช่วยลดอาการคลื่นไส้ในหญิงตั้งครรภ์หรือไม่")
    assert given.text.startswith("Ginger reduced nausea in pregnancy by 40%. [1]")
    assert given.warnings[0].startswith("Looked up in English as: ginger")
    assert "The papers are quoted in English." in given.warnings


def test_thai_words_that_the_dictionary_does_not_have_are_named():
    given = ask(corpus_of(*GINGER), "ขิงกับฟุ้งกระจายลด nausea ได้ไหม")
    assert any("ฟุ้งกระจาย" in each and "The Thai dictionary does not have" in each for each in given.warnings)


def test_a_thai_question_that_the_dictionary_has_no_word_of_is_refused():
    with pytest.raises(InvalidInput, match="the Thai dictionary has none of its words"):
        ask(corpus_of(*GINGER), "ฟุ้งกระจาย")


NEAR = {41: "Wheat with barley and rye from several mills", 42: "Cotton with hemp and flax from several fields"}
