"""Articles in a store: nothing is lost, and what cannot be read says so."""

import gzip
import zlib
from dataclasses import replace
from datetime import date

import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.literature import records, serial
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article
from tests.literature.medline.records import FIXTURES

FILES = [
    FIXTURES / "quick600.dev.xml.gz",
    FIXTURES / "edges.xml.xz",
    *sorted((FIXTURES / "handwritten").glob("*.xml")),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_real_article_comes_back_equal(path):
    for record in open_records(path):
        if isinstance(record, Article):
            assert serial.loads(serial.dumps(record)) == record


def test_the_same_article_gives_the_same_bytes():
    article = Article("1", title="T")
    assert serial.dumps(article) == serial.dumps(replace(article))


def test_an_article_that_an_earlier_version_stored_is_read():
    rows = (
        '["384001",1,"MEDLINE","TNF-α",null,[["METHODS",null,"We measured."]],[],null,[["Doe","J",null,null,null,null,'
        '["Here"]]],true,[],["Journal",null,null,"0000001"],null,null,["eng"],[["D016428","Journal Article"]],'
        '[["D006801","Humans",false,[["Q000009","x",true]]]],[],[],[],[],[["A citation",null,"10.5555/a"]],[],null,'
        'null,null,["2021 Jun 7",2021,6,7],null,"2021-05-02T06:00",null,null,"2021-06-08",null,"clear"]'
    )
    assert serial.loads(b"\x01" + zlib.compress(rows.encode(), 3)) == Article(
        "384001",
        status="MEDLINE",
        title="TNF-α",
        abstract=(records.AbstractSection("METHODS", None, "We measured."),),
        authors=(records.Author("Doe", "J", affiliations=("Here",)),),
        journal=records.Journal("Journal", nlm_id="0000001"),
        languages=("eng",),
        publication_types=(records.PublicationType("D016428", "Journal Article"),),
        mesh=(records.MeshHeading("D006801", "Humans", False, (records.MeshQualifier("Q000009", "x", True),)),),
        references=(records.Reference("A citation", doi="10.5555/a"),),
        publication_date=records.PartialDate("2021 Jun 7", 2021, 6, 7),
        edat="2021-05-02T06:00",
        date_revised=date(2021, 6, 8),
        retraction=records.RetractionStatus.CLEAR,
    )


@pytest.mark.parametrize(
    "blob",
    [
        b"", b"\x00", b"\x02" + zlib.compress(b"[]"), b"\x01", b"\x01not zlib", b"\x01" + zlib.compress(b"[]"),
        b"\x01" + zlib.compress(b"{"), b"\x01" + zlib.compress(b"3"), b"\x01" + zlib.compress(b'["1",2,3,4,5,6,7]'),
        gzip.compress(b"[]", mtime=0), serial.dumps(Article("1", title="x" * 99))[:-3],
    ],
)  # fmt: skip
def test_bytes_that_are_no_article_are_refused(blob):
    with pytest.raises(StoreFailed) as refused:
        serial.loads(blob)
    assert not refused.value.retryable
