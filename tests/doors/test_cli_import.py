"""`bio-mcp import`: files in, and what becomes of broken ones."""

import gzip
import lzma
from importlib.resources import files

import pytest

from bio_mcp.doors.cli.collecting import SAMPLE, show_import
from tests.support.nlm_files import serving
from tests.syncing.medline_files import record, write

HEAD, *RECORDS = gzip.decompress((files("bio_mcp") / SAMPLE).read_bytes()).decode().split("<PubmedArticle>")
RECORDS[-1] = RECORDS[-1].partition("</PubmedArticleSet>")[0]


def xml(first, last):
    """An update file of some of the sample's records."""
    return "<PubmedArticle>".join([HEAD, *RECORDS[first:last]]).encode() + b"</PubmedArticleSet>"


@pytest.fixture
def ten(tmp_path):
    path = tmp_path / "ten.xml"
    path.write_bytes(xml(0, 10))
    return path


@pytest.mark.parametrize(
    ("name", "pack"), [("ten.xml", bytes), ("ten.xml.gz", gzip.compress), ("ten.xml.xz", lzma.compress)]
)
def test_files_may_be_packed(cli, tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(xml(0, 10)))
    ran = cli("import", str(tmp_path / name))
    assert ran.code == 0
    assert "The corpus holds 10 papers" in ran.out


def test_a_folder_is_imported_by_workers_and_what_was_finished_is_not_read_again(cli, tmp_path):
    for number in (2, 1):
        write(tmp_path / "in", number, [record(each, version=number) for each in range(1, 40)])
    write(tmp_path / "in", 3, [record(100)], md5_of=b"of another file")
    body = cli("import", "--workers", "2", str(tmp_path / "in"), "--json").json
    assert [(each["file"], each["inserted"], each["updated"]) for each in body["files"]] == [
        ("pubmed26n0001.xml.gz", 39, 0),
        ("pubmed26n0002.xml.gz", 0, 39),
        ("pubmed26n0003.xml.gz", 0, 0),
    ]
    assert (body["documents"], body["died"], body["complete"]) == (39, 0, False)
    ran = cli("import", "--workers", "2", str(tmp_path / "in"))
    assert ran.code == 1
    assert "2 files had been imported before" in ran.out
    assert "pubmed26n0003.xml.gz: Its MD5 is not the one" in ran.err


def test_what_ncbi_publishes_is_fetched_into_the_folder_and_imported(cli, tmp_path):
    for folder, number in (("baseline", 1), ("updatefiles", 2)):
        write(tmp_path / "ncbi" / folder, number, [record(number)])
    with serving(tmp_path / "ncbi") as ncbi:
        cli.ncbi_files = ncbi.url
        body = cli("import", "--fetch", str(tmp_path / "mine"), "--json").json
    assert [each["inserted"] for each in body["files"]] == [1, 1]
    assert cli("import", str(tmp_path / "nowhere")).code == 2
    assert cli("import", "--fetch", str(tmp_path / "one"), str(tmp_path / "two")).code == 2
    assert cli("import", "--fetch", str(tmp_path / "mine" / "baseline/pubmed26n0001.xml.gz")).code == 2
    assert cli("import", "--fetch", "--sample").code == 2


def test_an_odd_record_is_an_error_of_the_run_that_read_its_file_alone(cli, tmp_path):
    write(tmp_path / "in", 1, [record("x"), record(2)])
    first, second = (cli("import", str(tmp_path / "in")) for _ in range(2))
    assert (first.code, second.code) == (1, 0)
    assert "error: pubmed26n0001.xml.gz: record 1: " in first.err
    assert "warning: pubmed26n0001.xml.gz: record 1: " in second.err
    body = cli("import", str(tmp_path / "in"), "--json").json
    assert (body["complete"], body["files"][0]["odd"]) == (True, 1)


def test_a_worker_process_that_died_is_a_warning(capsys):
    show_import({"files": [], "documents": 1, "chunks": 1, "died": 1})
    assert "1 worker process ended early; the papers were embedded again by others." in capsys.readouterr().err


def test_a_sample_that_was_stopped_half_way_is_finished(cli):
    cli.fill(100)
    assert cli("import", "--sample", "--if-empty", "--json").json["documents"] == 350


def test_a_corpus_of_ones_own_is_not_mixed_with_the_sample(cli, ten, tmp_path):
    mine = tmp_path / "mine.xml"
    mine.write_bytes(xml(0, 1).replace(b">17727691</PMID>", b">99</PMID>"))
    cli("import", str(mine))
    assert cli("import", str(ten), "--if-empty").out.startswith("Nothing was imported: the corpus holds 1 paper,")
    assert cli("import", str(ten), "--if-empty", "--json").json["files"] == []


def test_a_cut_file_keeps_what_was_read_and_the_others_go_on(cli, tmp_path, ten):
    cut = tmp_path / "cut.xml.gz"
    whole = gzip.compress(xml(10, 20))
    cut.write_bytes(whole[: len(whole) * 3 // 4])
    last = tmp_path / "last.xml"
    last.write_bytes(xml(20, 25))
    ran = cli("import", str(ten), str(cut), str(last))
    assert ran.code == 1
    assert "error: cut.xml.gz: " in ran.err
    assert ran.err.count("\n") == 1
    body = cli("import", str(ten), str(cut), str(last), "--json").json
    assert [bool(each["problem"]) for each in body["files"]] == [False, True, False]
    assert 15 < body["documents"] < 25
    assert body["documents"] == sum(each["skipped"] for each in body["files"])


@pytest.mark.parametrize("content", [b"", b"not XML at all", b"<html></html>", b"\x1f\x8b\x08 torn"])
def test_a_file_that_is_no_pubmed_xml_is_an_error_that_names_it(cli, tmp_path, content):
    path = tmp_path / "odd.xml"
    path.write_bytes(content)
    ran = cli("import", str(path))
    assert ran.code == 1
    assert ran.err.startswith("error: odd.xml: ")
    assert "Traceback" not in ran.err


def test_a_file_or_the_sample_but_not_both(cli, ten):
    assert cli("import").code == 2
    assert cli("import", "--sample", str(ten)).code == 2
    assert cli("import", "--workers", "0", str(ten)).code == 2


def test_a_bar_shows_records_and_rate_on_a_terminal(cli, ten, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    ran = cli("import", str(ten))
    assert "importing" in ran.err
    assert "10 records" in ran.err
