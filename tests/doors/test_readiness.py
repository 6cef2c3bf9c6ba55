"""`/health` says that the process answers, `/ready` that its store, its index and its model do, each broken in turn."""

import sqlite3
import threading
from contextlib import closing

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from bio_mcp.doors.mcp.http import application
from bio_mcp.doors.readiness import HOLDS_S, Ready, parts_of, search_by
from bio_mcp.doors.running import in_process
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.wiring.embedded import Embedded
from tests.support.memory_corpus import WordVectors, article


class Model(WordVectors):
    broken = False

    def embed(self, texts):
        if self.broken:
            raise EmbeddingFailed("the model is gone")
        return super().embed(texts)

    def embed_questions(self, texts):
        return self.embed(texts)


class Laptop(Embedded):
    """The embedded mode with a model that can be broken."""

    def __init__(self, home):
        super().__init__(Settings(home=home))
        self.model = Model()

    @property
    def embeddings(self):
        return self.model


@pytest.fixture
def laptop(tmp_path, closed):
    made = closed(Laptop(tmp_path))
    apply_records([article("1", "Heart failure.", "It was treated."), article("2", "Asthma.")], made)
    return made


def without(home, table):
    """Take a table out of the corpus file under the server, as damage does."""
    with closing(sqlite3.connect(home / "corpus.sqlite3")) as file:
        file.execute(f"DROP TABLE {table}")


@pytest.fixture
def ask(laptop):
    """Ask a page of a server that has just started."""

    def ask(path, backends=laptop):
        app = application(Settings(), in_process(backends), public=False, parts=parts_of(backends))
        answer = TestClient(app, base_url="http://127.0.0.1").get(path)
        return answer.status_code, answer.json()

    return ask


def test_a_whole_server_is_ready(ask):
    assert ask("/health") == (200, {"status": "ok"})
    assert ask("/ready") == (200, {"status": "ready"})


def test_an_empty_corpus_is_ready_to_be_filled(ask, tmp_path, closed):
    assert ask("/ready", closed(Laptop(tmp_path / "empty"))) == (200, {"status": "ready"})


def test_a_broken_model_is_named_while_the_process_is_healthy(ask, laptop):
    laptop.model.broken = True
    assert ask("/ready") == (503, {"status": "not ready", "broken": ["model", "search"]})
    assert ask("/health") == (200, {"status": "ok"})


def test_vectors_of_another_model_are_named_by_the_search_that_fails(ask, laptop):
    laptop.model.fingerprint = "another"
    assert ask("/ready") == (503, {"status": "not ready", "broken": ["search"]})


@pytest.mark.parametrize(("table", "broken"), [("articles", "store"), ("entries", "index")])
def test_damage_is_named_by_what_it_takes_away(ask, tmp_path, table, broken):
    without(tmp_path, table)
    status, body = ask("/ready")
    assert status == 503
    assert broken in body["broken"]
    assert "model" not in body["broken"]
    assert str(tmp_path) not in str(body)


def test_a_file_that_is_no_corpus_any_more_leaves_nothing_but_the_model(ask, laptop, tmp_path, closed):
    laptop.close()
    (tmp_path / "corpus.sqlite3").write_bytes(b"no database" * 1_000)
    broken = ["store", "index", "search"]
    assert ask("/ready", closed(Laptop(tmp_path))) == (503, {"status": "not ready", "broken": broken})


def test_where_functions_search_a_search_must_answer(laptop):
    search = search_by(in_process(laptop))["search"]
    search()
    laptop.model.broken = True
    with pytest.raises(Exception, match="search fails"):
        search()


def asked_of(ready):
    return TestClient(Starlette(routes=[Route("/ready", ready.answer)])).get("/ready")


@pytest.mark.parametrize("times", [(0.0, 1.0, HOLDS_S - 0.1, HOLDS_S), (1_000.0, 400.0, 401.0)])
def test_an_answer_holds_for_seconds_unless_the_clock_is_set_back(times):
    asked, now = [], [0.0]
    ready = Ready({"store": lambda: asked.append(1)}, clock=lambda: now[0])
    for now[0] in times:
        assert asked_of(ready).status_code == 200
    assert len(asked) == 2


def test_a_part_that_hangs_is_named_and_blocks_no_other():
    hanging, later = threading.Event(), iter(range(0, 100, 10))
    ready = Ready({"index": hanging.wait, "model": list}, clock=lambda: next(later), answers_s=0.1)
    for _ in range(2):
        assert asked_of(ready).json()["broken"] == ["index"]
    hanging.set()
