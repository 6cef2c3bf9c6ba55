"""Collected where sentence-transformers can be imported, in a model directory built with `--torch-files`."""

import gzip
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from bio_mcp.adapters.embedders.golden import TOLERANCE, golden, largest_difference
from bio_mcp.adapters.embedders.hf import HfEmbeddings
from bio_mcp.adapters.embedders.installed import default_model_dir

SAMPLE = Path(__file__).parents[2] / "data" / "pubmed" / "quick600.dev.xml.gz"


def abstracts(count: int) -> list[str]:
    root = ElementTree.fromstring(gzip.decompress(SAMPLE.read_bytes()))
    found = (" ".join("".join(part.itertext()) for part in each.iter("AbstractText")) for each in root.iter("Abstract"))
    return [text for text in found if text][:count]


@pytest.fixture(scope="module")
def torch_model() -> HfEmbeddings:
    return HfEmbeddings(default_model_dir(), threads=1)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [*golden()[0], *abstracts(400)]


@pytest.fixture(scope="module")
def ours(minilm, texts) -> np.ndarray:
    return minilm.embed(texts)


@pytest.fixture(scope="module")
def reference(torch_model, texts) -> np.ndarray:
    return torch_model.embed(texts)


def test_the_two_providers_share_a_fingerprint(torch_model, minilm):
    assert torch_model.fingerprint == minilm.fingerprint
    assert (torch_model.dim, torch_model.max_tokens) == (minilm.dim, minilm.max_tokens)


def test_both_read_the_same_tokens(torch_model, minilm, texts):
    assert torch_model.count_tokens(texts) == minilm.count_tokens(texts)


def test_both_give_the_same_vectors(texts, ours, reference):
    difference, cosine = float(np.abs(ours - reference).max()), float((ours * reference).sum(axis=1).min())
    print(f"\n{len(texts)} texts: largest difference {difference:.1e}, smallest cosine {cosine:.7f}")
    assert len(texts) >= 400
    assert difference <= TOLERANCE
    assert cosine >= 0.99999


def test_the_ten_nearest_texts_are_the_same(ours, reference):
    nearest = [np.argsort(-(vectors @ vectors[:200].T), axis=0)[:10].T for vectors in (ours, reference)]
    assert all(set(mine) == set(theirs) for mine, theirs in zip(*nearest, strict=True))


def test_the_reference_still_gives_the_golden_vectors(torch_model):
    assert largest_difference(torch_model) <= TOLERANCE
