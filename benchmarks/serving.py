"""How fast `bio-mcp serve` answers over HTTP, beside the official SDK's bare server in the same run.

    python -m benchmarks.serving [--seconds 8] [--work DIR]

The corpus is the sample that comes with the product (350 papers). Each client is a thread with one kept connection
that calls again as soon as it is answered; all of them are one process, which shares the machine's cores with the
server. A question is five words of a vocabulary, twenty hits are asked for. CPU is that of all processes of the server
per call. DIR keeps the corpus for the next run.
"""

import argparse
import http.client
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("bio-mcp")
SAMPLE = files("bio_mcp") / "samples/pubmed.xml.gz"
WORDS = [
    "cancer",
    "trial",
    "vitamin",
    "covid",
    "infection",
    "children",
    "randomized",
    "therapy",
    "outcomes",
    "risk",
    "mortality",
    "diabetes",
    "heart",
    "surgery",
    "vaccine",
    "immune",
    "gene",
    "expression",
    "brain",
    "stroke",
    "migraine",
    "asthma",
    "lung",
    "liver",
    "kidney",
    "blood",
    "pressure",
]
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}
WARM_S = 2.0
LOADING_S = 4.0

Arguments = Callable[[random.Random], dict[str, Any]]


def corpus(work: Path) -> Path:
    """A data directory with the sample in it."""
    home = work / "home"
    if not (home / "corpus.sqlite3").exists():
        subprocess.run([PROGRAM, "import", str(SAMPLE)], env=environment(home), check=True, stdout=subprocess.DEVNULL)
    return home


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "BIO_MCP_HOME": str(home), "PYTHONUNBUFFERED": "1", "MCP_LOG_LEVEL": "warning"}


@contextmanager
def running(command: Sequence[str | Path], home: Path, port: int) -> Iterator[int]:
    """A server in a process group of its own, from when it answers; the number of the group."""
    with subprocess.Popen(
        command, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as started:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield started.pid
        finally:
            started.send_signal(signal.SIGTERM)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


def cpu_s(group: int) -> float:
    """The CPU time that the processes of a group have used."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def client(
    port: int, tool: str, arguments: Arguments, seed: int, until: float, took: list[tuple[float, float]]
) -> None:
    """Call until then; when each call began, and how long it took."""
    chance, connection = random.Random(seed), http.client.HTTPConnection("127.0.0.1", port)  # noqa: S311
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while time.perf_counter() < until:
        params = {"name": tool, "arguments": arguments(chance)}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        began = time.perf_counter()
        connection.request("POST", "/mcp", body, HEADERS)
        answer = connection.getresponse().read()
        took.append((began, time.perf_counter() - began))
        assert b'"isError":false' in answer, answer[:300]


def measured(group: int, port: int, tool: str, arguments: Arguments, clients: int, seconds: float) -> str:
    """One row: calls a second, the percentiles of their times, CPU per call; the first seconds do not count."""
    took: list[tuple[float, float]] = []
    begin = time.perf_counter() + WARM_S
    threads = [
        threading.Thread(target=client, args=(port, tool, arguments, seed, begin + seconds, took))
        for seed in range(clients)
    ]
    for each in threads:
        each.start()
    time.sleep(WARM_S)
    before = cpu_s(group)
    for each in threads:
        each.join()
    used = cpu_s(group) - before
    times = sorted(duration * 1000 for began, duration in took if began >= begin)
    p50, p95, p99 = (times[int(len(times) * share)] for share in (0.5, 0.95, 0.99))
    return (
        f"{clients:8d}{len(times) / seconds:10.1f}{p50:9.1f}{p95:9.1f}{p99:9.1f}{statistics.mean(times):9.1f}"
        f"{used * 1000 / len(times):12.1f}"
    )


def searching(chance: random.Random) -> dict[str, Any]:
    return {"query": " ".join(chance.sample(WORDS, 5)), "top_k": 20}


def reading(pmids: Sequence[str]) -> Arguments:
    return lambda chance: {"doc_id": f"pmid:{chance.choice(pmids)}"}


def echoing(chance: random.Random) -> dict[str, Any]:
    return {"text": " ".join(chance.sample(WORDS, 5))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/serving")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    asked = parser.parse_args()
    home = corpus(asked.work)
    found = subprocess.run(
        [PROGRAM, "search", "trial", "--top-k", "20", "--json"],
        env=environment(home),
        stdout=subprocess.PIPE,
        check=True,
    )
    pmids = re.findall(r'"pmid:(\d+)"', found.stdout.decode())
    print(f"{os.cpu_count()} cores, which clients and server share; {asked.seconds:.0f} s each; times in ms")
    print(f"{'':34}{'clients':>8}{'calls/s':>10}{'p50':>9}{'p95':>9}{'p99':>9}{'mean':>9}{'CPU/call':>12}")

    def rows(label: str, command: Sequence[str | Path], port: int, tool: str, arguments: Arguments) -> None:
        with running(command, home, port) as group:
            measured(group, port, tool, arguments, 8, LOADING_S)  # until every process has its model and index
            for clients in (1, 8):
                row = measured(group, port, tool, arguments, clients, asked.seconds)
                print(f"{label:34}{row}", flush=True)

    port = free_port()
    rows(
        "the SDK's bare server, echo",
        [sys.executable, "-m", "benchmarks._bare_server", str(port)],
        port,
        "echo",
        echoing,
    )
    for workers in asked.workers:
        processes = f"{workers} process{'es' if workers > 1 else ''}"
        for tool, arguments in (("rag_get", reading(pmids)), ("rag_search", searching)):
            port = free_port()
            command = [PROGRAM, "serve", "--port", str(port), "--workers", str(workers)]
            rows(f"bio-mcp serve, {processes}, {tool}", command, port, tool, arguments)


if __name__ == "__main__":
    main()
