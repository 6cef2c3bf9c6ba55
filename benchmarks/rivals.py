"""How the same papers are searched by the embedded engine, OpenSearch, LanceDB and Tantivy, in one run.

    python -m benchmarks.rivals [--documents 1000000] [--minutes 120] [--queries 100] [--work DIR]

Corpus, questions and truth are those of benchmarks/million.py. Each engine has a process of its own, one after the
other: OpenSearch through the product's adapter, LanceDB and Tantivy in an environment of their own
(requirements/rivals.txt, `make .cache/rivals/.installed`). OpenSearch is filled for at most so many minutes in all, and
is compared over the papers that it then has: the column `papers` says how many.

A million papers take 37 GB of disk: DIR keeps them for the next run, which only measures. Figures are of CPU and of
wall time, whose load is printed: compare the rows of one run. OpenSearch runs on the `java` of the path; from version
20 on it compares vectors by SIMD, as a packaged one does.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks._comparing import FILTERED, HEADS, PLAIN, STORES
from benchmarks.million import ENGINES, filled, judged_by_all
from benchmarks.retrieval import ROOT


def measure(work: Path, documents: int, count: int, minutes: float) -> None:
    """The same papers in each engine, one after the other."""
    papers = {name: filled(work, name, documents, minutes) for name in ENGINES}
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; searches in milliseconds, p50 / p95\n")
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}", flush=True)
    for name, command in ENGINES.items():
        for file, each in zip((PLAIN, FILTERED), judged_by_all(work, count, papers[name]), strict=True):
            each.write(work / STORES / file)
        subprocess.run([*command, "measure", name, work], check=True, cwd=ROOT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=120, help="in all that OpenSearch may be filled for")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--work", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = (chosen.work or Path(scratch)) / f"{chosen.documents}"
        measure(work, chosen.documents, chosen.queries, chosen.minutes)


if __name__ == "__main__":
    main()
