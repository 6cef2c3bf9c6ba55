"""Embedding models that users may bring, with what their publishers say of them.

Licence, dimensions and limit are those of MTEB's model descriptions (github.com/embeddings-benchmark/mteb); the
figures are nDCG@10 of MTEB's published results, 2026-08-20. Where no hash is known, the file that is added is pinned.
"""

from dataclasses import dataclass

from bio_mcp.adapters.embedders.heads import Pooling

FOR_PASSAGES = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Preset:
    """A model by the name under which it is installed. `source` is its name on Hugging Face's hub.

    `pooling` and `max_tokens` serve where its files do not say them, and so does `question_prefix`; `questions` is the
    source of its encoder of questions, with `question_tokens` as its limit.
    """

    name: str
    source: str
    licence: str
    dim: int
    max_tokens: int
    pooling: Pooling
    question_prefix: str = ""
    weights_sha256: str = ""
    questions: str = ""
    question_tokens: int = 0
    scifact: float | None = None
    nfcorpus: float | None = None
    note: str = ""


PRESETS = {
    each.name: each
    for each in (
        Preset("gte-small", "thenlper/gte-small", "MIT", 384, 512, "mean", scifact=0.727, nfcorpus=0.348),
        Preset(
            "granite-embedding-small-english-r2",
            "ibm-granite/granite-embedding-small-english-r2",
            "Apache-2.0",
            384,
            8192,
            "cls",
            scifact=0.755,
            nfcorpus=0.371,
        ),
        Preset(
            "bge-small-en-v1.5",
            "BAAI/bge-small-en-v1.5",
            "MIT",
            384,
            512,
            "cls",
            FOR_PASSAGES,
            "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad",
            scifact=0.713,
            nfcorpus=0.343,
        ),
        Preset(
            "snowflake-arctic-embed-s",
            "Snowflake/snowflake-arctic-embed-s",
            "Apache-2.0",
            384,
            512,
            "cls",
            FOR_PASSAGES,
            scifact=0.699,
            nfcorpus=0.325,
        ),
        Preset(
            "mdbr-leaf-ir",
            "MongoDB/mdbr-leaf-ir",
            "Apache-2.0",
            768,
            512,
            "mean",
            FOR_PASSAGES,
            scifact=0.706,
            nfcorpus=0.365,
        ),
        Preset(
            "MedCPT-Article-Encoder",
            "ncbi/MedCPT-Article-Encoder",
            "see ncbi/MedCPT",
            768,
            512,
            "cls",
            questions="ncbi/MedCPT-Query-Encoder",
            question_tokens=64,
            note="trained for inner products; here vectors have length 1, and title and text are one text",
        ),
    )
}
