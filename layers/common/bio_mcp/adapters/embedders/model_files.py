"""An embedding model on disk: a directory with its graph, its tokenizer and the manifest `model.json`.

The manifest has what makes two vectors comparable (`Identity`), and a hash of each file. One model comes with the
package; others are where the settings say. What is there as published, in sentence-transformers' layout, says how it
pools and what it wants before a text (`Layout`).
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.errors import EmbeddingFailed

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

MANIFEST, GRAPH, TOKENIZER = "model.json", "model.onnx", "tokenizer.json"
QUESTION_GRAPH = "questions.onnx"  # of a model that has an encoder of its own for questions
SAMPLES = "samples.json"  # texts, and the vectors that the model must give them
PACKAGED = Path(__file__).parents[2] / "models"
DEFAULT = "bge-small-en-v1.5"
PASSAGE_PREFIX, QUESTION_PREFIX = "passage: ", "query: "  # of E5 models
PAIRS = "pairs"  # the pooling of a reranker, which reads two texts together
POOLED = "graph"  # that of a model whose graph gives one vector a text
LATER = {"question_prefix", "projection_sha256", "questions_sha256", "question_tokens"}
LONGEST_FILE = 1 << 20  # bytes of a configuration
OF_PASSAGES = ("document", "passage", "corpus")  # names of the prompt, the first that there is


@dataclass(frozen=True, slots=True)
class Identity:
    """Every property of a model that changes a vector by more than rounding.

    `precision` is a class, not a file type: fp32 weights run in fp32 by any runtime are "fp32" (they differ by 2e-7 at
    most). Weights rounded further, or activations quantised at run time, are another class.
    """

    model_id: str
    weights_sha256: str
    tokenizer_sha256: str
    dim: int
    max_tokens: int  # special tokens included
    pooling: str = "mean"
    normalised: bool = True
    prefix: str = ""  # before each passage, where a model was trained with a prompt
    precision: str = "fp32"
    question_prefix: str | None = None  # before each question; None: as `before_questions` says
    projection_sha256: str = ""  # of the layers after the pooling
    questions_sha256: str = ""  # weights of the encoder of questions, where it is another one
    question_tokens: int = 0  # its limit; 0: `max_tokens`

    @property
    def before_questions(self) -> str:
        """What stands before a question: `QUESTION_PREFIX` of E5 models, otherwise the same as before a passage."""
        if self.question_prefix is not None:
            return self.question_prefix
        return QUESTION_PREFIX if self.prefix == PASSAGE_PREFIX else self.prefix

    def asked_with(self, prefix: str) -> "Identity":
        """The same, with `prefix` before questions; equal prefixes have equal identities."""
        plain = replace(self, question_prefix=None)
        return plain if plain.before_questions == prefix else replace(self, question_prefix=prefix)

    @property
    def fingerprint(self) -> str:
        """`{model}/{precision}/{16 hex digits}`: the digits start the SHA-256 of the fields as canonical JSON.

        A field of `LATER` counts where it is set, so that indexes of models without it stay valid.
        """
        unset = {each.name for each in fields(self) if each.name in LATER and getattr(self, each.name) == each.default}
        counted = {name: value for name, value in asdict(self).items() if name not in unset}
        canonical = json.dumps(counted, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return f"{self.model_id}/{self.precision}/{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


def directory_of(models: Path, name: str) -> Path:
    """Where the model of that name is: among the user's, else in the package."""
    own, packaged = models.expanduser() / name, PACKAGED / name
    return packaged if packaged.is_dir() and not (own / MANIFEST).exists() else own


def directories(models: Path) -> list[Path]:
    """The directory of each model on this machine, by name."""
    found = {each.parent.name for place in (PACKAGED, models.expanduser()) for each in place.glob(f"[!.]*/{MANIFEST}")}
    return [directory_of(models, name) for name in sorted(found)]


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class FileSeal:
    """A file's state when its content was last verified; `mtime_ns` is that of `os.stat`."""

    sha256: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "FileSeal":
        """The seal of the file at `path`; hashes it."""
        status = path.stat()
        return cls(sha256_of(path), status.st_size, status.st_mtime_ns)

    def holds(self, path: Path) -> bool:
        """Whether `path` has the sealed content.

        Hashing takes a tenth of the time of loading the model. So a file with the sealed size and modification time
        counts as unchanged; a copied file is hashed, once per process.
        """
        status = path.stat()
        if status.st_size != self.size:
            return False
        return status.st_mtime_ns == self.mtime_ns or sha256_of(path) == self.sha256


def write_manifest(directory: Path, identity: Identity, licence: str) -> None:
    """Record the graphs and the tokenizer in `directory` as this model's."""
    files = {name: asdict(FileSeal.of(directory / name)) for name in _files(identity)}
    manifest = {"identity": asdict(identity), "files": files, "licence": licence}
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _files(identity: Identity) -> tuple[str, ...]:
    return (GRAPH, TOKENIZER, QUESTION_GRAPH) if identity.questions_sha256 else (GRAPH, TOKENIZER)


def licence_of(directory: Path) -> str:
    return str(json.loads((directory / MANIFEST).read_text(encoding="utf-8")).get("licence", "not stated"))


