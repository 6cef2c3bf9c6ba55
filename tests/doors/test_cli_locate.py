"""`bio-mcp locate`: where a quoted sentence is from."""

import pytest

from tests.sample_project import TEXTS, add_project


@pytest.fixture
def lab(cli):
    with cli.corpus() as corpus:
        add_project(corpus, "lab")
    return cli


def words(ran):
    return " ".join((ran.shown + ran.err).split())


def test_a_quote_is_found_with_what_cites_it(lab):
    ran = lab("locate", *TEXTS["Methods"].split(), "--project", "lab")
    assert ran.code == 0
    assert "It stands there as quoted." in words(ran)
    assert "granelli2007, Article > Methods, pages 1-2, PMID 17727691" in words(ran)


def test_each_word_that_differs_is_shown(lab):
    ran = lab("locate", TEXTS["Methods"].replace("healthy ", "").replace("foot", "hand"), "--project", "lab")
    assert "It does not stand there as quoted." in words(ran)
    assert "quoted: nothing there: healthy" in words(ran)
    assert "quoted: hand there: foot" in words(ran)


def test_what_is_not_there_is_an_answer(lab):
    ran = lab("locate", "zebras of the southern plains seldom drink", "--project", "lab", "--document", "xu2016")
    assert (ran.code, "has no document 'xu2016'" in ran.err) == (1, True)
    ran = lab("locate", "zebras of the southern plains seldom drink", "--project", "lab", "--json")
    assert (ran.code, ran.json["found"], ran.json["places"]) == (0, "not found", [])
    assert "No text looks like the quote" in words(lab("locate", "zebras of the southern plains", "--project", "lab"))


def test_without_a_project_the_corpus_is_looked_in(lab):
    assert "No text looks like" in words(lab("locate", TEXTS["Methods"]))
