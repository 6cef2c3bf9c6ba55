"""LanceDB and Tantivy over the papers that benchmarks/million.py hands over. Runs in .cache/rivals.

    python _rivals.py DIRECTORY

Each takes the analysed words and the vectors that the product has: what differs is the engine. LanceDB has a row per
window with an IVF index of its vectors (its defaults) and a full-text index over the papers' words; Tantivy has the
words, and a numpy product with every vector beside it. A search takes the 200 best papers by words and the 200 best by
meaning, as the product's do.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEPTH, AT, WINDOWS = 200, 100, 1_000
Asked = tuple[list[str], "NDArray[np.float32]", "list[Any] | None"]


def report(name: str, search: Callable[[Asked], object], asked: Sequence[Asked]) -> None:
    wall, cpu = [], []
    for each in asked:
        search(each)
    for each in asked:
        began, began_cpu = time.perf_counter(), time.process_time()
        search(each)
        wall.append((time.perf_counter() - began) * 1e3)
        cpu.append((time.process_time() - began_cpu) * 1e3)
    (p50, p95), (c50, c95) = ((statistics.median(v), statistics.quantiles(v, n=20)[-1]) for v in (wall, cpu))
    print(f"| {name} | {p50:.1f} / {p95:.1f} | {c50:.1f} / {c95:.1f} |", flush=True)


def recall(meaning: Callable[[Asked], list[int]], asked: Sequence[Asked], wanted: list[list[int]]) -> str:
    shares = [
        len({*meaning(each)[: len(best)]} & {*best}) / len(best) for each, best in zip(asked, wanted, strict=True)
    ]
    return f"mean {statistics.mean(shares):.4f}, worst {min(shares):.2f}"


class Lance:
    """Two tables: windows with vectors, papers with words."""

    def __init__(self, directory: Path, papers: list[list[Any]], matrix: NDArray[np.float32], rows: Any) -> None:
        import lancedb
        import pyarrow as pa
        from lancedb.index import FTS, IvfPq

        database = lancedb.connect(directory / "lance")
        pmids, texts, years, projects = (list(column) for column in zip(*papers, strict=True))
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), matrix.shape[1])
        of_window = {"pmid": np.array(pmids)[rows], "year": np.array(years)[rows]}
        columns = {**of_window, "project": np.array(projects)[rows], "vector": vectors}
        self._windows = database.create_table("windows", pa.table(columns))
        self._windows.create_index("vector", config=IvfPq(distance_type="dot"))
        self._papers = database.create_table(
            "papers", pa.table({"pmid": pmids, "words": texts, "year": years, "project": projects})
        )
        analysed = FTS(base_tokenizer="whitespace", lower_case=False, stem=False, remove_stop_words=False)
        self._papers.create_index("words", config=analysed)

    def meaning(self, asked: Asked) -> list[int]:
        _, vector, filters = asked
        query = self._windows.search(vector).distance_type("dot").nprobes(20).refine_factor(2).limit(WINDOWS)
        if filters:
            query = query.where(_where(filters), prefilter=True)
        found = query.select(["pmid", "_distance"]).to_arrow()["pmid"].to_pylist()
        return list(dict.fromkeys(found))[:DEPTH]

    def words(self, asked: Asked) -> list[int]:
        terms, _, filters = asked
        query = self._papers.search(" ".join(terms), query_type="fts").limit(DEPTH)
        if filters:
            query = query.where(_where(filters), prefilter=True)
        return list(query.select(["pmid", "_score"]).to_arrow()["pmid"].to_pylist())

    def __call__(self, asked: Asked) -> object:
        return self.meaning(asked), self.words(asked)


def _where(filters: list[Any]) -> str:
    return f"year >= {filters[0]} AND year <= {filters[1]} AND project = '{filters[2]}'"


class Tantivy:
    """Words in Tantivy, vectors in a matrix."""

    def __init__(self, directory: Path, papers: list[list[Any]], matrix: NDArray[np.float32], rows: Any) -> None:
        import tantivy

        self._tantivy, self._matrix = tantivy, matrix
        self._first = np.flatnonzero(np.diff(rows, prepend=-1))
        self._pmids = np.array([paper[0] for paper in papers])
        self._years = np.array([paper[2] for paper in papers])
        self._projects = np.array([paper[3] for paper in papers])
        (directory / "tantivy").mkdir()
        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("pmid", stored=True, indexed=True)
        schema.add_text_field("words", tokenizer_name="whitespace")
        schema.add_unsigned_field("year", indexed=True, fast=True)
        schema.add_text_field("project", tokenizer_name="raw")
        self._index = tantivy.Index(schema.build(), path=str(directory / "tantivy"))
        writer = self._index.writer()
        for pmid, text, year, project in papers:
            document = tantivy.Document()
            document.add_unsigned("pmid", pmid)
            document.add_text("words", text)
            document.add_unsigned("year", year)
            document.add_text("project", project)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def meaning(self, asked: Asked) -> list[int]:
        _, vector, filters = asked
        scores = np.maximum.reduceat(self._matrix @ vector, self._first)
        if filters:
            passing = (self._years >= filters[0]) & (self._years <= filters[1]) & (self._projects == filters[2])
            scores = np.where(passing, scores, -2)
        best = np.argpartition(-scores, DEPTH)[:DEPTH]
        return [int(pmid) for pmid in self._pmids[best[np.argsort(-scores[best])]]]

    def words(self, asked: Asked) -> list[int]:
        terms, _, filters = asked
        query, must = self._tantivy.Query, self._tantivy.Occur
        schema = self._index.schema
        each = [(must.Should, query.term_query(schema, "words", term)) for term in terms]
        clauses = [(must.Must, query.boolean_query(each))]
        if filters:
            years = query.range_query(schema, "year", self._tantivy.FieldType.Unsigned, filters[0], filters[1])
            clauses += [(must.Must, years), (must.Must, query.term_query(schema, "project", filters[2]))]
        searcher = self._index.searcher()
        hits = searcher.search(query.boolean_query(clauses), DEPTH).hits
        return [searcher.doc(address)["pmid"][0] for _, address in hits]

    def __call__(self, asked: Asked) -> object:
        return self.meaning(asked), self.words(asked)


def main() -> None:
    directory = Path(sys.argv[1])
    given = json.loads((directory / "papers.json").read_text())
    with np.load(directory / "vectors.npz") as stored:
        matrix, counts, vectors = stored["matrix"], stored["counts"], stored["asked"]
    rows = np.repeat(np.arange(len(counts)), counts)
    plain = list(zip(given["queries"], vectors, [None] * len(vectors), strict=True))
    filtered = list(zip(given["queries"], vectors, given["filters"], strict=True))
    for name, engine in (("LanceDB", Lance), ("Tantivy with numpy", Tantivy)):
        began = time.perf_counter()
        built = engine(directory, given["papers"], matrix, rows)
        seconds = time.perf_counter() - began
        report(f"{name}, hybrid", built, plain)
        report(f"{name}, hybrid, filtered", built, filtered)
        print(f"{name}: recall at {AT} {recall(built.meaning, plain, given['wanted'])}; filled in {seconds:.0f} s")


if __name__ == "__main__":
    main()