def read_manifest(directory: Path) -> tuple[Identity, dict[str, FileSeal]]:
    """The identity, and the seals by file name. Raises `EmbeddingFailed` with a remedy."""
    try:
        manifest: dict[str, Any] = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        identity = Identity(**manifest["identity"])
        return identity, {name: FileSeal(**manifest["files"][name]) for name in _files(identity)}
    except FileNotFoundError as missing:
        message = (
            f"The embedding model {directory.name} is not on this machine. Run `bio-mcp admin models add FOLDER`, or "
        )
        message += f"use {DEFAULT}, which comes with the package (BIO_MCP_EMBEDDING_MODEL)."
        raise EmbeddingFailed(message, retryable=False) from missing
    except (OSError, ValueError, KeyError, TypeError) as unreadable:
        raise damaged() from unreadable


def checked_file(directory: Path, seals: Mapping[str, FileSeal], name: str) -> Path:
    """A file of an installed model. Raises `EmbeddingFailed` unless it is as it was installed."""
    try:
        intact = seals[name].holds(directory / name)
    except (KeyError, OSError) as missing:
        raise damaged() from missing
    if not intact:
        raise damaged()
    return directory / name


def is_whole(directory: Path) -> bool:
    """Whether `directory` has a model, with its files as they were installed."""
    try:
        _, seals = read_manifest(directory)
        for name in seals:
            checked_file(directory, seals, name)
    except EmbeddingFailed:
        return False
    return True


def damaged() -> EmbeddingFailed:
    """The failure for a model whose files differ from those that were installed."""
    message = (
        "The embedding model on this machine is damaged. Install bio-mcp, or run `bio-mcp admin models add`, again."
    )
    return EmbeddingFailed(message, retryable=False)


def samples(directory: Path = PACKAGED / DEFAULT) -> "tuple[list[str], Vectors]":
    """The texts, and their vectors, shape (texts, dimensions), that an installed model must give them."""
    cases = json.loads((directory / SAMPLES).read_text(encoding="utf-8"))
    rows = [np.frombuffer(base64.b64decode(case["vector"]), dtype="<f4") for case in cases]
    return [case["text"] for case in cases], np.stack(rows)


def write_samples(directory: Path, texts: list[str], vectors: "Vectors") -> None:
    """Record the vectors that the model must give on any machine."""
    rows = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
    cases = [{"text": text, "vector": row} for text, row in zip(texts, rows, strict=True)]
    (directory / SAMPLES).write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Layout:
    """What the published files say; None and 0 where they say nothing. `dense` are directories of layers after the
    pooling, in turn."""

    pooling: str | None
    dim: int
    max_tokens: int
    dense: tuple[Path, ...] = ()
    prefix: str = ""
    question_prefix: str = ""


def layout_of(source: Path) -> Layout:
    """The layout that is in `source`. Raises `OSError`, and `ValueError` or its like for what it does not say."""
    modules = _json_if_there(source / "modules.json") or [{"type": "Pooling", "path": "1_Pooling"}]
    pooled = [_json_if_there(source / path / "config.json") for path in _paths(modules, "Pooling")]
    config: dict[str, Any] = next(filter(None, pooled), {})
    dense = tuple(source / path for path in _paths(modules, "Dense"))
    prompts = _json_if_there(source / "config_sentence_transformers.json").get("prompts") or {}
    width = config.get("word_embedding_dimension") or config.get("embedding_dimension") or 0
    return Layout(
        pooling=_pooling(config) if config else None,
        dim=int(_json_if_there(dense[-1] / "config.json")["out_features"] if dense else width),
        max_tokens=_max_tokens(source),
        dense=dense,
        prefix=next((prompts[name] for name in OF_PASSAGES if name in prompts), ""),
        question_prefix=prompts.get("query", ""),
    )


def _json_if_there(path: Path) -> Any:
    """The content of a small file; an empty object where there is none. Raises `OSError` and `ValueError`."""
    if not path.exists():
        return {}
    if path.stat().st_size > LONGEST_FILE:
        raise ValueError("a configuration is too long to be one")
    return json.loads(path.read_text(encoding="utf-8"))


def _paths(modules: list[dict[str, str]], kind: str) -> Iterator[str]:
    """The directories of the modules of a kind, which are below that of the model."""
    for each in modules:
        if each["type"].rpartition(".")[2] == kind:
            if not each["path"] or Path(each["path"]).name != each["path"]:
                raise ValueError("a module is not in a directory of the model")
            yield each["path"]


def _pooling(config: Mapping[str, Any]) -> str:
    """The pooling mode, by its name or by flags like pooling_mode_mean_tokens."""
    flags = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    modes = [config["pooling_mode"]] if "pooling_mode" in config else flags
    named = [mode.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for mode in modes]
    if named == ["cls"] or (named == ["mean"] and config.get("include_prompt", True)):
        return str(named[0])
    raise ValueError(f"a pooling by {' and '.join(named)} is not computed here")


def _max_tokens(source: Path) -> int:
    """The most tokens of a text, by the first file that says it."""
    said = (
        _json_if_there(source / "sentence_bert_config.json").get("max_seq_length"),
        _json_if_there(source / "tokenizer_config.json").get("model_max_length"),
        _json_if_there(source / "config.json").get("max_position_embeddings"),
    )
    return next((int(each) for each in said if each and each < LONGEST_FILE), 0)
