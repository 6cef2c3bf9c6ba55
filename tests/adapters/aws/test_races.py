"""Several writers at once, and requests that are sent twice because their first answer was lost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Barrier

import numpy as np
import pytest

from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.literature.records import Article, ChangeKind, CorpusChange, Document
from bio_mcp.ports.state import Checkpoint, Found, Job
from tests.support.aws_ports import AwsPorts
from tests.syncing.stored import gone

THREADS = 8
DAYS = [f"2024-05-{day:02}" for day in range(1, 29)]


@pytest.fixture
def ports(nobody, server):
    return AwsPorts(endpoint=server)


@pytest.fixture
def resending(ports):
    """From then on each request of these operations is sent twice, and the first answer is lost."""
    client = Clients().make("dynamodb", endpoint=ports.endpoint)
    ports.dynamodb = client

    def resend(*operations):
        def lose(attempts, **_):
            return 0 if attempts == 1 else None

        for operation in operations:
            client.meta.events.register_first(f"needs-retry.dynamodb.{operation}", lose)

    return resend


def at_once(*calls):
    """What the calls returned, each made in a thread of its own."""
    gate = Barrier(len(calls))

    def run(call):
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def shuffled(values):
    return np.random.default_rng(3).permutation(list(values)).tolist()


def document(pmid, version=1, text="title"):
    return Document(Article(str(pmid), title=text), f"hash{version}", version)


def counted(documents, pmids):
    return len(documents.heads([str(pmid) for pmid in pmids]))


def test_writers_of_the_same_papers_count_each_once(ports):
    documents = ports.documents
    batches = [[document(n) for n in range(first, first + 40)] for first in (1, 11, 21, 31)]
    at_once(*[lambda batch=batch: documents.put(batch) for batch in batches])
    assert documents.count() == counted(documents, range(1, 100)) == 70


def test_deleting_and_writing_at_once_leave_a_count_that_is_right(ports):
    documents = ports.documents
    documents.put([document(n) for n in range(1, 41)])
    newer = [document(n, 100) for n in range(5, 61)]
    at_once(
        lambda: documents.delete(gone(*map(str, range(1, 31)))),
        lambda: documents.delete(gone(*map(str, range(11, 41)))),
        lambda: documents.put(newer),
    )
    assert documents.put(newer) == set()
    assert documents.count() == counted(documents, range(1, 100)) == 56
    assert not {"1", "2", "3", "4"} & set(documents.pmids())


def test_of_versions_that_are_written_at_once_the_highest_stands(ports):
    documents = ports.documents
    documents.put([document(1)])
    versions = shuffled(range(2, 2 + THREADS))
    at_once(*[lambda version=version: documents.put([document(1, version, f"v{version}")]) for version in versions])
    assert documents.get("1") == document(1, THREADS + 1, f"v{THREADS + 1}")


def test_marks_that_are_set_at_once_end_at_the_highest(ports):
    documents = ports.documents
    documents.put([document(1, 20)])
    at_once(*[lambda mark=mark: documents.mark_indexed({"1": mark}) for mark in range(1, THREADS + 1)])
    assert documents.heads(["1"])["1"].indexed_version == THREADS


def test_one_of_many_gets_the_lease(ports):
    leases = ports.leases
    won = at_once(*[lambda holder=holder: leases.acquire("sync:q", f"h{holder}", 60) for holder in range(THREADS)])
    assert THREADS - won.count(None) == 1
    assert not leases.acquire("sync:q", "another", 60)


def test_watermarks_that_are_moved_at_once_all_end_at_the_latest(ports):
    checkpoints = ports.checkpoints
    days = shuffled(DAYS)[:THREADS]
    at_once(
        *[
            lambda day=day, name=name: checkpoints.advance("q", "t", f"{day}T00:00:00Z", {name: day})
            for day, name in zip(days, ["edat", "mdat"] * (THREADS // 2), strict=True)
        ]
    )
    wanted = {"edat": max(days[::2]), "mdat": max(days[1::2])}
    assert checkpoints.get("q") == Checkpoint("q", f"{max(days)}T00:00:00Z", wanted, "t")


def test_what_stood_before_a_change_by_hand_is_reported_once_to_each(ports):
    """Each of those who set a watermark at once is told what another had set: no change is lost from the log."""
    checkpoints = ports.checkpoints
    before = at_once(*[lambda day=day: checkpoints.set("q", day, {}).last_edat for day in DAYS[:THREADS]])
    stands = checkpoints.get("q").last_edat
    assert sorted([each or "" for each in before] + [stands]) == ["", *DAYS[:THREADS]]


def test_the_newest_of_jobs_that_start_at_once_is_the_latest(ports):
    jobs, noon = ports.jobs, datetime(2024, 5, 1, 12, tzinfo=UTC)

    def job(n):
        moment = noon + timedelta(microseconds=n)
        return Job(f"job{n}", "sync", "running", moment, moment, {"query_key": "q"})

    at_once(*[lambda n=n: jobs.put(job(n)) for n in shuffled(range(THREADS))])
    numbers = [jobs.get(f"job{n}").number for n in range(THREADS)]
    assert len({*numbers}) == THREADS
    assert jobs.latest("sync", "q").number == max(numbers)


def test_changes_that_are_recorded_at_once_are_all_kept(ports):
    audit = ports.audit
    at_once(*[lambda n=n: audit.record("set", f"q{n}", None, n) for n in range(THREADS)])
    assert sorted(entry["after"] for entry in audit.entries()) == list(range(THREADS))


def test_papers_that_are_sent_twice_count_once(ports, resending):
    documents = ports.documents
    resending("TransactWriteItems", "UpdateItem")
    documents.put([document(n) for n in range(1, 6)])
    documents.put([document(n, 2) for n in range(1, 6)])
    documents.mark_indexed({"1": 2})
    assert documents.count() == 5
    assert (documents.get("1").version, documents.get("1").indexed_version) == (2, 2)
    documents.delete(gone("1", "2"))
    assert documents.count() == 3


def test_a_checkpoint_that_is_sent_twice_tells_what_truly_stood_before(ports, resending):
    checkpoints = ports.checkpoints
    checkpoints.set("q", "2024-05-01", {})
    resending("PutItem")
    assert checkpoints.set("q", "2020-01-01", {}).last_edat == "2024-05-01"
    assert checkpoints.advance("q", "t", "2021-01-01", {"edat": "2021-01-01"}).last_edat == "2021-01-01"


def test_a_lease_and_a_record_that_are_sent_twice_are_there_once(ports, resending):
    leases, audit = ports.leases, ports.audit
    resending("PutItem", "DeleteItem")
    assert leases.acquire("n", "me", 60)
    leases.release("n", "me")
    assert leases.acquire("n", "you", 60)
    audit.record("set", "q", None, 1)
    assert len(audit.entries()) == 1


def test_news_of_several_writers_are_all_given_each_once_and_behind_what_was_given(ports):
    ports.news.find("k", [Found(str(pmid), 1) for pmid in range(1, THREADS + 1)])
    [*_, last] = ports.news.since("k", "", 100)
    changes = [CorpusChange(ChangeKind.CHANGED, str(pmid), 2) for pmid in range(1, THREADS + 1)]
    at_once(*(partial(ports.news.record, [each]) for each in changes), *(partial(ports.news.record, changes[:3]),) * 2)
    behind = ports.news.since("k", last.position, 100)
    assert sorted(each.pmid for each in behind) == sorted(each.pmid for each in changes)


def test_news_that_are_sent_twice_are_told_once(ports, resending):
    resending("TransactWriteItems", "BatchWriteItem")
    ports.news.find("k", [Found("1", 1), Found("2", 1)])
    ports.news.record([CorpusChange(ChangeKind.CHANGED, "1", 2), CorpusChange(ChangeKind.RETRACTED, "1", 2)])
    assert [(each.kind, each.pmid) for each in ports.news.since("k", "", 100)] == [
        (ChangeKind.NEW, "1"),
        (ChangeKind.NEW, "2"),
        (ChangeKind.CHANGED, "1"),
        (ChangeKind.RETRACTED, "1"),
    ]
