"""Articles as bytes, and the hash by which a revision is known."""

import gzip
import json
import zlib
from dataclasses import replace
from datetime import date

import pytest
import rfc8785

from bio_mcp.errors import StoreFailed
from bio_mcp.literature import records, serial
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import (
    AbstractSection,
    Article,
    Author,
    Journal,
    MeshHeading,
    PartialDate,
    PublicationType,
    Reference,
    RetractionStatus,
)
from bio_mcp.literature.serial import content_hash
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
            assert serial.dumps(replace(record)) == serial.dumps(record)


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


ARTICLE = Article(
    "384001",
    title="TNF-α in “H₂O”",
    abstract=(AbstractSection("METHODS", "METHODS", "We measured."), AbstractSection(None, None, "It rose.")),
    journal=Journal("Invented Journal", nlm_id="0000001", issn_l="0000-0019", volume="1"),
    publication_types=(PublicationType("D016428", "Journal Article"),),
    publication_date=PartialDate("2021 Jun 7", 2021, 6, 7),
    electronic_date=PartialDate("2021 May 1", 2021, 5, 1),
    edat="2021-05-02T06:00",
    crdt="2021-05-01T06:00",
    doi="10.5555/a",
    pmcid="PMC1",
    pii="S1",
    retraction=RetractionStatus.CLEAR,
)
NEWS = {
    "title": "Another",
    "abstract": ARTICLE.abstract[:1],
    "journal": Journal("Invented Journal", nlm_id="0000002", issn_l="0000-0019", volume="1"),
    "publication_types": (PublicationType("D016441", "Retracted Publication"),),
    "publication_date": PartialDate("2021 Jun 8", 2021, 6, 8),
    "electronic_date": None,
    "edat": "2021-05-03T06:00",
    "crdt": None,
    "pmid": "384002",
    "doi": None,
    "pmcid": "PMC2",
    "pii": None,
    "retraction": RetractionStatus.RETRACTED,
}
NO_NEWS = {
    "mesh": (MeshHeading("D006801", "Humans"),),
    "mhda": "2022-01-01T06:00",
    "date_revised": date(2022, 1, 1),
    "date_completed": date(2022, 1, 1),
    "status": "MEDLINE",
    "pmid_version": 2,
    "references": (Reference("x"),),
    "authors": (Author("New"),),
    "keywords": ("x",),
}

GOLDEN = {
    "399674": "ccc46acdb0f5ca74363a2f713f7ca71da8cb40e60cab021ec69168343ec91895",
    "418372": "1a5b9de84766843fabd06c91b15a3b2a99352195972b1e4ba587aeb11cf6c54b",
    "11279676": "602338b00bb8541efa7b0d8961b7b6668351644ac6792e69a0923c80799b9714",
    "28495875": "1501a05374a62183c647ccf1b1a248c505becf1c44f82dab9c78ba5c9a67dbe1",
    "32490903": "3c716bd01f82cc4c7dc8c74c49a15e7e51caaac2fbde12be2e760faf3852b6ae",
    "34015216": "b393c98fd016e6be6ed976b2e2142f5e5e72fa087f2c13c3fdb0bfdbc8e7d9cf",
    "34096500": "424cc53dcf6b8f142992501fc2753efd594da5f8cdc334af1a04fa031da93082",
}


def test_the_hash_of_an_article_never_moves_within_a_scheme():
    assert serial.SCHEME == 1
    assert content_hash(ARTICLE) == "cc26eb185dbdbca499067001b33714aa45ef65c52912db115fd89b4746690fa9"
    assert content_hash(Article("1")) == "22da34b4b9e493b8058e618a940ceb3d00c5f0ae41d5d880b6c6a84175fd4777"
    found = {r.pmid: content_hash(r) for r in open_records(FIXTURES / "edges.xml.xz") if r.pmid in GOLDEN}
    assert found == GOLDEN


@pytest.mark.parametrize("field", NEWS)
def test_what_a_reader_sees_changes_the_hash(field):
    assert content_hash(replace(ARTICLE, **{field: NEWS[field]})) != content_hash(ARTICLE)


@pytest.mark.parametrize("field", NO_NEWS)
def test_a_re_export_changes_nothing(field):
    assert content_hash(replace(ARTICLE, **{field: NO_NEWS[field]})) == content_hash(ARTICLE)


def test_labels_and_sections_are_content_and_a_normalised_category_is_not():
    relabelled = replace(ARTICLE, abstract=(AbstractSection("RESULTS", "METHODS", "We measured."), ARTICLE.abstract[1]))
    recategorised = replace(ARTICLE, abstract=(AbstractSection("METHODS", None, "We measured."), ARTICLE.abstract[1]))
    assert content_hash(relabelled) != content_hash(ARTICLE)
    assert content_hash(recategorised) == content_hash(ARTICLE)
    one = replace(ARTICLE, abstract=(AbstractSection(None, None, "a b"),))
    two = replace(ARTICLE, abstract=(AbstractSection(None, None, "a"), AbstractSection(None, None, "b")))
    assert content_hash(one) != content_hash(two)


def test_the_canonical_form_is_rfc_8785():
    for record in open_records(FIXTURES / "edges.xml.xz"):
        ours = serial._canonical(record)
        assert ours == rfc8785.dumps(json.loads(ours))


def test_every_character_is_written_as_rfc_8785_has_it():
    characters = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000), 0x10FFFF]))
    ours = serial._canonical(replace(ARTICLE, title=characters))
    assert ours == rfc8785.dumps(json.loads(ours))
    assert json.loads(ours)["title"] == characters
