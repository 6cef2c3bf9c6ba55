"""The light scan against a full parse of the same bytes, and files as NLM gives them."""

import lzma
from pathlib import Path

import pytest
from lxml import etree

from tests.support.eutils_server.catalogue import Catalogue, copy_of, read_files
from tests.support.eutils_server.fixtures import SAMPLE
from tests.support.eutils_server.records import deletions, read_record, split

EDGES = Path(__file__).parents[2] / "data" / "pubmed" / "edges.xml.xz"
STATUSES = {"entrez": "crdt", "pubmed": "edat", "medline": "mhda"}


def parsed_dates(root):
    """CRDT, EDAT, MHDA, MDAT by a real parser."""
    nodes = {
        STATUSES[node.get("PubStatus")]: node
        for node in reversed(root.findall("*/History/PubMedPubDate"))
        if node.get("PubStatus") in STATUSES
    }
    revised = root.find("*/DateRevised")
    if revised is not None:
        nodes["mdat"] = revised
    dates = {
        kind: f"{node.findtext('Year')}/{int(node.findtext('Month')):02}/{int(node.findtext('Day')):02}"
        for kind, node in nodes.items()
    }
    if "edat" in dates:
        dates.setdefault("mhda", dates["edat"])
    return dates


@pytest.mark.parametrize("path", [SAMPLE, EDGES], ids=lambda path: path.name)
def test_the_scan_reads_what_a_parser_reads(path):
    for xml in read_files(path):
        for element in split(xml):
            record, root = read_record(element), etree.fromstring(element)
            assert record.pmid == int(root.findtext("*/PMID"))
            kinds = ("crdt", "edat", "mhda", "mdat")
            assert {kind: record.dates[kind][0] for kind in kinds if kind in record.dates} == parsed_dates(root)
            ids = root.findall("PubmedData/ArticleIdList/ArticleId") or root.findall("PubmedBookData/*/ArticleId")
            abstract = " ".join("".join(node.itertext()) for node in root.iter("AbstractText"))
            assert record.abstract.split() == abstract.split()
            assert record.own_ids == {node.get("IdType"): node.text or "" for node in ids}


@pytest.mark.parametrize("path", [SAMPLE, EDGES], ids=lambda path: path.name)
def test_every_element_of_a_file_is_found_once(path):
    for xml in read_files(path):
        root = etree.fromstring(xml)
        names = [node.tag for node in root.iter()]
        assert len(list(split(xml))) == names.count("PubmedArticle") + names.count("PubmedBookArticle")


ARTICLE = (
    '<PubmedArticle><MedlineCitation><PMID Version="{version}">7</PMID><Article><ArticleTitle>{title}</ArticleTitle>'
    "</Article></MedlineCitation></PubmedArticle>"
)


def article_set(*inner):
    return f"<PubmedArticleSet>{''.join(inner)}</PubmedArticleSet>".encode()


def test_the_highest_version_is_served_in_any_order_of_arrival():
    catalogue = Catalogue()
    newer, older = ARTICLE.format(version=2, title="new"), ARTICLE.format(version=1, title="old")
    catalogue.load(article_set(newer, older))
    assert catalogue.visible[7].title == "new"


def test_a_delete_citation_removes_its_pmids():
    catalogue = Catalogue()
    catalogue.load(article_set(ARTICLE.format(version=1, title="x")))
    catalogue.load(article_set('<DeleteCitation><PMID Version="1">7</PMID></DeleteCitation>'))
    assert not catalogue.visible


def test_the_deletions_of_the_update_file_are_not_served(sample):
    gone = deletions(next(read_files(SAMPLE)))
    assert gone
    assert not sample.visible.keys() & set(gone)


def test_a_packed_file_reads_as_a_plain_one(tmp_path):
    xml = article_set(ARTICLE.format(version=1, title="x"))
    (tmp_path / "a.xml").write_bytes(xml)
    (tmp_path / "a.xml.xz").write_bytes(lzma.compress(xml))
    assert list(read_files(tmp_path / "a.xml")) == list(read_files(tmp_path / "a.xml.xz")) == [xml]


def test_a_copy_is_a_record_of_its_own(sample):
    real = next(record for record in sample.visible.values() if "doi" in record.own_ids and "mdat" in record.dates)
    copy = copy_of(real, 90_000_001, "2021/06/08")
    etree.fromstring(copy.xml)
    assert copy.pmid == 90_000_001
    assert copy.own_ids["pubmed"] == "90000001"
    assert copy.own_ids["doi"] != real.own_ids["doi"]
    assert {copy.dates[kind] for kind in ("crdt", "edat", "mdat")} == {("2021/06/08",)}


def test_a_record_without_pmid_is_refused():
    with pytest.raises(ValueError, match="without PMID"):
        read_record(b"<PubmedArticle/>")


def test_a_term_is_looked_up_once_until_the_catalogue_changes():
    catalogue = Catalogue([SAMPLE])
    seen = []
    for _ in range(3):
        catalogue.matching("odd", lambda record: seen.append(record.pmid) or record.pmid % 2 == 1)
    assert len(seen) == len(catalogue.visible)
    catalogue.withdraw(list(catalogue.visible)[:1])
    catalogue.matching("odd", lambda record: seen.append(record.pmid) or record.pmid % 2 == 1)
    assert len(seen) == 2 * len(catalogue.visible) + 1
