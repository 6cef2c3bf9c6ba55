"""An installed model: a directory with `model.onnx`, `tokenizer.json` and the manifest `model.json`."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2, MULTILINGUAL_E5_SMALL, Identity
from bio_mcp.adapters.embedders.under_construction import check_is_not_being_built
from bio_mcp.directories import models
from bio_mcp.errors import EmbeddingFailed

MANIFEST, GRAPH, TOKENIZER = "model.json", "model.onnx", "tokenizer.json"
QUESTION_GRAPH = "questions.onnx"  # of a model that has an encoder of its own for questions
GOLDEN = "golden.json"  # of a model that was added: the vectors that it must reproduce
TORCH_FILES = "sentence-transformers"  # optional subdirectory with the files as published
SETUP = {
    ALL_MINILM_L6_V2.model_id: "bio-mcp setup",
    MULTILINGUAL_E5_SMALL.model_id: "bio-mcp setup --multilingual",
}


def default_model_dir() -> Path:
    """Where the default model is, unless BIO_MCP_MODELS names another place."""
    return models().expanduser() / ALL_MINILM_L6_V2.model_id


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

        Hashing 90 MB takes 60 ms of CPU, a fifth of loading the model. So a file with the sealed size and modification
        time counts as unchanged; a copied file is hashed, once per process.
        """
        status = path.stat()
        if status.st_size != self.size:
            return False
        return status.st_mtime_ns == self.mtime_ns or sha256_of(path) == self.sha256


def write_manifest(directory: Path, identity: Identity, licence: str = "Apache-2.0") -> None:
    """Record the graphs and the tokenizer in `directory` as this model's."""
    files = {name: asdict(FileSeal.of(directory / name)) for name in _files(identity)}
    manifest = {"identity": asdict(identity), "files": files, "licence": licence}
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def licence_of(directory: Path) -> str:
    """The licence of an installed model, as its manifest says."""
    return str(json.loads((directory / MANIFEST).read_text(encoding="utf-8")).get("licence", "not stated"))


def _files(identity: Identity) -> tuple[str, ...]:
    return (GRAPH, TOKENIZER, QUESTION_GRAPH) if identity.questions_sha256 else (GRAPH, TOKENIZER)


def read_manifest(directory: Path) -> tuple[Identity, dict[str, FileSeal]]:
    """The identity, and the seals by file name. Raises `EmbeddingFailed` with a remedy."""
    try:
        manifest: dict[str, Any] = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        identity = Identity(**manifest["identity"])
        return identity, {name: FileSeal(**manifest["files"][name]) for name in _files(identity)}
    except FileNotFoundError as missing:
        check_is_not_being_built(directory)
        if (directory / MANIFEST).exists():  # a build ended meanwhile
            return read_manifest(directory)
        remedy = SETUP.get(directory.name, "bio-mcp models add FOLDER")
        message = f"The embedding model {directory.name} is not on this machine. Run `{remedy}`."
        raise EmbeddingFailed(message, retryable=False) from missing
    except (OSError, ValueError, KeyError, TypeError) as unreadable:
        raise damaged() from unreadable


def check_file(directory: Path, seals: Mapping[str, FileSeal], name: str) -> None:
    """Raise `EmbeddingFailed` unless a file of an installed model is as it was installed."""
    try:
        intact = seals[name].holds(directory / name)
    except (KeyError, OSError) as missing:
        raise damaged() from missing
    if not intact:
        raise damaged()


def damaged() -> EmbeddingFailed:
    """The failure for a model whose files differ from those that were built."""
    message = "The embedding model on this machine is damaged. Run `bio-mcp setup`, or `bio-mcp models add`, again."
    return EmbeddingFailed(message, retryable=False)
