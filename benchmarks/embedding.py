"""What the embedding model costs: `python -m benchmarks.embedding` prints a Markdown table.

CPU time, so that other work on the machine does not count; the best of three runs each.
"""

import resource
import sys
import time
from collections.abc import Callable

from bio_mcp.adapters.embedders.installed import default_model_dir
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

LENGTHS = {12: 128, 60: 64, 200: 24}  # tokens of a text -> texts in a run
BUDGETS = (1, 256, 512, 2_048, 8_192)
REPEATS = 3


def text_of(tokens: int) -> str:
    """A text of so many tokens, special tokens included."""
    return " ".join(["heart"] * (tokens - 2))


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least CPU time, of all threads, that `work` takes in three runs."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def resident_mb() -> float:
    """The most memory this process has held, MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def embedding_rate(model: OnnxEmbeddings, tokens: int) -> float:
    """Texts of `tokens` tokens embedded per CPU-second, tokenising included."""
    texts = [text_of(tokens)] * LENGTHS[tokens]
    return len(texts) / cpu_seconds(lambda: model.embed(texts))


def main() -> None:
    model = OnnxEmbeddings(default_model_dir())
    model.embed([text_of(200)] * 24)
    resident = resident_mb()
    loading = cpu_seconds(lambda: OnnxEmbeddings(default_model_dir()).embed(["aspirin"]))
    query = cpu_seconds(lambda: [model.embed([text_of(12)]) for _ in range(20)]) / 20
    counting = cpu_seconds(lambda: model.count_tokens([text_of(200)] * 500))
    rates = {tokens: embedding_rate(model, tokens) for tokens in LENGTHS}
    print(f"Embedding with {model.fingerprint}, one thread\n")
    print("| what | figure |\n|---|---|")
    print(f"| load and first text | {loading * 1e3:.0f} CPU-ms |")
    print(f"| a query of 12 tokens | {query * 1e3:.1f} CPU-ms |")
    for tokens, rate in rates.items():
        print(f"| texts of {tokens} tokens | {rate:.1f} per CPU-second |")
    print(f"| counting tokens | {500 * 200 / counting / 1e6:.2f} million tokens per CPU-second |")
    print(f"| memory held at most | {resident:.0f} MB |\n")
    print("Texts per CPU-second by tokens a batch:\n")
    print("| tokens of a text | " + " | ".join(f"{budget:,}" for budget in BUDGETS) + " |\n|---" + "|---" * 5 + "|")
    models = [OnnxEmbeddings(default_model_dir(), tokens_per_batch=budget) for budget in BUDGETS]
    for tokens in LENGTHS:
        print(f"| {tokens} | " + " | ".join(f"{embedding_rate(each, tokens):.1f}" for each in models) + " |")


if __name__ == "__main__":
    main()
