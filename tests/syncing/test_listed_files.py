"""Which files a folder has, in which order they apply, and whether they are whole."""

import os

import pytest

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.syncing.pubmed_files import ListedFile, listed


def names(*paths):
    return [file.path.name for file in listed(paths)]


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")


def test_nlms_files_come_by_year_and_number_and_others_as_they_are_given(tmp_path):
    make(tmp_path, "new/pubmed26n1500.xml.gz", "old/pubmed26n0002.xml", "old/pubmed25n9999.xml.gz", "b.xml", "a.xml")
    given = [tmp_path / "b.xml", tmp_path / "new", tmp_path / "a.xml", tmp_path / "old"]
    numbered = ["pubmed25n9999.xml.gz", "pubmed26n0002.xml", "pubmed26n1500.xml.gz"]
    assert names(*given) == [*numbered, "b.xml", "a.xml"]


def test_a_folder_has_the_files_below_it_whose_endings_are_those_of_pubmed_xml(tmp_path):
    wanted = ["a.xml", "b.xml.gz", "c.xml.xz"]
    make(tmp_path, *wanted, "d.xml.gz.md5", ".e.xml", "f.xml.gz.part", "README.txt", "below/pubmed26n0001.xml.gz")
    assert names(tmp_path) == ["pubmed26n0001.xml.gz", *wanted]


def test_a_file_that_is_named_and_found_is_there_once_and_counts_as_named(tmp_path):
    make(tmp_path, "a.xml", "b.xml")
    for paths in ([tmp_path, tmp_path / "a.xml"], [tmp_path / "a.xml", tmp_path]):
        assert {file.path.name: file.named for file in listed(paths)} == {"a.xml": True, "b.xml": False}


def test_a_folder_without_files_of_pubmed_is_an_error_that_names_it(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"The folder empty has no file of PubMed XML: \.xml"):
        listed([tmp_path / "empty"])


def test_a_folder_below_that_cannot_be_read_is_an_error_and_not_passed_over(tmp_path):
    make(tmp_path, "a.xml")
    below = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # a path that is too long; who tests as root may read any other
        os.mkdir("d" * 250, dir_fd=below)
        above, below = below, os.open("d" * 250, os.O_RDONLY, dir_fd=below)
        os.close(above)
    os.close(below)
    with pytest.raises(InvalidInput, match=r"The folder d+ cannot be read"):
        listed([tmp_path])


@pytest.mark.parametrize("target", ["nowhere.xml", "a.xml"])
def test_a_link_to_a_file_that_is_not_there_is_reported_with_the_files(tmp_path, target):
    (tmp_path / "a.xml").symlink_to(target)
    [file] = listed([tmp_path])
    with pytest.raises(InvalidInput, match="cannot be read"):
        file.check()


@pytest.mark.parametrize("written", ["MD5(a.xml)= {}\n", "{}  a.xml\n", "{}"])
def test_a_file_is_compared_with_the_md5_beside_it(tmp_path, written):
    path = tmp_path / "a.xml"
    path.write_bytes(b"x")
    ListedFile(path).check()
    beside = tmp_path / "a.xml.md5"
    beside.write_text(written.format("9DD4E461268C8034F5C8564E155C67A6"))
    ListedFile(path).check()
    path.write_bytes(b"y")
    with pytest.raises(NcbiUnreadable, match=r"not the one in a\.xml\.md5"):
        ListedFile(path).check()
    beside.write_text("404 Not Found")
    with pytest.raises(NcbiUnreadable, match=r"a\.xml\.md5 has no MD5"):
        ListedFile(path).check()


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path):
    missing = ListedFile(tmp_path / "a.xml")
    assert missing.size == 0
    with pytest.raises(InvalidInput, match="cannot be read"):
        missing.check()
