"""Real records for the tests: raw XML cut out with a regular expression, so that no truth comes from the parser."""

import gzip
import io
import json
import lzma
import re
import unicodedata
import xml.etree.ElementTree as ET
from functools import lru_cache
from pathlib import Path

from bio_mcp.literature.medline import parse

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "data" / "pubmed"
MARKS = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-"})
RECORD = re.compile(rb"<(Pubmed(?:Book)?Article)>.*?</\1>", re.DOTALL)
PMID = re.compile(rb'<PMID Version="(\d+)">(\d+)</PMID>')


def wrapped(*records):
    return b"<?xml version='1.0'?>\n<PubmedArticleSet>" + b"".join(records) + b"</PubmedArticleSet>"


def parsed(raw):
    (article,) = parse(io.BytesIO(wrapped(raw)))
    return article


def element(raw):
    return ET.fromstring(raw)


def fold(text):
    """Our readable scripts back to what plain tag removal gives, so that both can be compared letter by letter."""
    if text is None:
        return None
    bare = re.sub(r"[\^_]\(([^()]*(?:\([^()]*\)[^()]*)*)\)", r"\1", text)
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", bare)).translate(MARKS)


def lines(content):
    return [json.loads(line) for line in content.decode().splitlines()]


GOLDENS = lines(gzip.decompress((FIXTURES / "golden.jsonl.gz").read_bytes()))


@lru_cache
def fixture_records():
    """PMID -> [(version, raw record)] of the committed edge cases."""
    stored = {}
    for found in RECORD.finditer(lzma.decompress((FIXTURES / "edges.xml.xz").read_bytes())):
        version, pmid = PMID.search(found[0]).groups()
        stored.setdefault(pmid.decode(), []).append((version.decode(), found[0]))
    return stored
