"""How fast is a PDF read, cut, embedded and stored, where does the time go, and how well do parsers read it?

    python -m benchmarks.ingest

The file is one of 306 pages: a paper of nine pages in two columns (De Marchis 2016, CC BY 4.0), 34 times over. A parser
is timed in a process of its own, in CPU seconds, twice; the better counts. What it reads of the paper is compared with
what GROBID reads: the paper's 18 headings, each as a heading of its own, and the words from the first sentence to the
last of its text in their order (difflib's ratio), which for all of them has captions and tables in other places than
GROBID's. The other parsers need `pip install liteparse pdf-inspector pdf-oxide pypdf pdfminer.six`; those that are
missing are left out.
"""

import argparse
import importlib.util
import json
import lzma
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.parsing import peak_mb

PDF = Path(__file__).parents[1] / "tests/data/pdf"
PAPER, TEI = PDF / "demarchis2016.pdf", PDF / "demarchis2016.tei.xml.xz"
COPIES = 34
FIRST, LAST = (
    "functional electrical stimulation fes is a widely used",
    "muscle synergies and activities of daily living",
)
Read = tuple[list[str], str]  # headings and text


def ours(path: str) -> Read:
    from bio_mcp.adapters.parsers.pdf import parse_pdf

    document = parse_pdf(Path(path).read_bytes())
    return [section.heading or "" for section in document.sections], document.text


def liteparse(path: str) -> Read:
    from liteparse import LiteParse

    return _of_markdown(LiteParse(ocr_enabled=False, output_format="markdown", quiet=True).parse(path).text)


def pdf_inspector(path: str) -> Read:
    from pdf_inspector import process_pdf

    return _of_markdown(process_pdf(path).markdown)


def pdf_oxide(path: str) -> Read:
    from pdf_oxide import PdfDocument

    return _of_markdown(PdfDocument(path).to_markdown_all(detect_headings=True))


def pypdfium2(path: str) -> Read:
    from pypdfium2 import PdfDocument

    return [], "\n".join(page.get_textpage().get_text_range() for page in PdfDocument(path))


def pypdf(path: str) -> Read:
    from pypdf import PdfReader

    return [], "\n".join(page.extract_text() for page in PdfReader(path).pages)


def pdfminer(path: str) -> Read:
    from pdfminer.high_level import extract_text

    return [], extract_text(path)


PARSERS: dict[str, tuple[Callable[[str], Read], str]] = {
    "bio_mcp, PDFium and layout": (ours, "pypdfium2"),
    "liteparse, markdown": (liteparse, "liteparse"),
    "pdf-inspector, markdown": (pdf_inspector, "pdf_inspector"),
    "pdf-oxide, markdown": (pdf_oxide, "pdf_oxide"),
    "pypdfium2, text alone": (pypdfium2, "pypdfium2"),
    "pypdf, text alone": (pypdf, "pypdf"),
    "pdfminer.six, text alone": (pdfminer, "pdfminer"),
}


def _of_markdown(text: str) -> Read:
    lines = text.splitlines()
    return [re.sub(r"[#*_`]", "", line).strip() for line in lines if line.startswith("#")], text


def words(text: str) -> list[str]:
    """Words alone, with those whole again that a hyphen parts at the end of a line."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", re.sub(r"(\w)[-\x02\ufffe]\s*\n", r"\1", text)).casefold())


def grobid() -> Read:
    """The paper's headings and text as GROBID reads them."""
    space = "{http://www.tei-c.org/ns/1.0}"
    tei = ElementTree.fromstring(lzma.decompress(TEI.read_bytes()))  # noqa: S314 our own file
    divisions = tei.findall(f"{space}text/{space}body/{space}div")
    parts = [each for one in divisions for each in one.iter() if each.tag in (f"{space}p", f"{space}formula")]
    headings = [head.text or "" for one in divisions for head in one.findall(f"{space}head")]
    return headings, " ".join("".join(each.itertext()) for each in parts)


def quality(read: Read) -> tuple[int, float]:
    """How many of GROBID's headings are headings, and how alike the text is."""
    headings, text = grobid()
    found = {" ".join(words(each)) for each in read[0]}
    spoken = " ".join(words(read[1]))
    within = spoken[max(0, spoken.find(FIRST)) :].partition(LAST)
    ratio = SequenceMatcher(None, words(text), (within[0] + within[1]).split(), autojunk=False).ratio()
    return sum(" ".join(words(each)) in found for each in headings), ratio


