"""The bundled sample is what its notice says, and small."""

from collections import Counter
from importlib.resources import files

from bio_mcp.literature.records import Article, RetractionStatus
from tests.doors.command_line import sample

RECORDS = list(sample())
NOTICE = " ".join((files("bio_mcp") / "samples/NOTICE.md").read_text(encoding="utf-8").split())


def test_every_record_is_an_article_and_there_once():
    assert all(isinstance(record, Article) for record in RECORDS)
    assert len({record.pmid for record in RECORDS}) == len(RECORDS)


def test_the_notice_counts_right():
    standing = Counter(record.retraction for record in RECORDS)
    abstracts = [record.abstract for record in RECORDS if record.abstract]
    assert f"{len(RECORDS)} PubMed records" in NOTICE
    assert f"{len(abstracts)} with an abstract" in NOTICE
    assert f"{sum(each[0].label is not None for each in abstracts)} of them structured" in NOTICE
    assert (standing[RetractionStatus.RETRACTED], standing[RetractionStatus.NOTICE]) == (2, 9)
    assert f"{standing[RetractionStatus.CORRECTED]} with a published erratum" in NOTICE


def test_it_is_small():
    assert len((files("bio_mcp") / "samples/pubmed.xml.gz").read_bytes()) < 500_000
