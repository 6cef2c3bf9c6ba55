"""What a record costs on its way from XML into the corpus file, embedding free: `python -m benchmarks.writing [FILE]`.

First each step by itself, in microseconds of CPU a record, the best of three, but the terms once: words that are known
take half the time of new ones. Then the whole of an import, of which the steps are most. FILE is a PubMed file, plain,
.gz or .xz; by default the daily file of 2021-06-07. It is read from a plain copy, so that nothing is unpacked. Counting
tokens is nearly free, too. The garbage of one step does not weigh on the next; in an import it does.
"""

import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from benchmarks.parsing import DEFAULT, unpacked
from benchmarks.syncing import Unmeasured
from bio_mcp.literature import serial
from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import Article, Document
from bio_mcp.literature.serial import content_hash
from bio_mcp.retrieval.chunking import chunks_of, entry_of, search_terms
from bio_mcp.retrieval.passages import Entry
from bio_mcp.syncing.importing import import_files
from bio_mcp.syncing.pubmed_files import ListedFile
from tests.support.corpus import Corpus

SOME = 3_000  # records by which the steps are measured
BATCH = 200  # as an import writes records, and passages that are embedded quickly
MODEL = Unmeasured()

T = TypeVar("T")


def timed(what: str, step: Callable[[], T], times: int = 3) -> T:
    """Print the least CPU time of `step`, by record; return its result."""
    best = float("inf")
    for _ in range(times):
        gc.collect()
        began = time.process_time()
        result = step()
        best = min(best, time.process_time() - began)
    print(f"| {what} | {1e6 * best / SOME:,.0f} |", flush=True)
    return result


def articles(path: Path) -> Iterator[Article]:
    """The articles of a plain file."""
    with path.open("rb") as file:
        yield from (each for each in parse(file) if isinstance(each, Article))


def some(path: Path) -> list[Article]:
    """The first of them; of several versions the last."""
    return list({each.pmid: each for each, _ in zip(articles(path), range(SOME), strict=False)}.values())


def entries(documents: Sequence[Document]) -> list[Entry]:
    """Index entries with vectors that cost nothing."""
    made = []
    for document in documents:
        chunks = chunks_of(document.article, MODEL.count_tokens, MODEL.max_tokens)
        vectors = MODEL.embed([chunk.chunk_id for chunk in chunks])
        made.append(entry_of(document, chunks, {each.chunk_id: v for each, v in zip(chunks, vectors, strict=True)}))
    return made


def steps(path: Path) -> None:
    """Measure each step by itself."""
    read = timed("parse", lambda: some(path))
    gc.freeze()
    hashes = timed("hash of the content", lambda: [content_hash(each) for each in read])
    documents = [Document(each, digest) for each, digest in zip(read, hashes, strict=True)]
    timed("record as bytes", lambda: [serial.dumps(each) for each in read])
    timed("passages", lambda: [chunks_of(each, MODEL.count_tokens, MODEL.max_tokens) for each in read])
    timed("terms", lambda: [search_terms(each) for each in read], 1)
    ready = entries(documents)
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder, closing(Corpus(Path(folder))) as corpus:
        corpus.passages.ensure_schema(MODEL.fingerprint, MODEL.dim)
        timed("records written, bytes included", lambda: in_parts(documents, BATCH, corpus.documents.put), 1)
        timed("index rows written", lambda: in_parts(ready, BATCH, corpus.passages.upsert_chunks), 1)


def in_parts(items: Sequence[T], size: int, write: Callable[[Sequence[T]], None]) -> None:
    """Write the items, `size` at a time."""
    for start in range(0, len(items), size):
        write(items[start : start + size])


def whole(path: Path) -> None:
    """Import all records."""
    with tempfile.TemporaryDirectory() as folder, closing(Corpus(Path(folder))) as corpus:
        corpus.model = MODEL
        began = time.process_time()
        [report] = import_files([ListedFile(path)], corpus)
        spent = time.process_time() - began
    print(f"\n{report.read:,} records imported in {spent:.1f} CPU-s: {report.read / spent:,.0f} per CPU-second")


def main(file: str = str(DEFAULT)) -> None:
    """The command line."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(Path(file), Path(folder))
        print("| step | CPU-us a record |\n|---|---|")
        steps(path)
        whole(path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
