"""How fast is PubMed XML read into full records, and in how much memory?

    python benchmarks/parsing.py [FILE]

FILE is a PubMed update or baseline file, plain, .gz or .xz; the default is the daily file of 2021-06-07. It is
unpacked first: only parsing is timed, in CPU seconds of this process's own kind, each parser in a process of its own
for its peak memory. The others need `pip install pubmed_parser biopython`; those that are missing are left out.
"""

import argparse
import gzip
import importlib.util
import json
import lzma
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "pubmed" / "pubmed21n1298.dev.xml.xz"
OPENERS = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open}


def ours(path: str) -> int:
    """Every field of the record, references and MeSH included."""
    from bio_mcp.literature.medline import parse

    with Path(path).open("rb") as file:
        return sum(1 for _ in parse(file))


def bare(path: str) -> int:
    """lxml's iterparse with its memory given back and nothing read: the floor."""
    from lxml import etree

    count = 0
    for _, element in etree.iterparse(path, tag=("PubmedArticle", "PubmedBookArticle")):
        count += 1
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return count


def pubmed_parser(path: str) -> int:
    """pubmed_parser with its references, the nearest to a full record that it has. It reads nothing but gzip."""
    import pubmed_parser as other

    packed = path + ".gz"
    return sum(1 for _ in other.parse_medline_xml(packed, year_info_only=False, reference_list=True))


def biopython(path: str) -> int:
    """Bio.Entrez.read: nested dictionaries, by a DTD that it brings, all in memory: so only the first records."""
    from Bio import Entrez

    with Path(path + ".head").open("rb") as file:
        return len(Entrez.read(file, validate=False)["PubmedArticle"])


PARSERS: dict[str, tuple[Callable[[str], int], str]] = {
    "bio_mcp, full records": (ours, "lxml"),
    "lxml iterparse, nothing read": (bare, "lxml"),
    "pubmed_parser": (pubmed_parser, "pubmed_parser"),
    "Biopython, first 2,000 records": (biopython, "Bio"),
}


def peak_mb() -> float:
    """Peak resident memory of this process, in MB; on Linux without what it inherits from its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) / 1e3 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def run_one(name: str, path: str) -> None:
    """Parse twice in this process and print the better time: a shared machine only ever adds to it."""
    parser = PARSERS[name][0]
    before, best, count = peak_mb(), float("inf"), 0
    for _ in range(2):
        start = time.process_time()
        count = parser(path)
        best = min(best, time.process_time() - start)
    print(json.dumps({"records": count, "seconds": best, "grown_mb": peak_mb() - before}))


def unpacked(path: Path, into: Path) -> Path:
    """The file without its compression, and beside it what single parsers need: stored gzip, and the first records."""
    with path.open("rb") as file:
        opener = OPENERS.get(file.read(2))
    target = into / "records.xml"
    with (opener or open)(path, "rb") as packed, target.open("wb") as plain:
        shutil.copyfileobj(packed, plain, 1 << 20)
    with target.open("rb") as plain, gzip.open(f"{target}.gz", "wb", compresslevel=0) as stored:
        shutil.copyfileobj(plain, stored, 1 << 20)
    cut_head(target, Path(f"{target}.head"))
    return target


def cut_head(path: Path, target: Path, records: int = 2000) -> None:
    """The file's first records, as a file of their own."""
    with path.open("rb") as whole, target.open("wb") as head:
        for line in whole:
            head.write(line)
            records -= b"</PubmedArticle>" in line
            if not records:
                head.write(b"</PubmedArticleSet>")
                return


def table(path: Path) -> None:
    """Run every parser that is installed and print one row for each."""
    print("| parser | records | CPU s | records / CPU s | memory grown, MB |\n|---|---|---|---|---|")
    for name, (_, module) in PARSERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"| {name} | not installed | | | |")
            continue
        done = subprocess.run(
            [sys.executable, __file__, "--one", name, str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"| {name} | failed: {done.stderr.strip().splitlines()[-1][:80]} | | | |")
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        rate = row["records"] / row["seconds"]
        print(
            f"| {name} | {row['records']:,} | {row['seconds']:.2f} | {rate:,.0f} | {row['grown_mb']:.0f} |", flush=True
        )


def main() -> None:
    """The command line."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("file", nargs="?", type=Path, default=DEFAULT)
    arguments.add_argument("--one", choices=PARSERS, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        run_one(options.one, str(options.file))
        return
    with tempfile.TemporaryDirectory() as folder:
        table(unpacked(options.file, Path(folder)))


if __name__ == "__main__":
    main()
