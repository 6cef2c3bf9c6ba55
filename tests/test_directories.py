from pathlib import Path

from bio_mcp.directories import models


def test_models_are_in_the_environment_of_a_clone_that_has_them(tmp_path):
    (tmp_path / "share/bio-mcp/models").mkdir(parents=True)
    assert models(str(tmp_path)) == tmp_path / "share/bio-mcp/models"


def test_elsewhere_they_are_the_users_and_outlive_an_environment(tmp_path):
    assert models(str(tmp_path)) == Path("~/.bio-mcp/models")
