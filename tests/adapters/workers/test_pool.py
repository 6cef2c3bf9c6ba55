"""Real processes that embed: what they make, and what becomes of a batch whose process dies."""

import os
import subprocess

import pytest

from bio_mcp.adapters.workers import WorkerProcesses
from bio_mcp.errors import EmbeddingFailed, Misconfigured
from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import AbstractSection, Article, Document
from bio_mcp.retrieval.passages import Entry
from bio_mcp.syncing.indexing import entries_of
from tests.adapters.workers.models import Broken, Ending, exchanged, fragile, missing, starting
from tests.support.hashed_words import HashedWords

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def workers(make, count=1, **more):
    return WorkerProcesses(make, count, fingerprint=HashedWords.fingerprint, environment=ENVIRONMENT, **more)


def articles(*texts):
    return [
        Article(str(pmid), title="Title", abstract=(AbstractSection(None, None, text),))
        for pmid, text in enumerate(texts, 1)
    ]


def pmids(made):
    return [each.pmid if isinstance(each, Entry) else str(each) for each in made]


def vectors(entries):
    return [(each.pmid, {name: vector.tolist() for name, vector in each.vectors.items()}) for each in entries]


def test_processes_make_the_entries_that_this_process_would(tmp_path):
    batches = [articles("One. Two. Three. Four.", "Five."), articles("Six.")]
    known = {"2": {chunk.chunk_id: chunk.embedded_sha256 for chunk in _chunks(batches[0][1])}}
    with workers(HashedWords, 2) as pool:
        made = [future.result() for future in [pool.prepare(each, known) for each in batches]]
    expected = [entries_of([Document(each, "") for each in batch], known, HashedWords()) for batch in batches]
    assert list(map(vectors, made)) == list(map(vectors, expected))
    assert [len(each.vectors) for each in made[0]] == [2, 0]
    assert pool.died == 0


def _chunks(article):
    return entries_of([Document(article, "")], {}, HashedWords())[0].chunks


def test_a_process_that_cannot_be_started_is_a_failure_that_says_why():
    too_long = ENVIRONMENT | {"X": "x" * 200_000}
    with WorkerProcesses(HashedWords, 1, fingerprint=HashedWords.fingerprint, environment=too_long) as pool:
        future = pool.prepare(articles("Well."), {})
        with pytest.raises(EmbeddingFailed, match=r"could not be started \(Argument list too long\)"):
            future.result()


@pytest.mark.parametrize("make", [fragile, starting])
def test_a_batch_whose_process_dies_is_done_again_and_the_death_is_counted(tmp_path, make):
    with workers(make(tmp_path)) as pool:
        made = pool.prepare(articles("Well.", "deadly once"), {}).result()
        assert pmids(made) == ["1", "2"]
        assert pool.died == 1


def test_a_process_that_does_not_answer_is_killed_and_its_batch_is_done_by_another(tmp_path):
    with workers(fragile(tmp_path), batch_s=2) as pool:
        made = pool.prepare(articles("Well.", "endless once"), {}).result()
        assert pmids(made) == ["1", "2"]
        assert pool.died == 1


def test_a_paper_that_ends_each_process_or_fails_is_odd_and_the_others_are_made(tmp_path, caplog):
    with workers(fragile(tmp_path)) as pool:
        dead, refused, well = pool.prepare(articles("deadly always", "refused", "Well."), {}).result()
    assert isinstance(dead, OddRecord)
    assert str(dead) == "PMID 1 cannot be embedded: the process that embeds it ends each time."
    assert str(refused) == "PMID 2 cannot be embedded: The embedding model failed on this text."
    assert well.pmid == "3"
    assert "ZeroDivisionError: a bug" in caplog.text


@pytest.mark.parametrize(
    ("make", "failure", "message"),
    [
        (Broken, EmbeddingFailed, "The service is away"),
        (Ending, EmbeddingFailed, "The processes that embed end before they are done"),
        (missing, Misconfigured, "There is no model"),
        (exchanged, EmbeddingFailed, "was exchanged"),
    ],
)
def test_a_model_that_embeds_nothing_is_no_fault_of_the_papers(make, failure, message):
    with workers(make) as pool, pytest.raises(failure, match=message):
        pool.prepare(articles("One."), {}).result()


def test_no_process_is_left_after_the_block_whatever_it_does():
    with workers(HashedWords) as pool:
        futures = [pool.prepare(articles("One.") * 100, {}) for _ in range(50)]
        futures[0].result()
    assert any(future.cancelled() or future.exception() for future in futures)
    assert children() == []


def children():
    listed = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if "bio_mcp.adapters.workers" in line]
