"""Words of a question that tell the papers found apart."""

from bio_mcp.retrieval.question import distinctive_shares

PAPERS = {"1": {"vitamin", "covid"}, "2": {"covid", "liver"}, "3": {"covid", "aspirin"}}


def test_a_word_that_every_paper_has_says_little():
    shares = distinctive_shares({"vitamin", "covid"}, PAPERS)
    assert shares["1"] == 1
    assert 0 < shares["2"] == shares["3"] < 0.5


def test_a_word_that_no_paper_has_weighs_most():
    assert distinctive_shares({"vitamin", "covid", "zinc"}, PAPERS)["1"] < 0.7
    assert distinctive_shares({"covid", "zinc"}, PAPERS)["1"] < distinctive_shares({"covid", "liver"}, PAPERS)["2"]


def test_without_words_nothing_is_shared():
    assert distinctive_shares(set(), PAPERS) == {"1": 0, "2": 0, "3": 0}
    assert distinctive_shares({"covid"}, {}) == {}
