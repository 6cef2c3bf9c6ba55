"""eval.run, called as every door calls it."""

import json

import pytest

from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.evaluate import eval_run
from tests.evaluating.asked import ARTICLES, WORDS
from tests.support.corpus import Corpus, Over

LINES = [{"id": str(n), "question": f"all about the {word}", "pmids": [str(n)]} for n, word in enumerate(WORDS, 1)]


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path / "home") as corpus:
        apply_records(ARTICLES, corpus)
        yield corpus


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)))
    return path


def ask(corpus, *, local=True, deadline=None, **arguments):
    return call(eval_run, arguments, corpus, local=local, deadline=deadline).body


def test_questions_of_a_file_are_asked_of_the_corpus(corpus, questions):
    body = ask(corpus, set="custom", metrics=["R@1", "MRR"], params={"uri": questions.as_uri()})
    found = [(each["name"], each["value"], each["questions"]) for each in body["metrics"]]
    assert (found, body["state"]) == ([("R@1", 1, 12), ("MRR", 1, 12)], "complete")


def test_the_report_of_a_local_caller_is_a_file_that_can_be_opened(corpus, questions):
    uri = ask(corpus, set="custom", params={"uri": str(questions)})["report_uri"]
    assert uri.startswith("file:///")
    assert b"Evaluation: custom" in corpus.blobs.get("evaluations/" + uri.rpartition("/")[2])


def test_nobody_else_learns_where_on_the_machine_it_is(corpus, questions):
    shared = Over(corpus, sources=Anywhere(questions))
    body = ask(shared, local=False, set="custom", params={"uri": "questions.jsonl"})
    assert body["report_uri"].startswith("evaluations/")
    assert corpus.blobs.get(body["report_uri"])
    assert str(questions.parent) not in json.dumps(body)


class Anywhere:
    """A source with one file, which everybody may read."""

    def __init__(self, path):
        self.path = path

    def locate(self, source, **_):
        return source

    def read(self, _address, **_):
        return self.path.read_bytes()


def test_a_client_over_http_may_not_name_files(corpus, questions):
    body = ask(corpus, local=False, set="custom", params={"uri": str(questions)})
    assert body["error"]["code"] == "INVALID_ARG"
    assert "BIO_MCP_INGEST_ROOTS" in body["error"]["message"]
    assert str(questions) not in json.dumps(body)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"set": "custom"}, "params.uri"),
        ({"set": "smoke", "params": {"uri": "x.jsonl"}}, "params.uri"),
        ({"set": "smoke", "metrics": ["bleu"]}, "R@k"),
        ({"set": "custom", "params": {"uri": "/dev/zero"}}, "may not be read"),
        ({"set": "custom", "params": {"uri": "https://evil.example/q.jsonl"}}, "BIO_MCP_INGEST_HOSTS"),
        ({"set": "smoke", "params": {"path": "x"}}, "path"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_with_what_to_do(corpus, arguments, says):
    body = ask(corpus, **arguments)
    assert body["error"]["code"] == "INVALID_ARG"
    assert says in body["error"]["message"]


def test_the_queue_goes_on_with_the_files_that_the_first_caller_might_read(corpus, questions):
    asked = {"set": "custom", "metrics": ["R@1"], "params": {"uri": str(questions)}}
    first = ask(corpus, deadline=Deadline(0), **asked)
    assert (first["state"], first["metrics"], first["report_uri"]) == ("continues", [], "")
    assert work_once(corpus.continuations, {"eval.run": eval_run}, corpus)
    body = ask(corpus, **asked)
    assert (body["state"], body["job_id"], body["metrics"][0]["value"]) == ("complete", first["job_id"], 1)


def test_the_smoke_set_comes_with_the_product(corpus):
    body = ask(corpus, set="smoke", metrics=["R@k"])
    figures = {each["name"]: each["value"] for each in body["metrics"]}
    assert figures["R@10"] > 0.7  # by a model that counts words
    assert corpus.documents.count() == len(ARTICLES)
