"""NCBI's files over HTTP: lists, MD5s, and downloads that break off."""

import httpx
import pytest

from bio_mcp.adapters.entrez.files import NcbiFiles
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, NcbiFailed, NcbiUnreadable
from bio_mcp.scope import bounded_by
from bio_mcp.syncing.pubmed_files import fetch
from tests.support.nlm_files import history, listing, real_records, serving, write

QUICKLY = Backoff(tries=3, first_s=0, cap_s=0)
ADDRESS = "baseline/pubmed26n0001.xml.gz"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    files = history(real_records(4), 1, baseline=3, updates=1)
    return write(files, tmp_path_factory.mktemp("nlm"), baseline=3)


@pytest.fixture
def served(folders):
    with serving(folders) as running:
        yield running


@pytest.fixture
def published(served, closed):
    return closed(NcbiFiles(served.url, "bio-mcp", backoff=QUICKLY))


@pytest.fixture
def whole(folders):
    return (folders / ADDRESS).read_bytes()


def test_baseline_and_update_files_are_listed_in_the_order_in_which_they_hold(published):
    baseline = [f"baseline/pubmed26n000{number}.xml.gz" for number in (1, 2, 3)]
    assert published.addresses() == [*baseline, "updatefiles/pubmed26n0004.xml.gz"]


def test_a_download_that_breaks_off_goes_on_where_it_ended(published, served, whole, tmp_path):
    served.cut[ADDRESS] = 2
    fetch(ADDRESS, published, tmp_path / "file")
    assert [start for path, start in served.asked if path == ADDRESS] == [0, len(whole) // 2, len(whole) * 3 // 4]
    assert (tmp_path / "file").read_bytes() == whole


def test_a_part_that_is_whole_already_is_not_fetched_again(published, served, whole, tmp_path):
    (tmp_path / "file.part").write_bytes(whole)
    fetch(ADDRESS, published, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == whole


def test_a_busy_server_is_asked_again_and_one_that_stays_so_has_failed(published, served, tmp_path):
    served.busy[ADDRESS] = 2
    published.download(ADDRESS, tmp_path / "file")
    served.busy["baseline/"] = 9
    with pytest.raises(NcbiFailed, match="status 503"):
        published.addresses()


def test_a_file_that_is_not_there_is_asked_for_once(published, served, tmp_path):
    with pytest.raises(NcbiFailed, match="status 404") as raised:
        published.download("baseline/nothing", tmp_path / "file")
    assert not raised.value.retryable
    assert len(served.asked) == 1


@pytest.mark.parametrize("said", [b"", b"<html>Sorry</html>"])
def test_an_md5_that_is_none_is_no_md5(said, closed):
    answers = httpx.MockTransport(lambda _: httpx.Response(200, content=said))
    published = closed(NcbiFiles("https://ncbi.example/", "bio-mcp", transport=answers, backoff=QUICKLY))
    with pytest.raises(NcbiUnreadable, match="an MD5 that is none") as raised:
        published.md5(ADDRESS)
    assert raised.value.retryable


@pytest.mark.parametrize("name", ["../../etc/passwd", "pubmed26n0001.xml.gz/../x", "pubmed26n0001.html", "https://x/y"])
def test_a_link_to_anything_else_is_no_file(name, published, served):
    served.pages["updatefiles/"] = f'<title>Index of /pubmed/updatefiles</title><a href="{name}">x</a>'
    assert {each.partition("/")[0] for each in published.addresses()} == {"baseline"}


@pytest.mark.parametrize("folder", ["baseline", "updatefiles"])
@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<html><title>NCBI - Scheduled\n maintenance</title>Sorry.</html>", "title 'NCBI - Scheduled maintenance'"),
        ('<p>Sorry. <a href="help.html">Help</a></p>', "a page without a title"),
        ("", "a page without a title"),
    ],
)
def test_a_page_that_is_no_list_of_files_is_no_empty_list(page, found, folder, published, served):
    served.pages[f"{folder}/"] = page
    with pytest.raises(
        NcbiUnreadable, match=rf"list of {folder} files names none: 127\.0\.0\.1 answered .*{found}"
    ) as raised:
        published.addresses()
    assert raised.value.retryable


def test_in_the_days_after_a_new_baseline_there_may_be_no_update_file(published, served, tmp_path):
    served.pages["updatefiles/"] = listing("updatefiles/", tmp_path / "empty")
    assert [each.partition("/")[0] for each in published.addresses()] == ["baseline"] * 3


def test_there_is_always_a_baseline(published, served, tmp_path):
    served.pages["baseline/"] = listing("baseline/", tmp_path / "empty")
    with pytest.raises(NcbiUnreadable, match="'Index of /pubmed/baseline'"):
        published.addresses()


def test_an_answer_of_the_whole_file_to_a_question_for_its_end_takes_the_place_of_what_there_was(closed, tmp_path):
    (tmp_path / "file").write_bytes(b"half")
    answers = httpx.MockTransport(lambda _: httpx.Response(200, content=b"whole"))
    closed(NcbiFiles("https://ncbi.example/", "bio-mcp", transport=answers)).download(ADDRESS, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_a_redirection_is_not_followed_and_no_download_outlasts_the_call(closed, published, tmp_path):
    answers = httpx.MockTransport(lambda _: httpx.Response(302, headers={"location": "http://169.254.169.254/"}))
    redirected = closed(NcbiFiles("https://ncbi.example/", "bio-mcp", transport=answers, backoff=QUICKLY))
    with pytest.raises(NcbiFailed, match="status 302"):
        redirected.addresses()
    with bounded_by(Deadline(0)), pytest.raises(DeadlineExceeded):
        published.download(ADDRESS, tmp_path / "file")


@pytest.mark.parametrize("url", ["ftp://ftp.ncbi.nlm.nih.gov/pubmed/", "nowhere", ""])
def test_an_address_that_is_not_http_is_the_operators_mistake(url, closed):
    with pytest.raises(Misconfigured, match="NCBI_FILES_URL"):
        closed(NcbiFiles(url, "bio-mcp")).addresses()
