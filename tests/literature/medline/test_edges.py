"""Real records with every oddity that PubMed's files are known to have read as they did when each was checked by hand.

`edges.json` names the oddities of each. After a change of what a field holds, write the readings anew and look at what
changed: `python -m tests.literature.medline.test_edges`.
"""

import json
import lzma
from dataclasses import asdict

from tests.literature.medline.records import FIXTURES, fixture_records, lines, parsed
from tests.support.cases import case

CATEGORIES = json.loads((FIXTURES / "edges.json").read_text())
READINGS = FIXTURES / "edges.read.jsonl.xz"


def read():
    """What each record reads as, in the file's order."""
    for versions in fixture_records().values():
        for _, raw in versions:
            yield json.loads(json.dumps(asdict(parsed(raw)), default=str))


def test_every_odd_record_reads_as_it_did():
    expected = lines(lzma.decompress(READINGS.read_bytes()))
    found = list(read())
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        with case(f"{one['pmid']}: {[name for name, pmids in CATEGORIES.items() if one['pmid'] in pmids]}"):
            assert one == other


def test_every_oddity_has_a_record():
    assert len(CATEGORIES) >= 169
    assert all(set(pmids) & fixture_records().keys() for pmids in CATEGORIES.values())


if __name__ == "__main__":
    READINGS.write_bytes(lzma.compress("".join(f"{json.dumps(each)}\n" for each in read()).encode(), preset=9))
