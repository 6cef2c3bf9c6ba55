"""The measuring of a model that is added, made for the test."""

from contextlib import closing

from bio_mcp.doors.cli.program import run
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.adapters.embedders.tiny_model import published


def test_an_added_model_is_measured_in_a_corpus_apart_from_the_user_s(tmp_path, capsys):
    source = published(tmp_path / "tiny", prompts={"query": "query: "})
    settings = Settings(home=tmp_path / "home", models=tmp_path / "models", embedding_model="tiny")
    assert run(["admin", "models", "add", str(source)], configure=lambda: settings) == 0
    assert run(["admin", "models", "score", "tiny"], configure=lambda: settings) == 0
    shown = capsys.readouterr().out
    assert "nDCG@10" in shown
    with closing(Embedded(settings)) as backends:
        assert backends.documents.count() == 0
