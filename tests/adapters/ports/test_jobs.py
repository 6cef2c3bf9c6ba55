from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.errors import NotFound
from bio_mcp.ports.state import Job

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def job(job_id, state="running", created=NOON, kind="sync", query_key="q"):
    return Job(
        job_id, kind, state, created, created, {"query_key": query_key, "ü": [1, None]}, {"at": 3}, {"done": 0.5}
    )


def test_a_job_comes_back_equal_and_as_it_was_put_last(jobs):
    with pytest.raises(NotFound, match="'a'"):
        jobs.get("a")
    for each in (job("a"), job("a", "failed")):
        jobs.put(each)
        assert jobs.get("a") == each


YEARS = timedelta(days=2_000)


def test_the_latest_is_the_newest_of_its_kind_and_query_whatever_its_state(jobs):
    jobs.put(job("old", "running", NOON))
    jobs.put(job("new", "succeeded", NOON + timedelta(microseconds=1)))
    jobs.put(job("other-kind", created=NOON + timedelta(days=1), kind="import"))
    jobs.put(job("other-query", created=NOON + timedelta(days=1), query_key="r"))
    jobs.put(jobs.get("old"))
    assert jobs.latest("sync", "q").job_id == "new"
    assert jobs.latest("sync", "none") is None


def test_a_clock_that_was_ahead_by_years_makes_no_job_the_latest(jobs):
    jobs.put(job("ahead", created=NOON + YEARS))
    for minute, name in enumerate(("then", "now")):
        made = job(name, created=NOON + timedelta(minutes=minute))
        made.request["term"] = "t"
        jobs.put(made)
    jobs.put(job("behind", created=NOON - YEARS))
    jobs.put(jobs.get("ahead"))
    assert jobs.latest("sync", "q").job_id == "behind"
    assert jobs.latest("sync", "q", "t").job_id == "now"
    assert [each.job_id for each in jobs.newest("sync", 3)] == ["behind", "now", "then"]


def test_a_job_is_numbered_when_it_is_first_put(jobs):
    first, second = job("a"), job("b")
    jobs.put(first)
    jobs.put(second)
    jobs.put(job("a", "failed"))
    assert jobs.get("a").number == first.number < second.number == jobs.latest("sync", "q").number


def test_of_very_many_jobs_the_newest_are_known(jobs):
    for number in range(210):
        jobs.put(job(f"{number:03}", query_key=str(number)))
    assert [each.job_id for each in jobs.newest("sync", 150)] == [f"{number:03}" for number in range(209, 59, -1)]


def test_the_latest_of_a_term_is_not_hidden_by_a_newer_job_of_another_one(jobs):
    for name, term, minute in (("one", "t" * 5_000, 0), ("two", "u", 1), ("three", "u", 2)):
        made = job(name, created=NOON + timedelta(minutes=minute))
        made.request["term"] = term
        jobs.put(made)
    assert jobs.latest("sync", "q", "t" * 5_000).job_id == "one"
    assert jobs.latest("sync", "q", "u").job_id == jobs.latest("sync", "q").job_id == "three"
    assert jobs.latest("sync", "q", "v") is None


def test_a_job_that_was_cancelled_stays_so(jobs):
    jobs.put(job("a"))
    assert not jobs.is_cancelled("a")
    jobs.put(job("a", "cancelled"))
    jobs.put(job("a", "running"))
    assert jobs.is_cancelled("a")
    assert jobs.get("a").state == jobs.latest("sync", "q").state == "cancelled"
    assert not jobs.is_cancelled("none")


def test_a_job_that_was_removed_is_gone(jobs):
    jobs.put(job("a"))
    jobs.put(job("b", query_key="r"))
    jobs.remove(job("a"))
    jobs.remove(job("a"))
    assert jobs.latest("sync", "q") is None
    with pytest.raises(NotFound):
        jobs.get("a")
    assert jobs.latest("sync", "r").job_id == "b"
    assert [each.job_id for each in jobs.newest("sync", 9)] == ["b"]


def test_the_newest_of_a_kind_come_first_each_as_it_is_now(jobs):
    for name in ("1", "2", "3", "4"):
        jobs.put(job(name, query_key=f"q{name}"))
    jobs.put(job("3", "succeeded", query_key="q3"))
    jobs.put(job("other kind", kind="ingest"))
    assert [each.job_id for each in jobs.newest("sync", 9)] == ["4", "3", "2", "1"]
    assert [each.state for each in jobs.newest("sync", 2)] == ["running", "succeeded"]
    assert jobs.newest("none", 9) == []
