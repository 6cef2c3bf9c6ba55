"""The bundled sample is what its notice says, and small."""

from collections import Counter
from importlib.resources import as_file, files

from bio_mcp.graph.nodes import Edge
from bio_mcp.ingesting.graph_import import SOURCE, read_items
from bio_mcp.literature.records import Article, RetractionStatus
from tests.doors.command_line import sample

RECORDS = list(sample())
NOTICE = " ".join((files("bio_mcp") / "samples/NOTICE.md").read_text(encoding="utf-8").split())


def test_every_record_is_an_article_and_there_once():
    assert len((files("bio_mcp") / "samples/pubmed.xml.gz").read_bytes()) < 500_000
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


def test_the_graph_is_what_its_notice_says():
    with as_file(files("bio_mcp") / "samples/graph.jsonl.gz") as path:
        items = [item for _, item in read_items(path)]
    count = Counter(getattr(each, "type", None) for each in items)
    assert None not in count
    assert (
        f"{count['herb']} plants, {count['constituent']} compounds and {count['indication']} activities, with "
        f"{count['has_constituent'] + count['acts_on']} edges"
    ) in NOTICE
    assert set(count) == {"herb", "constituent", "indication", "has_constituent", "acts_on"}
    assert path.stat().st_size < 300_000
    assert {source for each in items if isinstance(each, Edge) for source in each.sources} == {SOURCE}
    assert "Alexander Wirth" in NOTICE
    assert "CC BY 4.0" in NOTICE
