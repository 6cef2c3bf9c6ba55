"""Fills and measures one search engine in a process of its own, for benchmarks/rivals.py.

Only numpy and the standard library, as in `_corpus_file`.
"""

import json
import os
import shutil
import signal
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from benchmarks._corpus_file import Asked, Judged

STORES = "rivals"
PLAIN, FILTERED = "plain.json", "filtered.json"
HEADS = (
    *("engine", "papers", "start, s", "hybrid, ms", "filtered, ms", "hybrid, CPU ms", "filtered, CPU ms"),
    *("recall, worst", "filtered recall, worst", "memory, GB, own + mapped", "disk, GB", "filled in, min"),
)


@dataclass(frozen=True, slots=True)
class Filled:
    """How many papers a store has, and the minutes and minutes of CPU that filling it took."""

    papers: int = 0
    minutes: float = 0.0
    cpu: float = 0.0

    def write(self, store: Path) -> None:
        (store / "filled.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def of(cls, store: Path) -> "Filled":
        path = store / "filled.json"
        return cls(**json.loads(path.read_text())) if path.exists() else cls()


class Engine(Protocol):
    """A search engine, open.

    `settings` are compared; `most` questions are asked; `server` is its process where it has one of its own.
    """

    settings: ClassVar[Sequence[str]]
    most: ClassVar[int]
    setting: str
    server: int | None

    def __init__(self, store: Path) -> None: ...

    @classmethod
    def fill(cls, store: Path, documents: int, minutes: float) -> None:
        """Put the papers of the corpus beside `store` into it, and say in `Filled` what was done."""

    @classmethod
    def disk(cls, store: Path) -> int:
        """Bytes of its files."""

    def hybrid(self, asked: Asked) -> object: ...

    def meaning(self, asked: Asked) -> list[int]:
        """PMIDs by their nearest windows, the nearest first."""

    def close(self) -> None: ...


def run(engines: Mapping[str, type[Engine]]) -> None:
    """Do what the command line says: `fill NAME WORK DOCUMENTS MINUTES`, or `measure NAME WORK`."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no server is left behind
    task, name, work, *more = sys.argv[1:]
    store = Path(work) / STORES / name
    if task == "fill":
        if not Filled.of(store).papers:
            shutil.rmtree(store, ignore_errors=True)
            store.mkdir(parents=True)
        engines[name].fill(store, int(more[0]), float(more[1]))
    else:
        measure(name, engines[name], store)


def filling(began: float, papers: int) -> Filled:
    """What a store has that this process alone filled since `began`."""
    return Filled(papers, (time.perf_counter() - began) / 60, time.process_time() / 60)


def measure(name: str, kind: type[Engine], store: Path) -> None:
    """Print a row for each setting of the engine, when it has answered each question before."""
    questions = [Judged.read(store.parent / each) for each in (PLAIN, FILTERED)]
    plain, filtered = (Judged(each.asked[: kind.most], each.best[: kind.most]) for each in questions)
    began = time.perf_counter()
    engine = kind(store)
    try:
        engine.hybrid(plain.asked[0])
        start = time.perf_counter() - began
        for engine.setting in kind.settings:
            print(_row(" ".join([name, engine.setting]).strip(), engine, store, start, plain, filtered), flush=True)
    finally:
        engine.close()


def _row(name: str, engine: Engine, store: Path, start: float, plain: Judged, filtered: Judged) -> str:
    process = engine.server
    for each in plain.asked + filtered.asked:
        engine.hybrid(each)
    times = [_timed(engine.hybrid, each.asked, process) for each in (plain, filtered)]
    recalls = [_recall(engine, each) for each in (plain, filtered)]
    filled = Filled.of(store)
    cells = [
        *(name, f"{filled.papers:,}", f"{start:.1f}", *(each[0] for each in times), *(each[1] for each in times)),
        *(*recalls, memory(process), f"{engine.disk(store) / 1e9:.1f}"),
        f"{filled.minutes:.0f}, of CPU {filled.cpu:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _timed(search: Callable[[Asked], object], asked: Sequence[Asked], server: int | None) -> tuple[str, str]:
    """Milliseconds of a search, p50 and p95, and of CPU on average."""
    wall, used = [], cpu_seconds(server)
    for each in asked:
        began = time.perf_counter()
        search(each)
        wall.append((time.perf_counter() - began) * 1e3)
    mean = (cpu_seconds(server) - used) / len(asked) * 1e3
    return f"{statistics.median(wall):.1f} / {statistics.quantiles(wall, n=20)[-1]:.1f}", f"{mean:.1f}"


def _recall(engine: Engine, judged: Judged) -> str:
    return recall(
        [engine.meaning(each)[: len(best)] for each, best in zip(judged.asked, judged.best, strict=True)], judged
    )


def recall(found: Sequence[Sequence[int]], judged: Judged) -> str:
    """Share of the best papers by cosine that are among as many that an engine returns."""
    shares = [len({*have} & {*best}) / len(best) for have, best in zip(found, judged.best, strict=True) if best]
    return f"{statistics.mean(shares):.4f}, {min(shares):.2f}"


def cpu_seconds(server: int | None) -> float:
    """What CPU time this process and its server have used."""
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split() if server else ["0"] * 13
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(server: int | None) -> str:
    """What an engine has in memory: its own, and the pages of files that it maps."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{server or 'self'}/status").read_text().splitlines())
    own, mapped = (int(lines[name].split()[0]) / 1e6 for name in ("RssAnon", "RssFile"))
    return f"{own:.1f} + {mapped:.1f}"


def bytes_in(store: Path) -> int:
    """Bytes of all files below."""
    return sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
