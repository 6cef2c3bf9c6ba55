"""`bio-mcp import --workers` as a user runs it, killed and interrupted on the way, with the real model."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from bio_mcp.settings import Settings
from bio_mcp.syncing.importing import import_files
from bio_mcp.syncing.pubmed_files import listed
from bio_mcp.wiring.embedded import Embedded
from tests.support.nlm_files import history, real_records, write

COMMAND = [str(Path(sys.executable).with_name("bio-mcp")), "import", "--json", "--workers", "2"]
WAIT_S = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six files of two hundred real records: the later ones revise, delete and bring back those before them."""
    return write(history(real_records(200), 40, baseline=4, updates=2), tmp_path_factory.mktemp("nlm"), baseline=4)


def started(home, folder):
    environment = os.environ | {"BIO_MCP_HOME": str(home)}
    return subprocess.Popen(
        [*COMMAND, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a shell's background job ignores
    )


def workers_of(pid):
    """The process ids of the workers of a command."""
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "adapters.workers" in line]


def wait_until(met):
    end = time.monotonic() + WAIT_S
    while not (found := met()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def indexed(home):
    """How many papers are indexed so far."""
    if not (home / "corpus.sqlite3").exists():
        return 0
    with closing(Embedded(Settings(home=home))) as corpus:
        return corpus.passages.count()[0]


def state(home):
    """Each paper as it is stored and found, but for how often it was revised here."""
    with closing(Embedded(Settings(home=home))) as corpus:
        documents = corpus.documents.get_many(list(corpus.documents.pmids()))
        assert corpus.passages.count()[0] == len(documents)
        assert all(each.indexed_version == each.version for each in documents.values())
        chunks = corpus.passages.chunks(list(documents))
        return {pmid: (each.article, [asdict(chunk) for chunk in chunks[pmid]]) for pmid, each in documents.items()}


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_an_import_killed_and_interrupted_anywhere_loses_nothing_and_has_nothing_twice(tmp_path, folder):
    home, stops = tmp_path / "home", [(signal.SIGKILL, 0), (signal.SIGINT, 1), (signal.SIGKILL, 20)]
    for sign, more in stops:
        papers = indexed(home) + more  # a library that is just being loaded may lose an interrupt
        process = started(home, folder)
        pids = wait_until(lambda: workers_of(process.pid))  # noqa: B023  called before the next turn
        wait_until(lambda: indexed(home) >= papers)  # noqa: B023
        process.send_signal(sign)
        out, err = process.communicate(timeout=WAIT_S)
        assert (process.returncode, out) == ((130, b"") if sign == signal.SIGINT else (-sign, b""))
        assert b"Traceback" not in err
        wait_until(lambda: all(map(gone, pids)))  # noqa: B023
    last = started(home, folder)
    [worker, *_] = wait_until(lambda: workers_of(last.pid))
    os.kill(worker, signal.SIGKILL)
    body = json.loads(last.communicate(timeout=WAIT_S)[0])
    assert (body["complete"], body["died"]) == (True, 1)
    with closing(Embedded(Settings(home=tmp_path / "undisturbed"))) as corpus:
        import_files(listed([folder]), corpus)
    assert state(home) == state(tmp_path / "undisturbed")
    again = json.loads(started(home, folder).communicate(timeout=WAIT_S)[0])
    assert {each["finished_before"] for each in again["files"]} == {True}
