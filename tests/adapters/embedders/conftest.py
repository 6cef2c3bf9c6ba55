import pytest

from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings


@pytest.fixture(scope="session")
def packaged() -> OnnxEmbeddings:
    return OnnxEmbeddings(PACKAGED / DEFAULT)
