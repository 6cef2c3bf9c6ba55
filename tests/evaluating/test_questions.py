"""Judged questions as JSON lines, which anybody may have written."""

import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.questions import LONGEST, MOST, JudgedQuestion, Rationale, questions_in


def line(**given):
    return json.dumps({"id": "q1", "question": "Why?", "pmids": ["34093513"], **given}).encode()


def test_a_line_is_a_question_with_its_papers():
    content = b"\xef\xbb\xbf" + line(pmids=["34093513", 12, "PMID: 12"]) + b"\n\n" + line(id=2, pmids=[]) + b"\r\n"
    assert questions_in(content) == (
        JudgedQuestion("q1", "Why?", ("34093513", "12")),
        JudgedQuestion("2", "Why?"),
    )


def test_evidence_is_read_where_it_is_given():
    [question] = questions_in(line(evidence=[{"pmid": "34093513", "quote": "Because."}]))
    assert question.rationale == (Rationale("34093513", "Because."),)


def test_retracted_papers_and_what_corrects_a_question_are_read_where_they_are_given():
    [question] = questions_in(line(pmids=[], retracted=["7"], corrected_by=[{"pmid": "8", "quote": "It is not so."}]))
    assert (question.retracted, question.corrections) == (("7",), (Rationale("8", "It is not so."),))
    assert (question.citable, question.passages) == ({"8"}, question.corrections)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "has none"),
        (b"\xff\xfe", "UTF-8"),
        (line() + b"\n{", "line 2 is not JSON"),
        (b"[" * 100_000, "line 1 is not JSON"),
        (b"7", "line 1 is no object"),
        (line() + b"\n" + line(), "line 2 has the id of an earlier line"),
        (line(id=""), "line 1 has no id"),
        (line(id=None), "line 1 has no id"),
        (line(question="?!"), "line 1 has no question"),
        (line(question="a" * (LONGEST + 1)), "line 1 has no question"),
        (line(pmids="34093513"), "line 1 has pmids that are no list"),
        (line(pmids=["../../etc/passwd"]), "line 1 names something that is no PMID"),
        (line(evidence=[{"pmid": "1"}]), "line 1 has evidence without a quote"),
        (line(evidence=["x"]), "line 1 has evidence without a quote"),
        (b"\n".join(line(id=str(n)) for n in range(MOST + 1)), "more than 10,000"),
    ],
)
def test_anything_else_is_refused_by_its_line(content, says):
    with pytest.raises(InvalidInput, match=says) as refused:
        questions_in(content)
    assert "etc" not in str(refused.value)
