"""Reads how a published model makes a vector of a text, from the files of sentence-transformers' layout."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bio_mcp.adapters.embedders import tensors
from bio_mcp.adapters.embedders.heads import Activation, Dense, Head, Pooling
from bio_mcp.adapters.embedders.identity import Identity
from bio_mcp.adapters.embedders.installed import TOKENIZER, sha256_of

WEIGHTS = "model.safetensors"
LONGEST_FILE = 1 << 20  # bytes of a configuration
ACTIVATIONS: Mapping[str, Activation] = {"Identity": "identity", "Tanh": "tanh"}
OF_PASSAGES = ("document", "passage", "corpus")  # names of the prompt, the first that there is


@dataclass(frozen=True, slots=True)
class Layout:
    """What modules.json and its like say. `dense` are directories of layers after the pooling, in turn."""

    pooling: Pooling
    dim: int
    max_tokens: int
    dense: tuple[Path, ...] = ()
    prefix: str = ""
    question_prefix: str = ""

    def identity(self, source: Path, model_id: str) -> Identity:
        """The identity of the model whose weights and tokenizer are in `source`."""
        made = Identity(
            model_id=model_id,
            weights_sha256=sha256_of(source / WEIGHTS),
            tokenizer_sha256=sha256_of(source / TOKENIZER),
            dim=self.dim,
            max_tokens=self.max_tokens,
            pooling=self.pooling,
            prefix=self.prefix,
            projection_sha256="+".join(sha256_of(each / WEIGHTS) for each in self.dense),
        )
        return made.asked_with(self.question_prefix)

    def head(self) -> Head:
        """Pooling and layers, with their weights."""
        return Head(self.pooling, tuple(_dense(each) for each in self.dense))


def layout_of(source: Path) -> Layout:
    """The layout that is in `source`. Raises `OSError`, and `ValueError` or its like for what it does not say."""
    modules = read_json(source / "modules.json")
    [pooled] = [read_json(source / path / "config.json") for path in _paths(modules, "Pooling")]
    dense = tuple(source / path for path in _paths(modules, "Dense"))
    width = pooled.get("word_embedding_dimension") or pooled["embedding_dimension"]
    prompts = _prompts(source)
    return Layout(
        pooling=_pooling(pooled),
        dim=int(read_json(dense[-1] / "config.json")["out_features"] if dense else width),
        max_tokens=int(read_json(source / "sentence_bert_config.json")["max_seq_length"]),
        dense=dense,
        prefix=next((prompts[name] for name in OF_PASSAGES if name in prompts), ""),
        question_prefix=prompts.get("query", ""),
    )


def read_json(path: Path) -> Any:
    """The content of a small file. Raises `OSError` and `ValueError`."""
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


def _prompts(source: Path) -> dict[str, str]:
    file = source / "config_sentence_transformers.json"
    return dict(read_json(file).get("prompts") or {}) if file.exists() else {}


def _pooling(config: Mapping[str, Any]) -> Pooling:
    """The pooling mode, by its name or by flags like pooling_mode_mean_tokens."""
    flags = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    modes = [config["pooling_mode"]] if "pooling_mode" in config else flags
    named = [mode.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for mode in modes]
    if named == ["mean"] and config.get("include_prompt", True):
        return "mean"
    if named == ["cls"]:
        return "cls"
    raise ValueError(f"a pooling by {' and '.join(named)} is not computed here")


def _dense(directory: Path) -> Dense:
    config, weights = read_json(directory / "config.json"), tensors.load(directory / WEIGHTS)
    name = str(config.get("activation_function", "torch.nn.modules.activation.Tanh")).rpartition(".")[2]
    if name not in ACTIVATIONS:
        raise ValueError(f"the function {name} of a layer is not computed here")
    return Dense(weights["linear.weight"], weights.get("linear.bias"), ACTIVATIONS[name])
