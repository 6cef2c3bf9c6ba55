"""What the embedding model costs: `python -m benchmarks embedding` prints Markdown tables.

CPU time, so that other work on the machine does not count; the best of some runs each, which take turns where they are
compared. The floor is the model's products of matrices alone, by OpenBLAS on one thread.
"""

import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import onnxruntime

from bio_mcp.adapters.embedders.model_files import DEFAULT, GRAPH, PACKAGED
from bio_mcp.adapters.embedders.onnx import SLOWER, Graph, OnnxEmbeddings

LENGTHS = {12: 128, 60: 64, 130: 32, 200: 24}  # tokens of a text -> texts in a run
BUDGETS = (1, 256, 512, 2_048, 8_192)
REPEATS = 5
WINDOW, TOGETHER = 130, 2  # tokens of a usual passage, and as many as a batch has of them
MODEL = PACKAGED / DEFAULT
LAYERS, WIDTH, INNER = 12, 384, 1_536
SHAPES = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, INNER), (INNER, WIDTH)]  # of a layer's matrices
PROFILED = 40

Work = Callable[[], object]


def text_of(tokens: int) -> str:
    """A text of so many tokens, special tokens included."""
    return " ".join(["heart"] * (tokens - 2))


def cpu_seconds(work: Work) -> float:
    """The least CPU time, of all threads, that `work` takes in some runs."""
    return in_turns({"": work})[""]


def in_turns(works: Mapping[str, Work]) -> dict[str, float]:
    """The least CPU time of each work, in runs that take turns."""
    least = dict.fromkeys(works, float("inf"))
    for _ in range(REPEATS):
        for name, work in works.items():
            start = time.process_time()
            work()
            least[name] = min(least[name], time.process_time() - start)
    return least


def resident_mb() -> float:
    """The most memory this process has held, MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def embedding(model: OnnxEmbeddings, tokens: int) -> Work:
    """Texts of `tokens` tokens to be embedded, tokenising included."""
    texts = [text_of(min(tokens, model.max_tokens))] * LENGTHS[tokens]
    return lambda: model.embed(texts)


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table in Markdown."""
    for row in (heads, ("---",) * len(heads), *rows):
        print("| " + " | ".join(row) + " |")
    print()


def costs(model: OnnxEmbeddings) -> None:
    """What one model costs at start and by question, in a process that has done nothing else."""
    resident = resident_mb()
    loading = cpu_seconds(lambda: OnnxEmbeddings(MODEL).embed(["aspirin"]))
    query = cpu_seconds(lambda: [model.embed([text_of(12)]) for _ in range(20)]) / 20
    counting = cpu_seconds(lambda: model.count_tokens([text_of(200)] * 500))
    rows = [
        ("load and first text", f"{loading * 1e3:.0f} CPU-ms"),
        ("a query of 12 tokens", f"{query * 1e3:.1f} CPU-ms"),
        ("counting tokens", f"{500 * 200 / counting / 1e6:.2f} million tokens per CPU-second"),
        ("memory held at most", f"{resident:.0f} MB"),
    ]
    print(f"Embedding with {model.fingerprint}, one thread\n")
    table(("what", "figure"), rows)


def by_budget() -> None:
    """Texts per CPU-second, by how many tokens a batch may have."""
    models = {f"{budget:,}": OnnxEmbeddings(MODEL, tokens_per_batch=budget) for budget in BUDGETS}
    rows = []
    for tokens in LENGTHS:
        took = in_turns({name: embedding(model, tokens) for name, model in models.items()})
        rows.append((str(tokens), *(f"{LENGTHS[tokens] / each:.1f}" for each in took.values())))
    print("Texts per CPU-second, by tokens a batch:\n")
    table(("tokens of a text", *models), rows)


def floor() -> None:
    """The embedding of usual passages beside the graph alone and beside its products of matrices alone, in fp32."""
    count = 16
    graph, model = Graph(MODEL / GRAPH), OnnxEmbeddings(MODEL)
    texts = [text_of(WINDOW)] * count * TOGETHER
    batch = [[2_540] * WINDOW] * TOGETHER
    left = [np.ones((WINDOW * TOGETHER, rows), np.float32) for rows, _ in SHAPES]
    right = [np.ones(shape, np.float32) for shape in SHAPES]
    works: dict[str, Work] = {
        "products of matrices in fp32, OpenBLAS": lambda: [
            a @ b for _ in range(count * LAYERS) for a, b in zip(left, right, strict=True)
        ],
        "the graph alone": lambda: [graph.run(batch) for _ in range(count)],
        "texts in, vectors out": lambda: model.embed(texts),
    }
    print(f"Milliseconds of CPU a text of {WINDOW} tokens, {TOGETHER} together:\n")
    took = in_turns(works)
    table(("what", "CPU-ms"), [(name, f"{each / count / TOGETHER * 1e3:.2f}") for name, each in took.items()])


def by_operator(graph: Path) -> Counter[str]:
    """Microseconds of each operator over runs of usual passages."""
    with TemporaryDirectory() as scratch:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_profiling, options.profile_file_prefix = True, str(Path(scratch) / "profile")
        session = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
        )
        batch = np.full((TOGETHER, WINDOW), 2_540)
        for _ in range(PROFILED):
            session.run(None, {"input_ids": batch, "attention_mask": np.ones_like(batch)})
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    spent: Counter[str] = Counter()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            spent[event["args"]["op_name"]] += event["dur"]
    return spent


def main() -> None:
    model = OnnxEmbeddings(MODEL)
    model.embed([text_of(200)] * 24)
    costs(model)
    by_budget()
    floor()
    spent = by_operator(MODEL / GRAPH)
    shares = ", ".join(f"{operator} {took / spent.total():.0%}" for operator, took in spent.most_common(9))
    print(f"Shares of the time by operator: {shares}")


if __name__ == "__main__":
    main()
