"""The baseline that `make eval` compares with is of the sets and the figures that there are."""

import pytest

from bio_mcp.evaluating.comparing import baselines_in
from bio_mcp.evaluating.figures import METRICS
from bio_mcp.evaluating.questions import answers, curated, smoke
from scripts.docs import ROOT

BASELINES = baselines_in((ROOT / "benchmarks/eval_baseline.json").read_text("utf-8"))


@pytest.mark.parametrize("asked", [smoke, answers, curated])
def test_it_has_every_figure_of_the_set_as_it_is(asked):
    baseline, questions = BASELINES[asked().name], asked().questions
    of_unanswerable = {"unanswerable_answered"} if all(each.pmids for each in questions) else set()
    assert baseline.version == asked().version
    assert set(baseline.figures) == {each.name for each in METRICS} - of_unanswerable
    assert {name: each.rising for name, each in baseline.figures.items()} == {
        each.name: each.rising for each in METRICS if each.name in baseline.figures
    }


@pytest.mark.parametrize("name", ["smoke", "answers", "curated"])
def test_what_must_always_hold_holds_in_it(name):
    figures = BASELINES[name].figures
    assert figures["quote_integrity"].low == 1
    assert figures["retracted_cited"].high == 0
    assert figures["still_answered"].value <= 0.15
    assert figures["cited_findings"].value >= 0.9
    assert figures["first_right"].value >= 0.9
    assert figures["ECE"].value <= 0.06
