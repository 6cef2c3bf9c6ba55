"""What an import by workers costs beside its embedding: `python -m benchmarks.importing [RECORDS]`.

The same records are embedded by a bare loop and imported, in turn, by as many processes, so that whatever else runs on
the machine slows both. Then all records of development, or the first RECORDS of them, are imported as a user does it.
"""

import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.retrieval.chunking import chunks_of
from bio_mcp.settings import Settings
from bio_mcp.syncing.importing import import_files
from bio_mcp.syncing.indexing import slices
from bio_mcp.syncing.pubmed_files import listed
from bio_mcp.wiring.embedded import Embedded

FILES = Path(__file__).parents[2] / "shared/data/pubmed"
WORKERS = 2
SAMPLE, ROUNDS = 160, 4
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the process that writes and of those that embed, and the seconds that passed."""

    writing: float
    embedding: float
    seconds: float

    @property
    def cpu(self) -> float:
        return self.writing + self.embedding


def unpacked(into: Path) -> Path:
    """A folder with all records of development, as PubMed XML."""
    for path in sorted(FILES.glob("*.dev.xml.xz")):
        (into / path.name).symlink_to(path)
    for path in sorted(FILES.glob("*.dev.tar.xz")):
        with tarfile.open(path) as archive:
            archive.extractall(into / path.name.partition(".")[0], filter="data")
    return into


def raw_records(path: Path) -> Iterator[str]:
    """Yield each article of the daily file as XML."""
    import lzma

    with lzma.open(path, "rt", encoding="utf-8") as file:
        _, *records = file.read().split("<PubmedArticle>")
    yield from (f"<PubmedArticle>{each.partition('</PubmedArticle>')[0]}</PubmedArticle>" for each in records)


def write(path: Path, records: Sequence[str]) -> Path:
    path.write_text(f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>", encoding="utf-8")
    return path


def children() -> dict[int, list[str]]:
    """Process id -> the fields of /proc/PID/stat from its state on, of each child of this process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found[int(path.parent.name)] = fields
    return found


def children_cpu() -> float:
    return sum(int(fields[11]) + int(fields[12]) for fields in children().values()) / TICKS


def imported(path: Path, backends: Backends, workers: object) -> Cost:
    """The cost of importing one file by workers that have their model."""
    own, others, began = time.process_time(), children_cpu(), time.monotonic()
    [report] = import_files(listed([path]), backends, workers=workers)  # type: ignore[arg-type]
    assert report.problem is None
    return Cost(time.process_time() - own, children_cpu() - others, time.monotonic() - began)


def embedded(path: Path, backends: Backends, folder: Path) -> Cost:
    """The cost of embedding the passages of a file's records by as many processes, and of nothing else."""
    articles = [record for record in open_records(path) if isinstance(record, Article)]
    model = backends.embeddings
    texts = [
        [chunk.embedded_text for each in part for chunk in chunks_of(each, model.count_tokens, model.max_tokens)]
        for part in slices(articles)
    ]
    started = []
    for number in range(WORKERS):
        share = folder / f"share{number}.json"
        share.write_text(json.dumps(texts[number::WORKERS]), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks._bare_embedding", str(share)]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for each in started:
        assert each.stdout is not None
        each.stdout.readline()
    answers = [each.communicate("go\n")[0] for each in started]
    cpu, seconds = zip(*map(json.loads, answers), strict=True)
    return Cost(0, sum(cpu), max(seconds))


def compared(folder: Path) -> None:
    """Print the cost of the loop and of the import, a row for each round."""
    records = raw_records(FILES / "pubmed21n1298.dev.xml.xz")
    print(f"{SAMPLE} records a round, by {WORKERS} processes\n")
    print("| CPU s | bare loop | import | of which writing | loop / import | the same of wall time |")
    print("|---|---|---|---|---|---|")
    settings = Settings(home=folder / "compared", calls_days=0)
    with closing(Embedded(settings)) as backends, backends.workers(WORKERS) as workers:
        import_files(listed([write(folder / "first.xml", list(islice(records, 80)))]), backends, workers=workers)
        for number in range(ROUNDS):
            path = write(folder / f"{number}.xml", list(islice(records, SAMPLE)))
            loop, whole = embedded(path, backends, folder), imported(path, backends, workers)
            shares = f"{loop.cpu / whole.cpu:.1%} | {loop.seconds / whole.seconds:.1%}"
            print(
                f"| round {number + 1} | {loop.cpu:.1f} | {whole.cpu:.1f} | {whole.writing:.2f} | {shares} |",
                flush=True,
            )


class Peaks(threading.Thread):
    """The most memory that each descendant of a process has held, by what it is, until `stop`."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.kb, self.ended = pid, dict[str, int](), threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.5):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    read = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
                except (OSError, ValueError):
                    continue
                pid, parent = int(status.parent.name), int(read["PPid"])
                if self.pid in (pid, parent) and "VmHWM" in read:
                    what = "the command" if pid == self.pid else "a worker"
                    self.kb[what] = max(self.kb.get(what, 0), int(read["VmHWM"].split()[0]))


def whole(folder: Path, most: int) -> None:
    """Print what `bio-mcp import --workers` costs over all records, and its second run."""
    given = [str(unpacked(folder / "dev"))]
    if most:
        given = [str(write(folder / "some.xml", list(islice(raw_records(FILES / "pubmed21n1298.dev.xml.xz"), most))))]
    command = [str(Path(sys.executable).with_name("bio-mcp")), "import", "--json", "--workers", str(WORKERS), *given]
    environment = {**os.environ, "BIO_MCP_HOME": str(folder / "home")}
    for run in ("first", "again"):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            peaks = Peaks(process.pid)
            peaks.start()
            body = json.loads(process.communicate()[0])
            peaks.ended.set()
        after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        read = sum(each["read"] for each in body["files"])
        new = sum(each["inserted"] for each in body["files"])
        memory = ", ".join(f"{what} {kb / 1e3:.0f} MB" for what, kb in sorted(peaks.kb.items()))
        counts = f"{read:,} | {new:,} | {body['chunks']:,}"
        print(f"| {run} | {counts} | {seconds:.0f} | {cpu:.1f} | {read / cpu:,.1f} | {memory} |", flush=True)


def main(most: str = "0") -> None:
    with tempfile.TemporaryDirectory() as folder:
        compared(Path(folder))
        (Path(folder) / "dev").mkdir()
        print(f"\nbio-mcp import --workers {WORKERS}, a load of {os.getloadavg()[0]:.1f}\n")
        print("| run | records | new | passages | seconds | CPU s | records / CPU s | memory at most |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
        whole(Path(folder), int(most))


if __name__ == "__main__":
    main(*sys.argv[1:])
