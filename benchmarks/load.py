"""Two hundred clients at once, beside the SDK's bare server in the same run; and quick calls beside slow ones.

    python -m benchmarks.load [--clients 200] [--seconds 60] [--work DIR]

Corpus, clients and questions are those of benchmarks.serving; of four calls three read a paper and one searches. An
error is any answer that is not a result, by its code. Memory is what the server's processes have at the end, shared
pages counted once (PSS). Slow calls are evaluations, 25 seconds of work each, and live searches, which wait for an NCBI
that never answers; quick calls read a paper.
"""

import argparse
import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.serving import HEADERS, PROGRAM, ROOT, WORDS, corpus, environment, free_port, running

WARM_S = 5.0
SLOW = 60  # slow calls at once: more than a process has threads for them

Call = Callable[[random.Random], tuple[str, dict[str, Any]]]


@dataclass
class Answers:
    """When each call began and how long it took, and the codes of those that failed."""

    took: list[tuple[float, float]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


def ask(connection: http.client.HTTPConnection, name: str, arguments: dict[str, Any]) -> str | None:
    """One call; the code of its failure, None for a result."""
    params = {"name": name, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection.request("POST", "/mcp", body, HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        return f"HTTP {answer.status}"
    result = json.loads(text).get("result", {"isError": True})
    if not result.get("isError"):
        return None
    return str(result.get("structuredContent", {}).get("error", {}).get("code", "JSON-RPC"))


def client(port: int, call: Call, seed: int, until: float, answers: Answers) -> None:
    """Call until then, over one connection that is opened again when it breaks."""
    chance = random.Random(seed)  # noqa: S311
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.perf_counter() < until:
        began = time.perf_counter()
        try:
            if connection.sock is None:
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            code = ask(connection, *call(chance))
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            code = type(problem).__name__
        if code:
            answers.failed[code] += 1
        else:
            answers.took.append((began, time.perf_counter() - began))


def together(port: int, call: Call, clients: int, seconds: float) -> tuple[Answers, float]:
    """What so many clients got, and when the warm seconds were over, which count for errors alone."""
    answers, begin = Answers(), time.perf_counter() + WARM_S
    threads = [
        threading.Thread(target=client, args=(port, call, seed, begin + seconds, answers)) for seed in range(clients)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return answers, begin


def memory_mb(group: int) -> float:
    """The memory of the processes of a group: pages that they share count once."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                total += int(re.findall(r"^Pss:\s+(\d+)", (folder / "smaps_rollup").read_text(), re.MULTILINE)[0])
        except OSError:
            continue
    return total / 1024


def row(label: str, answers: Answers, begin: float, seconds: float) -> str:
    times = sorted(duration * 1000 for began, duration in answers.took if began >= begin)
    p50, p95, p99 = (times[int(len(times) * share)] for share in (0.5, 0.95, 0.99))
    errors = ", ".join(f"{count} {code}" for code, count in sorted(answers.failed.items())) or "none"
    return f"{label:42}{len(times) / seconds:9.1f}{p50:9.1f}{p95:9.1f}{p99:9.1f}  {errors:>10}"


def of_both(pmids: Sequence[str]) -> Call:
    """Three calls of four read a paper, one searches."""

    def call(chance: random.Random) -> tuple[str, dict[str, Any]]:
        if chance.random() < 0.75:
            return "rag_get", {"doc_id": f"pmid:{chance.choice(pmids)}"}
        return "rag_search", {"query": " ".join(chance.sample(WORDS, 5)), "top_k": 20}

    return call


def of_reading(pmids: Sequence[str]) -> Call:
    return lambda chance: ("rag_get", {"doc_id": f"pmid:{chance.choice(pmids)}"})


def of_pubmed(chance: random.Random) -> tuple[str, dict[str, Any]]:
    return "searchPubMedArticles", {"queryTerm": f"{chance.choice(WORDS)} {chance.random()}"}


def echoing(chance: random.Random) -> tuple[str, dict[str, Any]]:
    return "echo", {"text": " ".join(chance.sample(WORDS, 5))}


def many(home: Path, pmids: Sequence[str], clients: int, seconds: float) -> None:
    """Many clients at once: the bare server, and ours in one process and in two."""
    print(f"{clients} clients at once for {seconds:.0f} s; times in ms")
    print(f"{'':42}{'calls/s':>9}{'p50':>9}{'p95':>9}{'p99':>9}  {'errors':>10}{'memory, MB':>12}")
    bare = [sys.executable, "-m", "benchmarks._bare_server"]
    servers: list[tuple[str, list[str], Call]] = [("the SDK's bare server, echo", bare, echoing)]
    for workers in (1, 2):
        ours = [str(PROGRAM), "serve", "--workers", str(workers), "--port"]
        servers += [(f"bio-mcp serve, --workers {workers}, reads and searches", ours, of_both(pmids))]
    for label, command, call in servers:
        port = free_port()
        with running([*command, str(port)], home, port) as group:
            answers, begin = together(port, call, clients, seconds)
            print(f"{row(label, answers, begin, seconds)}{memory_mb(group):12.0f}", flush=True)


@contextmanager
def silence() -> Iterator[int]:
    """The port of a service that takes every request and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=1_000) as listening:
        yield int(listening.getsockname()[1])


def beside_slow_calls(home: Path, pmids: Sequence[str], seconds: float) -> None:
    """Eight clients that read, by themselves and beside slow calls, in one process."""
    slow: dict[str, tuple[int, Call]] = {
        "reads alone": (0, echoing),
        f"beside {SLOW} searches of a silent PubMed": (SLOW, of_pubmed),
        "beside an evaluation": (1, lambda _: ("eval_run", {"set": "smoke"})),
    }
    print(f"\n8 clients that read, for {seconds:.0f} s, one process; times in ms")
    print(f"{'':42}{'calls/s':>9}{'p50':>9}{'p95':>9}{'p99':>9}  {'errors':>10}")
    for label, (others, call) in slow.items():
        with silence() as deaf:
            port = free_port()
            ncbi = ["env", f"NCBI_BASE_URL=http://127.0.0.1:{deaf}/"]
            command = [*ncbi, str(PROGRAM), "serve", "--workers", "1", "--port", str(port)]
            with running(command, home, port):
                until = time.perf_counter() + WARM_S + seconds
                for seed in range(others):
                    threading.Thread(target=client, args=(port, call, seed, until, Answers()), daemon=True).start()
                print(row(label, *together(port, of_reading(pmids), 8, seconds), seconds), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/serving")
    asked = parser.parse_args()
    home = corpus(asked.work)
    listed = subprocess.run(
        [PROGRAM, "search", "trial", "--top-k", "20", "--json"], env=environment(home), capture_output=True, check=True
    )
    pmids = re.findall(r'"pmid:(\d+)"', listed.stdout.decode())
    many(home, pmids, asked.clients, asked.seconds)
    beside_slow_calls(home, pmids, min(asked.seconds, 20.0))


if __name__ == "__main__":
    main()
