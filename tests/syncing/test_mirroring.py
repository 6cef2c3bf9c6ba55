"""What NCBI publishes, fetched into a folder, however often that is interrupted."""

import pytest

from bio_mcp.adapters.entrez.files import NcbiFiles
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import NcbiFailed, NcbiUnreadable, StoreFailed
from bio_mcp.syncing.pubmed_files import listed, mirror
from tests.support.nlm_files import serving
from tests.syncing.medline_files import record, write

FIRST, SECOND = "baseline/pubmed26n0001.xml.gz", "updatefiles/pubmed26n0002.xml.gz"


@pytest.fixture
def ncbi(tmp_path):
    for number, folder in enumerate(("baseline", "updatefiles"), 1):
        write(tmp_path / "ncbi" / folder, number, [record(pmid) for pmid in range(1, 30)])
    with serving(tmp_path / "ncbi") as served:
        yield served


@pytest.fixture
def files(ncbi, closed):
    return closed(NcbiFiles(ncbi.url, "bio-mcp", backoff=Backoff(tries=1, first_s=0, cap_s=0)))


def unfinished(_file):
    return False


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fetched(ncbi, name):
    return [start for asked, start in ncbi.asked if asked == name]


def test_a_folder_gets_every_file_with_its_md5_and_no_file_twice(tmp_path, ncbi, files):
    folder, seen = tmp_path / "mine", []
    folder.mkdir()
    for _ in range(2):
        mirror(files, folder, unfinished, lambda *told: seen.append(told))
    assert contents(folder) == contents(tmp_path / "ncbi")
    for file in listed([folder]):
        file.check()
    assert fetched(ncbi, FIRST) == [0]
    assert seen[:2] == [(0, 2, "fetching pubmed26n0001.xml.gz"), (1, 2, "fetching pubmed26n0002.xml.gz")]


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"damaged"), lambda path: path.write_text("no MD5")])
@pytest.mark.parametrize("ending", ["", ".md5"])
def test_what_has_another_md5_than_is_published_is_fetched_again(tmp_path, files, damage, ending):
    folder = tmp_path / "mine"
    mirror(files, folder, unfinished)
    damage(folder / f"{FIRST}{ending}")
    mirror(files, folder, unfinished)
    assert contents(folder) == contents(tmp_path / "ncbi")


def test_what_was_imported_is_not_compared_again(tmp_path, ncbi, files):
    folder = tmp_path / "mine"
    mirror(files, folder, unfinished)
    (folder / f"{FIRST}.md5").write_text("no MD5")
    mirror(files, folder, lambda file: file.path.name == "pubmed26n0001.xml.gz")
    assert fetched(ncbi, FIRST) == fetched(ncbi, SECOND) == [0]


def test_an_interrupted_fetch_goes_on_where_it_ended(tmp_path, ncbi, files):
    folder = tmp_path / "mine"
    folder.mkdir()
    ncbi.cut[SECOND] = 1
    with pytest.raises(NcbiFailed):
        mirror(files, folder, unfinished)
    assert [file.path.name for file in listed([folder])] == ["pubmed26n0001.xml.gz"]
    mirror(files, folder, unfinished)
    assert contents(folder) == contents(tmp_path / "ncbi")
    assert fetched(ncbi, FIRST) == [0]
    first, again = fetched(ncbi, SECOND)
    assert first == 0 < again


def test_a_file_that_comes_damaged_never_takes_its_name(tmp_path, ncbi, files):
    folder = tmp_path / "mine"
    folder.mkdir()
    ncbi.damaged[SECOND] = 2
    with pytest.raises(NcbiUnreadable, match=r"pubmed26n0002\.xml\.gz does not have the MD5"):
        mirror(files, folder, unfinished)
    assert [file.path.name for file in listed([folder])] == ["pubmed26n0001.xml.gz"]


def test_a_file_that_cannot_be_written_is_a_failure_that_says_why(tmp_path, files):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "baseline").write_text("in the way")
    with pytest.raises(StoreFailed, match=r"pubmed26n0001\.xml\.gz could not be written \(File exists\)"):
        mirror(files, folder, unfinished)
