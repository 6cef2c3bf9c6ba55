"""What is like the included papers and unlike the excluded ones comes first, with the words that say so."""

from types import SimpleNamespace

import numpy as np

from bio_mcp.ports.stores import ReviewRecord
from bio_mcp.screening.ranking import MOST, rank, vectors_of

HEART = "Statins in heart failure lower mortality of adults in a trial"
SKIN = "Retinoids in acne clear the skin of adolescents in a trial"


def records(*titles):
    return [ReviewRecord(str(number), title) for number, title in enumerate(titles, 1)]


ALL = records(
    HEART, SKIN, "Acne and skin of adolescents", "Statins in heart failure of adults", "Mortality in the skin"
)
IDS = [each.record_id for each in ALL]


def order(ranking):
    return [each.record.record_id for each in ranking.papers]


def test_undecided_papers_are_ranked_by_what_was_included_and_excluded():
    found = rank(ALL, {"1": True, "2": False}, {"3", "4", "5"}, most=10)
    assert (found.method, order(found)) == ("learned", ["4", "5", "3"])
    scores = [each.score for each in found.papers]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[2] < 0.5 < scores[0] < 1


def test_the_words_that_speak_for_a_paper_are_named_without_stop_words_or_repetition():
    found = rank(ALL, {"1": True, "2": False}, {"3", "4"}, most=10)
    words = " ".join(found.papers[0].why).split()
    assert {"heart", "failure", "statins", "adults"} <= set(words)
    assert not {"of", "in", "skin"} & {each for each in found.papers[0].why}
    assert len(found.papers[0].why) == len(set(found.papers[0].why))
    assert found.papers[1].why == ()


def test_only_so_many_are_returned_as_are_asked_for():
    assert order(rank(ALL, {"1": True, "2": False}, {"3", "4", "5"}, most=2)) == ["4", "5"]


def test_papers_for_the_end_come_last_whatever_their_score():
    found = rank(ALL, {"1": True, "2": False}, {"3", "4", "5"}, most=10, last=frozenset({"4"}))
    assert order(found) == ["5", "3", "4"]


def test_with_included_papers_alone_likeness_to_them_counts_and_unlikeness_to_excluded_ones():
    found = rank(ALL, {"1": True}, {"2", "3", "4", "5"}, most=10)
    assert (found.method, order(found)[0]) == ("similar", "4")
    assert order(rank(ALL, {"2": False}, {"1", "3", "4"}, most=10))[-1] == "3"


def test_criteria_count_as_an_included_paper():
    found = rank(ALL, {}, set(IDS), most=2, criteria="statins for heart failure of adults")
    assert (found.method, set(order(found))) == ("similar", {"1", "4"})
    found = rank(ALL, {"1": False}, {"2", "3", "4", "5"}, most=1, criteria="acne, skin of adolescents")
    assert (found.method, order(found)) == ("learned", ["3"])


def test_while_nothing_is_known_the_newest_come_first():
    more = [*ALL, ReviewRecord("doi:10.1/x", "No PMID"), ReviewRecord("40", "New")]
    found = rank(more, {}, {each.record_id for each in more}, most=3)
    assert (found.method, order(found)) == ("unordered", ["40", "5", "4"])
    assert found.papers[0].score is None


def test_papers_that_are_alike_are_in_the_order_of_their_age():
    same = records(HEART, SKIN, "Heart failure", "Heart failure", "Heart failure")
    assert order(rank(same, {"1": True, "2": False}, {"3", "4", "5"}, most=3)) == ["5", "4", "3"]


def test_vectors_tell_what_words_do_not():
    titles = records("alpha one", "beta two", "gamma three", "delta four")
    near, far = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    found = rank(
        titles, {"1": True, "2": False}, {"3", "4"}, most=2, vectors={"1": near, "2": far, "3": far, "4": near}
    )
    assert order(found) == ["4", "3"]
    without = rank(titles, {"1": True, "2": False}, {"3", "4"}, most=2, vectors={"1": near, "3": near})
    assert order(without) == ["3", "4"]


def test_vectors_are_read_of_papers_of_pubmed_unless_the_review_is_very_large():
    asked = []
    passages = SimpleNamespace(document_vectors=lambda pmids: asked.append(pmids) or {})
    some = [ReviewRecord(each, "Title") for each in ("1", "doi:10.1/x", "2")]
    many = records(*["Title"] * (MOST + 1))
    assert [vectors_of(each, SimpleNamespace(passages=passages)) for each in (some, many)] == [({}, []), ({}, [])]
    assert asked == [["1", "2"]]


def test_a_review_without_open_papers_has_an_empty_ranking():
    assert rank(ALL, dict.fromkeys(IDS, True), set(), most=5).papers == ()
    assert rank([], {}, set(), most=5).papers == ()
