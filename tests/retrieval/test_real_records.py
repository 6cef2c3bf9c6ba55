"""Real PubMed records, cut and analysed."""

import gzip
import lzma
from pathlib import Path

import pytest

from bio_mcp.literature.medline import parse
from bio_mcp.literature.records import Article
from bio_mcp.retrieval.chunking import abstract_text, chunks_of, search_terms
from tests.support.memory_corpus import WordVectors

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/data/pubmed"
FILES = sorted([*(ROOT / "tests/data/pubmed").glob("*.xml.xz"), *SHARED.glob("quick600*.xml.gz")])
LIMIT = 128


def records(path):
    with (gzip.open if path.suffix == ".gz" else lzma.open)(path) as stream:
        return [each for each in parse(stream) if isinstance(each, Article)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_record_is_cut_without_losing_a_character_fits_the_model_and_gives_terms(path):
    count = WordVectors().count_tokens
    for record in records(path):
        text, chunks = abstract_text(record), chunks_of(record, count, LIMIT)
        covered = {at for each in chunks for at in range(each.char_start, each.char_end)}
        assert {at for at, character in enumerate(text) if not character.isspace()} <= covered, record.pmid
        assert max(count([each.embedded_text for each in chunks])) <= LIMIT, record.pmid
        assert len({each.chunk_id for each in chunks}) == len(chunks), record.pmid
        assert search_terms(record), record.pmid
