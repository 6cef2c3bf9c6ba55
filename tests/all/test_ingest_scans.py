"""Scans on their way into the graph: recognised by tesseract, read, and written.

It needs tesseract with the packs eng and tha: `make tesseract` installs them on Debian.
"""

import os
from pathlib import Path

import pytest

from bio_mcp.adapters.parsers.isolated import IsolatedParser, Limits
from bio_mcp.deadline import Deadline
from bio_mcp.graph.nodes import Node, NodeType
from tests.adapters.parsers.pages import drawn, scan, typeset
from tests.extracting.herbarium import opened, writes

THAI = Path(__file__).parents[1] / "data/pdf/thai_turmeric.pdf"
ENGLISH = [
    "Results",
    "Testwort is contraindicated in patients with imaginary cough.",
    "Mockroot may interact with placebin, and it is not contraindicated in pregnancy.",
]
TURMERIC = Node("H8", NodeType.HERB, {"th": "ขมิ้นชัน", "en": "Turmeric"})
BLOATING = Node("I8", NodeType.INDICATION, {"th": "ท้องอืด"})


@pytest.fixture
def herbarium(tmp_path):
    parser = IsolatedParser(Limits(1 << 30, 120, 60, 50), tesseract="tesseract", environment=os.environ)
    with opened(tmp_path, parser=parser) as herbarium:
        yield herbarium
    parser.close()


def run(herbarium, **more):
    return herbarium.run(deadline=Deadline(300), **more)


def test_a_scan_is_recognised_and_states_what_stands_on_it(herbarium):
    herbarium.write("scan.pdf", scan(drawn(typeset(ENGLISH))))
    listed = run(herbarium, dry_run=True)
    assert listed.lines[1]["ocr"] is True
    assert writes(run(herbarium)) == writes(listed)
    edge = herbarium.edges["H1", "contraindicated_with", "I1"]
    assert [each.quote for each in edge.evidence] == [ENGLISH[1]]
    assert [each["problem"] for each in listed.lines if "statement" in each] == [None, "the sentence denies something"]


def test_a_thai_scan_states_what_stands_on_it(herbarium):
    herbarium.graph.put([TURMERIC, BLOATING], [])
    herbarium.write("thai.pdf", scan(drawn(THAI.read_bytes())))
    ran = run(herbarium)
    [edge] = [each for each in ran.lines if each.get("write") == "edge"]
    assert (edge["from"], edge["edge"], edge["to"]) == ("H8", "treats", "I8")
