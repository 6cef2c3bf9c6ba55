"""One NCBI budget for the processes of a data directory, beyond what `tests/adapters/test_rate_limit.py` asks."""

import logging
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from bio_mcp.adapters.embedded.rate_limit import YIELD_S, SqliteRateLimiter
from bio_mcp.adapters.embedded.side_files import BUSY_S
from bio_mcp.adapters.rate_limit import LATE_S, LocalRateLimiter
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded
from tests.adapters.aws.pacing import most_in_a_second
from tests.adapters.clocks import Clock

GAP = 1.0


@pytest.fixture
def clock():
    return Clock(100.0)


@pytest.fixture
def pacer_of(tmp_path, clock, closed):
    """Pacers of as many processes as one likes, over one file and clock."""

    def make(at=clock, **more):
        local = LocalRateLimiter(GAP, clock, clock.sleep)
        return closed(SqliteRateLimiter(tmp_path, "keyless", GAP, local, at, at.sleep, **more))

    return make


def test_a_process_that_was_stopped_in_the_middle_takes_another_turn(pacer_of):
    class Stopped(Clock):
        """Half a second passes before the second question, which comes after the turn was taken."""

        asked = 0

        def __call__(self):
            self.asked += 1
            self.now += 0.5 if self.asked == 2 else 0
            return self.now

    stopped = Stopped(100.0)
    pacer_of(at=stopped).wait(NEVER)
    assert stopped.now == 101.0


def test_what_an_earlier_boot_left_holds_nobody(pacer_of, tmp_path, clock):
    pacer_of().wait(NEVER)
    with closing(sqlite3.connect(tmp_path / SqliteRateLimiter.file)) as file, file:
        file.execute("UPDATE turns SET free_at = 1e9, cool_until = 1e9")
    pacer_of().wait(NEVER)
    assert clock.pauses == []


def test_processes_let_the_share_go_first_whose_last_turn_was_the_longest_ago(pacer_of, clock):
    """Two processes are full of requests for one caller; a third one asks now and then for another."""
    busy = [pacer_of(), pacer_of()]
    turns = []

    def taken(pacer, share):
        """Whether the process had the turn for the share, if it is free."""
        try:
            pacer.wait(Deadline(0.005, clock), share)
        except DeadlineExceeded:
            return False
        turns.append(share)
        return True

    live = pacer_of()
    assert taken(busy[0], "ada")
    for _ in range(4):
        assert not taken(live, "bob")  # it asks, and notes that it waits
        clock.now += GAP
        assert not any(taken(pacer, "ada") for pacer in busy)
        assert taken(live, "bob")
        clock.now += GAP
        assert taken(busy[1], "ada")
    assert turns == ["ada", *["bob", "ada"] * 4]


def test_a_share_whose_process_was_killed_while_it_waited_is_waited_for_no_longer_than_a_moment(pacer_of, clock):
    one, other = pacer_of(), pacer_of()
    one.wait(NEVER, "ada")
    with pytest.raises(DeadlineExceeded):
        other.wait(Deadline(0.5, clock), "bob")  # as one that died: nobody looks again for bob
    one.wait(NEVER, "ada")
    assert 101 + LATE_S <= clock.now <= 101 + LATE_S + 2 * YIELD_S
    one.wait(NEVER, "ada")
    assert clock.now == pytest.approx(102 + LATE_S, abs=3 * YIELD_S)


@pytest.mark.parametrize("damage", ["not a database", "a directory", "locked"])
def test_without_the_file_a_process_keeps_its_own_pace_and_logs_it_once(pacer_of, tmp_path, clock, caplog, damage):
    path = tmp_path / SqliteRateLimiter.file
    if damage == "a directory":
        path.mkdir()
    elif damage == "locked":
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
    pacer = pacer_of(busy_s=BUSY_S / 100)
    for _ in range(3):
        if damage == "not a database":
            pacer.close()
            path.write_bytes(b"no database" * 100)
        with caplog.at_level(logging.WARNING, "bio_mcp.pace"):
            pacer.wait(NEVER)
    assert clock.now == 102
    assert len(caplog.records) == 1
    if damage == "locked":
        holder.close()


def started(tmp_path, base_url, starts, processes=4):
    command = [sys.executable, "-m", "tests.adapters.embedded.pacing", str(tmp_path), base_url, str(starts)]
    made = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for each in made:
        assert each.stdout.readline() == "ready\n"
    for each in made:
        each.stdin.write("go\n")
        each.stdin.flush()
    return made


def finish(processes):
    for each in processes:
        each.communicate(timeout=60)
    return [each.returncode for each in processes]


def times_of(ncbi):
    return [request["time"] for request in ncbi.control.requests()]


def test_four_processes_without_a_key_never_start_more_than_three_requests_in_a_second(tmp_path, ncbi):
    assert finish(started(tmp_path, ncbi.base_url, starts=2)) == [0] * 4
    assert len(ncbi.control.requests()) == 8
    assert most_in_a_second(times_of(ncbi)) <= 3


def test_a_process_that_is_killed_holds_up_no_other(tmp_path, ncbi):
    one, *others = started(tmp_path, ncbi.base_url, starts=2, processes=3)
    one.send_signal(signal.SIGKILL)
    assert finish([one, *others]) == [-signal.SIGKILL, 0, 0]
    assert most_in_a_second(times_of(ncbi)) <= 3
