import importlib.util

import pytest

from bio_mcp.adapters.embedders.installed import default_model_dir
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

# The proof that both providers agree needs torch; `make prove-hf` installs it and runs this file.
collect_ignore = [] if importlib.util.find_spec("sentence_transformers") else ["test_hf_equals_onnx.py"]


@pytest.fixture(scope="session")
def minilm() -> OnnxEmbeddings:
    """The model that `make setup` built."""
    return OnnxEmbeddings(default_model_dir())
