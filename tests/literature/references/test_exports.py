"""What databases export is read with all that a review needs; the files are real, see tests/data/exports."""

import csv
import io
from pathlib import Path

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.exports import read_export
from bio_mcp.literature.references.files import decoded

EXPORTS = Path(__file__).parents[2] / "data/exports"
RECORDS = {
    "cochrane.csv": (3, "CENTRAL"),
    "cochrane.ris": (3, "CENTRAL"),
    "embase.csv": (10, "Embase"),
    "embase.ris": (10, "Embase"),
    "pubmed.csv": (10, "PubMed"),
    "scopus.csv": (10, "Scopus"),
    "scopus.ris": (10, "Scopus"),
    "webofscience.ris": (10, "Web of Science"),
}


def export(name, most=100):
    return read_export(decoded((EXPORTS / name).read_bytes()), most)


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_is_read_and_the_data_base_recognised(name):
    found = export(name)
    assert (len(found.works), found.database, found.unreadable) == (*RECORDS[name], 0)
    for each in found.works:
        assert each.title
        assert each.authors
        assert each.year.isdecimal()
        assert each.journal


def test_two_formats_of_one_data_base_say_the_same():
    for table, tagged in (("embase.csv", "embase.ris"), ("cochrane.csv", "cochrane.ris"), ("scopus.csv", "scopus.ris")):
        for one, other in zip(export(table).works, export(tagged).works, strict=True):
            fields = ("title", "year", "volume", "doi", "abstract")
            assert [getattr(one, each) for each in fields] == [getattr(other, each) for each in fields]
            assert len(one.authors) == len(other.authors)
            assert one.pmid == other.pmid or "scopus" in table  # whose RIS has none


@pytest.mark.parametrize("name", ["embase.csv", "scopus.csv", "cochrane.csv", "pubmed.csv"])
def test_a_table_is_read_as_the_csv_module_of_python_reads_its_cells(name):
    lines = decoded((EXPORTS / name).read_bytes()).splitlines(keepends=True)
    start = next(at for at, each in enumerate(lines) if "Title" in each)
    rows = list(csv.DictReader(io.StringIO("".join(lines[start:]))))
    for row, each in zip(rows, export(name).works, strict=True):
        assert each.title == " ".join(row["Title"].split())
        assert each.doi == (row.get("DOI") or "").lower()
        assert each.abstract == " ".join(row.get("Abstract", "").split())
        pmid = row.get("Medline PMID") or row.get("PubMed ID") or row.get("PMID") or ""
        assert each.pmid == pmid.removeprefix("PUBMED ")


def test_the_search_that_embase_writes_above_its_table_is_the_term():
    assert export("embase.csv").term == "dinosaur:ti"


def test_authors_are_parted_whatever_parts_them():
    table = 'Title,Authors\nOne,"Yang Z., Jiang B."\nTwo,"Yang, Z.; Jiang, B."\nThree,"Griffin DK, Larkin DM."\n'
    table += 'Four,"Yang, Z. and Jiang, B."\nFive,"Yang, Zixiao"\nSix,WHO\n'
    assert [each.authors for each in read_export(table, 9).works] == [
        ("Yang Z.", "Jiang B."),
        ("Yang, Z.", "Jiang, B."),
        ("Griffin DK", "Larkin DM"),
        ("Yang, Z.", "Jiang, B."),
        ("Yang, Zixiao",),
        ("WHO",),
    ]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_table_may_be_parted_by_semicolons_or_tabs(separator):
    table = (
        separator.join(["AU", "TI", "SO", "PY", "DI", "PM"])
        + "\n"
        + separator.join(["Doe J", "A title, with a comma", "Lancet", "2020", "10.1000/X", "123"])
    )
    [each] = read_export(table, 9).works
    assert (each.title, each.journal, each.doi, each.pmid) == ("A title, with a comma", "Lancet", "10.1000/x", "123")


def test_what_states_nothing_is_counted_and_too_many_are_refused():
    table = "Title,DOI\nOne,\n,\n ,x\n"
    found = read_export(table, 9)
    assert ([each.title for each in found.works], found.unreadable) == (["One"], 1)
    with pytest.raises(InvalidInput, match="more than 9 references"):
        export("embase.ris", 9)
    with pytest.raises(InvalidInput, match="more than 9 references"):
        export("embase.csv", 9)


@pytest.mark.parametrize("text", ["", "no table at all", "a,b,c\n1,2,3\n", 'Title,DOI\n"' + "x" * 2_000_000, "\0"])
def test_what_is_no_export_is_refused(text):
    with pytest.raises(InvalidInput):
        read_export(text, 9)
