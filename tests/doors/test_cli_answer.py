"""`bio-mcp answer`: what a reader sees of an answer, of one that is withheld, and of an earlier one."""

import pytest

from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.syncing.settling import settle
from tests.answering.ginger import GINGER, OTHERS, QUESTION


@pytest.fixture
def full(cli):
    with cli.corpus() as corpus:
        settle([*GINGER, *OTHERS], corpus)
    return cli


def words(ran):
    return " ".join((ran.shown + ran.err).split())


def test_an_answer_is_shown_with_each_paper_the_place_of_its_quote_and_how_sure_it_is(full):
    body = full("answer", *QUESTION.split(), "--json").json
    shown = words(full("answer", *QUESTION.split()))
    assert shown.startswith(" ".join(body["answer"].split()))
    for number, each in enumerate(body["citations"], 1):
        assert f"[{number}] {each['title']} {each['quote']} PMID {each['id'][5:]}, {each['span']}, relevant" in shown
    assert f"confidence {body['scores']['answer_conf']:.2f}, answers are given from 0.57" in shown
    assert f"answer {body['answer_id']}" in shown


def test_what_is_withheld_says_why_and_shows_what_was_found(full):
    shown = words(full("answer", QUESTION, "--top-k", "2"))
    assert "Withheld: --top-k is 2, and an answer rests on at least 3 papers." in shown
    assert "[1] " in shown


def test_an_earlier_answer_is_shown_as_it_was_given(full):
    body = full("answer", QUESTION, "--json").json
    shown = words(full("answer", "--show", body["answer_id"]))
    assert shown.startswith(f"{QUESTION} {' '.join(body['answer'].split())}")
    assert f"[1] {body['citations'][0]['quote']} PMID" in shown
    assert full("answer", "--show", body["answer_id"], "--json").json["retracted_since"] == []


def test_a_retraction_is_seen_in_the_answer_and_by_the_doctor(full):
    answer_id = full("answer", QUESTION, "--json").json["answer_id"]
    with full.corpus() as corpus:
        settle([retracted(GINGER[0])], corpus)
    assert "PMID 11, which it cites, was retracted since." in words(full("answer", "--show", answer_id))
    checks = {each["check"]: each for each in full("doctor", "--json").json["checks"]}
    assert checks["answers"]["state"] == "warn"
    assert f"{answer_id} (PMID 11)" in checks["answers"]["found"]
    assert "bio-mcp answer --show ID" in checks["answers"]["remedy"]


def retracted(paper):
    return Article(paper.pmid, title=paper.title, abstract=paper.abstract, retraction=RetractionStatus.RETRACTED)


def test_an_unknown_id_is_an_error(full):
    ran = full("answer", "--show", "none")
    assert (ran.code, "There is no answer 'none'" in words(ran)) == (1, True)


@pytest.mark.parametrize("given", [(), ("--show", "a", "why?")])
def test_a_question_or_an_id_is_needed_and_not_both(full, given):
    ran = full("answer", *given)
    assert (ran.code, "give a QUESTION, or --show" in words(ran)) == (2, True)