def run_one(name: str, path: str) -> None:
    """Read the paper once for what it gives, and the large file twice for the time."""
    parser = PARSERS[name][0]
    headings, ratio = quality(parser(str(PAPER)))
    before, best = peak_mb(), float("inf")
    for _ in range(2):
        start = time.process_time()
        parser(path)
        best = min(best, time.process_time() - start)
    print(json.dumps({"headings": headings, "ratio": ratio, "seconds": best, "grown_mb": peak_mb() - before}))


def parsers(path: Path, pages: int) -> None:
    """A row for every parser that is installed."""
    print("| parser | headings, of 18 | text like GROBID's | pages / CPU s | memory grown, MB |\n|---|---|---|---|---|")
    for name, (_, module) in PARSERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"| {name} | not installed | | | |")
            continue
        command = [sys.executable, "-m", "benchmarks.ingest", "--one", name, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"| {name} | failed: {done.stderr.strip().splitlines()[-1][:80]} | | | |")
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        headings = row["headings"] or "none"
        rate = pages / row["seconds"]
        print(f"| {name} | {headings} | {row['ratio']:.3f} | {rate:,.0f} | {row['grown_mb']:.0f} |", flush=True)


@contextmanager
def timed(steps: dict[str, float], name: str) -> Iterator[None]:
    """Note the CPU seconds of a step, those of all threads."""
    start = time.process_time()
    yield
    steps[name] = time.process_time() - start


def by_step(path: Path, home: Path) -> None:
    """Each step of an ingest by itself, in this process."""
    from bio_mcp.adapters.embedded.collections import SqliteCollections
    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
    from bio_mcp.adapters.parsers.pdf import parse_pdf
    from bio_mcp.retrieval.chunking import chunks_of_sections
    from bio_mcp.retrieval.project_chunks import Work

    model = OnnxEmbeddings(PACKAGED / DEFAULT)
    model.embed(["aspirin"])
    collections = SqliteCollections(Database(home))
    collections.create("proj-benchmark", model.fingerprint, model.dim)
    steps: dict[str, float] = {}
    with timed(steps, "read"):
        content = path.read_bytes()
    with timed(steps, "parse"):
        document = parse_pdf(content)
    with timed(steps, "chunk"):
        chunks = chunks_of_sections(document, Work("d"), model.count_tokens, model.max_tokens)
    with timed(steps, "embed"):
        vectors = model.embed([chunk.embedded_text for chunk in chunks])
    with timed(steps, "write"):
        found = {chunk.chunk_id: vector for chunk, vector in zip(chunks, vectors, strict=True)}
        collections.replace("proj-benchmark", "d", chunks, found)
    split(steps, document.pages or 0, len(chunks))


def split(steps: dict[str, float], pages: int, chunks: int) -> None:
    """Print the steps and what they come to."""
    total = sum(steps.values())
    print("\n| step | CPU s | share |\n|---|---|---|")
    for name, seconds in steps.items():
        print(f"| {name} | {seconds:.2f} | {seconds / total:.0%} |")
    print(f"| all | {total:.2f} | {pages / total:.0f} pages and {chunks / total:.0f} chunks per CPU-second |")


def whole(path: Path, home: Path) -> None:
    """`bio-mcp ingest` of the file into a new project, as a user runs it."""
    environment = {**os.environ, "BIO_MCP_HOME": str(home)}
    command = [sys.executable, "-c", "from bio_mcp.doors.cli import main; main()"]
    subprocess.run([*command, "projects", "create", "thesis"], env=environment, check=True, capture_output=True)
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "ingest", "thesis", str(path)], env=environment, check=True, capture_output=True)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = after.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(f"\nbio-mcp ingest: {taken:.0f} s, {cpu:.0f} CPU s, {peak:.0f} MB at most in one process")


def repeated(path: Path) -> int:
    """Write the paper `COPIES` times over into one file; returns its pages."""
    from pypdfium2 import PdfDocument

    one, many = PdfDocument(PAPER), PdfDocument.new()
    for _ in range(COPIES):
        many.import_pages(one)
    many.save(path)
    return len(many)


def main() -> None:
    """The command line."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("file", nargs="?", help=argparse.SUPPRESS)
    arguments.add_argument("--one", choices=PARSERS, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        run_one(options.one, options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "thesis.pdf"
        pages = repeated(path)
        print(f"A file of {pages} pages, {path.stat().st_size / 1e6:.0f} MB\n")
        parsers(path, pages)
        by_step(path, Path(folder) / "steps")
        whole(path, Path(folder) / "home")


if __name__ == "__main__":
    main()
