"""The multilingual model as `make multilingual` builds it, from the registry."""

import numpy as np

from bio_mcp.adapters.embedders.golden import largest_difference
from bio_mcp.adapters.embedders.identity import MULTILINGUAL_E5_SMALL
from bio_mcp.adapters.embedders.installed import default_model_dir
from bio_mcp.adapters.embedders.multilingual import GOLDEN, TOLERANCE, build
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings


def test_the_model_reproduces_vectors_that_were_computed_without_onnx_and_reads_thai():
    directory = default_model_dir().with_name(MULTILINGUAL_E5_SMALL.model_id)
    build(directory)
    model = OnnxEmbeddings(directory)
    assert model.fingerprint == MULTILINGUAL_E5_SMALL.fingerprint
    assert largest_difference(model, GOLDEN) <= TOLERANCE
    papers = model.embed(["Ginger for nausea in pregnancy.", "A stent for the coronary artery.", "Carbon in forests."])
    [asked] = model.embed_questions(["ขิงแก้คลื่นไส้ในหญิงตั้งครรภ์ได้หรือไม่"])
    assert int(np.argmax(papers @ asked)) == 0
