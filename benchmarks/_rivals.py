"""LanceDB and Tantivy for benchmarks/rivals.py. Runs in .cache/rivals, which has nothing of the product.

    python -m benchmarks._rivals fill lancedb WORK PAPERS 0 | measure lancedb WORK | ...

Each takes the analysed words and the vectors that the product has: what differs is the engine. LanceDB has a row per
window with an IVF-PQ index of its vectors, a full-text index over the papers' words, both as they come, and indices of
what is filtered by. Tantivy has the words; a numpy product with every vector, all in memory, is beside it. A search
takes the 200 best papers by words and the 200 best by meaning, as the product's do.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks._comparing import bytes_in, filling, run
from benchmarks._corpus_file import DIM, Asked, Block, blocks, papers, windows_in

DEPTH = 200
WINDOWS = 600  # whose papers are some 250


class Lance:
    """Two tables: windows with vectors, papers with words.

    `settings` are its defaults, and those at which it finds as much as the others: how many partitions are looked into,
    and how many windows, for each that is wanted, are scored by their vectors.
    """

    settings: ClassVar = ("as it comes", "200 probes, refine 20")
    most: ClassVar = 1_000
    setting = settings[0]
    server: int | None = None

    def __init__(self, store: Path) -> None:
        import lancedb

        database = lancedb.connect(store)
        self._windows, self._papers = database.open_table("windows"), database.open_table("papers")

    @classmethod
    def fill(cls, store: Path, documents: int, _minutes: float) -> None:
        import lancedb
        import pyarrow as pa
        from lancedb.index import FTS, Bitmap, BTree, IvfPq

        began, work = time.perf_counter(), store.parents[1]
        database = lancedb.connect(store)
        of_paper = [("pmid", pa.int64()), ("year", pa.int64()), ("project", pa.string())]
        schema = pa.schema([*of_paper, ("vector", pa.list_(pa.float32(), DIM))])
        windows = database.create_table("windows", _windows(work), schema=schema)
        texts = database.create_table("papers", _words(work), schema=pa.schema([*of_paper, ("words", pa.string())]))
        windows.create_index("vector", config=IvfPq(distance_type="dot"), wait_timeout=timedelta(hours=3))
        analysed = FTS(base_tokenizer="whitespace", lower_case=False, stem=False, remove_stop_words=False)
        texts.create_index("words", config=analysed, wait_timeout=timedelta(hours=3))
        for table in (windows, texts):
            table.create_index("year", config=BTree())
            table.create_index("project", config=Bitmap())
        filling(began, documents).write(store)

    @classmethod
    def disk(cls, store: Path) -> int:
        return bytes_in(store)

    def meaning(self, asked: Asked) -> list[int]:
        query = self._windows.search(np.array(asked.vector, np.float32)).distance_type("dot").limit(WINDOWS)
        if self.setting != self.settings[0]:
            query = query.nprobes(200).refine_factor(20)
        found = _filtered(query, asked).select(["pmid", "_distance"]).to_arrow()["pmid"].to_pylist()
        return list(dict.fromkeys(found))[:DEPTH]

    def words(self, asked: Asked) -> list[int]:
        query = self._papers.search(" ".join(term for term, _ in asked.terms), query_type="fts").limit(DEPTH)
        return list(_filtered(query, asked).select(["pmid", "_score"]).to_arrow()["pmid"].to_pylist())

    def hybrid(self, asked: Asked) -> object:
        return self.meaning(asked), self.words(asked)

    def close(self) -> None:
        """Nothing: it ends with its process."""


def _windows(work: Path) -> Iterator[Any]:
    import pyarrow as pa

    for block in blocks(work):
        columns = [np.repeat(column, block.windows) for column in (block.pmids, block.years, block.projects)]
        flat = pa.FixedSizeListArray.from_arrays(pa.array(block.vectors.reshape(-1)), DIM)
        yield pa.record_batch([*map(pa.array, columns), flat], names=["pmid", "year", "project", "vector"])


def _words(work: Path) -> Iterator[Any]:
    import pyarrow as pa

    for batch in papers(work):
        yield pa.record_batch(
            {
                "pmid": [each.pmid for each in batch],
                "year": [each.year for each in batch],
                "project": [each.project for each in batch],
                "words": [" ".join(each.words) for each in batch],
            }
        )


def _filtered(query: Any, asked: Asked) -> Any:
    if not asked.filters:
        return query
    first, last, project = asked.filters
    return query.where(f"year >= {first} AND year <= {last} AND project = '{project}'", prefilter=True)


class Tantivy:
    """Words in Tantivy, vectors in a matrix that is read from the corpus file at the start."""

    settings: ClassVar = ("with numpy",)
    most: ClassVar = 25  # its product with every vector takes as long for each question
    setting = settings[0]
    server: int | None = None

    def __init__(self, store: Path) -> None:
        import tantivy

        self._tantivy, self._index = tantivy, tantivy.Index.open(str(store / "index"))
        work = store.parents[1]
        every, matrix, end = [], np.empty((windows_in(work), DIM), np.float32), 0
        for block in blocks(work):
            start, end = end, end + len(block.vectors)
            matrix[start:end] = block.vectors
            every.append(replace(block, vectors=matrix[start:end]))
        columns = ("pmids", "years", "projects", "windows")
        self._papers = Block(*(np.concatenate([getattr(each, name) for each in every]) for name in columns), matrix)
        self._first = self._papers.starts()

    @classmethod
    def fill(cls, store: Path, documents: int, _minutes: float) -> None:
        import tantivy

        began = time.perf_counter()
        (store / "index").mkdir()
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("pmid", stored=True, indexed=True)
        builder.add_text_field("words", tokenizer_name="whitespace")
        builder.add_unsigned_field("year", indexed=True, fast=True)
        builder.add_text_field("project", tokenizer_name="raw")
        writer = tantivy.Index(builder.build(), path=str(store / "index")).writer()
        for batch in papers(store.parents[1]):
            for each in batch:
                document = tantivy.Document()
                document.add_unsigned("pmid", each.pmid)
                document.add_text("words", " ".join(each.words))
                document.add_unsigned("year", each.year)
                document.add_text("project", each.project)
                writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        filling(began, documents).write(store)

    @classmethod
    def disk(cls, store: Path) -> int:
        return bytes_in(store)

    def meaning(self, asked: Asked) -> list[int]:
        scores = np.maximum.reduceat(self._papers.vectors @ np.array(asked.vector, np.float32), self._first)
        if asked.filters:
            scores = np.where(self._papers.passing(asked.filters), scores, -2)
        best = np.argpartition(-scores, DEPTH)[:DEPTH]
        return [int(pmid) for pmid in self._papers.pmids[best[np.argsort(-scores[best])]]]

    def words(self, asked: Asked) -> list[int]:
        query, must = self._tantivy.Query, self._tantivy.Occur
        schema = self._index.schema
        each = [(must.Should, query.term_query(schema, "words", term)) for term, _ in asked.terms]
        clauses = [(must.Must, query.boolean_query(each))]
        if asked.filters:
            first, last, project = asked.filters
            years = query.range_query(schema, "year", self._tantivy.FieldType.Unsigned, first, last)
            clauses += [(must.Must, years), (must.Must, query.term_query(schema, "project", project))]
        searcher = self._index.searcher()
        hits = searcher.search(query.boolean_query(clauses), DEPTH).hits
        return [searcher.doc(address)["pmid"][0] for _, address in hits]

    def hybrid(self, asked: Asked) -> object:
        return self.meaning(asked), self.words(asked)

    def close(self) -> None:
        """Nothing: it ends with its process."""


if __name__ == "__main__":
    run({"lancedb": Lance, "tantivy": Tantivy})
