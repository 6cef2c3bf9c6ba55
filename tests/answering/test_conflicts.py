"""Findings that contradict each other, by pairs of sentences written for these tests: kind, question, both."""

from pathlib import Path

from bio_mcp.answering.conflicts import Statement, conflicts

DATA = Path(__file__).parents[1] / "data/conflicts"
PAIRS = [line.split("\t") for line in (DATA / "pairs.tsv").read_text("utf-8").splitlines()]
CONFLICTING, AGREEING = ([pair for kind, *pair in PAIRS if kind == wanted] for wanted in ("conflict", "none"))


def found(question, one, other, pmids=("1", "2")):
    return conflicts(question, [Statement(pmid, text) for pmid, text in zip(pmids, (one, other), strict=True)])


def test_of_pairs_that_do_not_contradict_none_is_a_conflict():
    assert [pair for pair in AGREEING if found(*pair) or found(pair[0], pair[2], pair[1])] == []


def test_of_pairs_that_contradict_all_are_found_in_either_order():
    assert [pair for pair in CONFLICTING if not (found(*pair) and found(pair[0], pair[2], pair[1]))] == []


def test_a_conflict_names_the_two_the_outcome_and_how_they_differ():
    sentences = ["Ginger reduced nausea.", "Ginger is a root.", "Ginger did not reduce nausea."]
    [conflict] = conflicts(
        "Does ginger reduce nausea?", [Statement(str(at), each) for at, each in enumerate(sentences)]
    )
    assert (conflict.one, conflict.other, conflict.outcome) == (0, 2, "nausea")
    assert conflict.reason == "one says decrease, the other no decrease"


def test_intervals_that_exclude_each_other_are_named():
    one, other = (
        "Aspirin reduced stroke (HR 0.50, 95% CI 0.40-0.60).",
        "Aspirin reduced stroke (HR 0.9, 95% CI 0.8-0.97).",
    )
    [conflict] = found("Does aspirin prevent stroke?", one, other)
    said, intervals = conflict.reason.split(": ")
    assert said == "their confidence intervals exclude each other"
    assert intervals == "hazard ratio 0.5 (0.4 to 0.6) and hazard ratio 0.9 (0.8 to 0.97)"


def test_one_paper_does_not_contradict_itself():
    assert found("Does ginger reduce nausea?", "Ginger reduced nausea.", "Ginger did not reduce nausea.", "11") == []


def test_a_title_says_what_a_sentence_is_about():
    one = Statement("1", "Nausea was reduced.", "A trial of ginger")
    assert conflicts("Does ginger reduce nausea?", [one, Statement("2", "Nausea did not differ.", "Ginger in adults")])
    assert not conflicts(
        "Does ginger reduce nausea?", [one, Statement("2", "Nausea did not differ.", "Peppermint oil")]
    )
