"""The figures that an evaluation is compared with."""

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.comparing import Baseline, Figure, baselines_in, written

BASELINE = Baseline("v1", "model", {"MRR": Figure(0.8, 0.7, 0.9), "ECE": Figure(0.05, 0.02, 0.1, rising=False)})


def regressions(whole=True, version="v1", model="model", **values):
    return BASELINE.regressions(version, model, values, whole=whole)


@pytest.mark.parametrize(
    ("given", "sentences"),
    [
        ({"MRR": 0.7, "ECE": 0.1}, []),
        ({"MRR": 1.0, "ECE": 0.0}, []),
        ({"MRR": 0.69, "ECE": 0.05}, ["MRR is 0.690; it was 0.800 (0.700 to 0.900)"]),
        ({"MRR": 0.8, "ECE": 0.11}, ["ECE is 0.110; it was 0.050 (0.020 to 0.100)"]),
        ({"MRR": 0.8}, ["ECE is missing; it was 0.050"]),
        ({"MRR": 0.8, "whole": False}, []),
    ],
)
def test_a_figure_beyond_its_interval_on_its_worse_side_or_missing_from_a_whole_evaluation_is_a_regression(
    given, sentences
):
    assert regressions(**given) == sentences


@pytest.mark.parametrize(("other", "what"), [({"version": "v2"}, "version of the set"), ({"model": "m2"}, "model")])
def test_what_cannot_be_compared_is_a_regression(other, what):
    [sentence] = regressions(MRR=0.8, ECE=0.05, **other)
    assert what in sentence


def test_a_baseline_is_written_and_read_again():
    assert baselines_in(written({"smoke": BASELINE})) == {"smoke": BASELINE}


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"smoke": 1}', '{"smoke": {"version": "1"}}', '{"smoke": {"figures": 1}}']
)
def test_another_file_is_refused(content):
    with pytest.raises(InvalidInput, match="BIO_MCP_EVAL_BASELINE"):
        baselines_in(content)
