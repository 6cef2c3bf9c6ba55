"""The embedding models that benchmarks compare: the default one, and the same in 8 bits."""

from pathlib import Path

from bio_mcp.adapters.embedders.installed import default_model_dir
from bio_mcp.adapters.embedders.quantising import SUFFIX, quantise

MODELS = Path(__file__).resolve().parents[1] / ".cache/models"


def in_8_bits() -> Path:
    """The directory of the default model in 8 bits, which is made where it is not there."""
    source = default_model_dir()
    MODELS.mkdir(parents=True, exist_ok=True)
    if not (MODELS / source.name).exists():
        (MODELS / source.name).symlink_to(source, target_is_directory=True)
    quantise(MODELS, source.name, lambda _: None)
    return MODELS / (source.name + SUFFIX)
