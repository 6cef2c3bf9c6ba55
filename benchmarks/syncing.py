"""What a sync costs beside its embedding: `python -m benchmarks.syncing [FILE]`.

The records of a PubMed file are served by the local NCBI in a process of its own; the CPU time is the product's alone.
Unchanged: every record is fetched again, parsed, compared and left. Changed: records new to the corpus, embedded by
the real model.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.deadline import NEVER
from bio_mcp.ports.stores import Embeddings
from bio_mcp.settings import Settings
from bio_mcp.syncing.cursor import SyncReport
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.wiring.embedded import Embedded
from tests.support.corpus import Corpus
from tests.support.eutils_server.client import running

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

ROOT = Path(__file__).parents[1]
FILE = ROOT.parent / "shared/data/pubmed/pubmed21n1298.dev.xml.xz"
SOME = 400


class Unmeasured:
    """Embeddings that cost nothing, so that what is measured is the rest."""

    fingerprint, dim, max_tokens = "none", 384, 256

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 for text in texts]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return np.full((len(texts), self.dim), self.dim**-0.5, np.float32)

    def embed_questions(self, texts: Sequence[str]) -> "Vectors":
        return self.embed(texts)


@dataclass
class Timed:
    """A model, and the CPU seconds it took."""

    model: Embeddings
    embedding_s: float = 0.0
    counting_s: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        began = time.process_time()
        vectors = self.model.embed(texts)
        self.embedding_s += time.process_time() - began
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        began = time.process_time()
        counts = self.model.count_tokens(texts)
        self.counting_s += time.process_time() - began
        return counts


def measured(corpus: Corpus, term: str, overlap: int) -> tuple[SyncReport, float]:
    """The report of a sync, and its CPU seconds."""
    began = time.process_time()
    report = sync_delta("benchmark", term, overlap, corpus, NEVER, lambda *_: None)
    return report, time.process_time() - began


def main(file: str = str(FILE)) -> None:
    with running([Path(file)]) as ncbi, tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as real:
        corpus = Corpus(Path(plain), ncbi.base_url)
        corpus.model = Unmeasured()
        first, first_s = measured(corpus, "all[sb]", 5)
        again, again_s = measured(corpus, "all[sb]", 100_000)
        assert (again.skipped, again.inserted, again.updated) == (first.inserted, 0, 0)
        corpus = Corpus(Path(real), ncbi.base_url)
        corpus.model = timed = Timed(Embedded(Settings.from_env()).embeddings)
        some = sorted(ncbi.control.pmids())[:: max(1, first.inserted // SOME)][:SOME]
        changed, changed_s = measured(corpus, " OR ".join(f"{pmid}[uid]" for pmid in some), 5)
    share = (timed.embedding_s + timed.counting_s) / changed_s
    print("| sync of | records | CPU-s | records per CPU-second | |")
    print("|---|---|---|---|---|")
    print(f"| new records, embedding free | {first.inserted} | {first_s:.1f} | {first.inserted / first_s:,.0f} | |")
    print(f"| unchanged records | {again.skipped} | {again_s:.1f} | {again.skipped / again_s:,.0f} | |")
    print(
        f"| new records, real model | {changed.inserted} | {changed_s:.1f} | {changed.inserted / changed_s:,.1f} | "
        f"{share:.0%} of it embedding |"
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
