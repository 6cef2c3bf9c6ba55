"""Real records for the tests: raw XML cut out with a regular expression, so that no truth comes from the parser.

`SHARED` holds more of them beside the repository; without it the committed fixtures are all there is.
"""

import gzip
import io
import json
import lzma
import re
import tarfile
import unicodedata
import xml.etree.ElementTree as ET
from functools import lru_cache
from pathlib import Path

from bio_mcp.literature.medline import parse

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "data" / "pubmed"
SHARED = ROOT.parent / "shared" / "data" / "pubmed"
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


def _cut(content):
    for found in RECORD.finditer(content):
        version, pmid = PMID.search(found[0]).groups()
        yield pmid.decode(), version.decode(), found[0]


def _files():
    for name in ("pubmed21n1298", "pubmed20n0014"):
        path = SHARED / f"{name}.dev.xml.xz"
        if path.exists():
            yield path.name, lzma.decompress(path.read_bytes())
    for name in ("efetch_recent", "nlm_sample_2019", "baseline_slices_2021"):
        path = SHARED / f"{name}.dev.tar.xz"
        if path.exists():
            with tarfile.open(path) as archive:
                for member in filter(tarfile.TarInfo.isfile, archive):
                    yield f"{path.name}!{member.name}", archive.extractfile(member).read()


def _lines(content):
    return [json.loads(line) for line in content.decode().splitlines()]


FIXTURE_GOLDENS = _lines(gzip.decompress((FIXTURES / "golden.jsonl.gz").read_bytes()))
FIXTURE_EDGES = json.loads((FIXTURES / "edges.json").read_text())
_golden = SHARED / "golden.dev.jsonl.xz"
SHARED_GOLDENS = _lines(lzma.decompress(_golden.read_bytes())) if _golden.exists() else []
_edges = SHARED / "edge_index.dev.json"
SHARED_EDGES = json.loads(_edges.read_text()) if _edges.exists() else {}


@lru_cache
def fixture_records():
    """PMID -> [(version, raw record)] of the committed edge cases."""
    stored = {}
    for pmid, version, raw in _cut(lzma.decompress((FIXTURES / "edges.xml.xz").read_bytes())):
        stored.setdefault(pmid, []).append((version, raw))
    return stored


@lru_cache
def shared_records():
    """(file, PMID) -> [(version, raw record)] of what the shared goldens and edge cases name."""
    wanted = {(row["file"], row["pmid"]) for row in SHARED_GOLDENS}
    wanted |= {(row["file"], row["pmid"]) for rows in SHARED_EDGES.values() for row in rows}
    stored = {}
    for file, content in _files():
        for pmid, version, raw in _cut(content):
            if (file, pmid) in wanted:
                stored.setdefault((file, pmid), []).append((version, raw))
    return stored


def raw_golden(row):
    """The raw record that a golden row describes."""
    versions = shared_records() if SHARED_GOLDENS else {}
    found = versions.get((row["file"], row["pmid"])) or fixture_records()[row["pmid"]]
    return dict(found)[row["version"]]


def raw_edges(category):
    """Every raw record, committed or shared, that has the category."""
    raws = [raw for pmid in FIXTURE_EDGES.get(category, ()) for _, raw in fixture_records()[pmid]]
    for row in SHARED_EDGES.get(category, ()):
        raws += [raw for _, raw in shared_records()[row["file"], row["pmid"]]]
    return raws
