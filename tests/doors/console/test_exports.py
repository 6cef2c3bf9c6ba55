"""Downloads of exported files, from the console and by programs with a token."""

import pytest

from bio_mcp.call import call
from bio_mcp.tools.exports import export_papers
from tests.doors.command_line import sample
from tests.doors.console.pages import browser
from tests.support.corpus import Corpus, Over
from tests.syncing.stored import documents_of

MANY = 210  # papers of two parts


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with Corpus(tmp_path_factory.mktemp("exports")) as made:
        articles = [each for each, _ in zip(sample(), range(MANY), strict=False)]
        made.documents.put(documents_of(*articles))
        made.pmids = [each.pmid for each in articles]
        yield made


@pytest.fixture(scope="module")
def exported(corpus):
    return call(export_papers, {"format": "ris", "pmids": corpus.pmids}, corpus).body


def test_a_file_of_several_parts_is_downloaded_whole_under_its_name(corpus, exported):
    answer = browser(corpus).get(f"/exports/{exported['job_id']}")
    stored = corpus.jobs.get(exported["job_id"]).cursor["file"]
    assert answer.content == corpus.blobs.get(stored)
    assert answer.headers["content-type"].startswith("application/x-research-info-systems")
    assert answer.headers["content-disposition"] == f'attachment; filename="{exported["file"]["name"]}"'
    assert answer.headers["cache-control"] == "no-store"


def test_a_file_that_is_stored_elsewhere_is_downloaded_from_there(corpus, exported):
    blobs = Over(corpus.blobs, link=lambda key, name, _seconds: f"https://files.example.org/{key}?name={name}")
    answer = browser(Over(corpus, blobs=blobs)).get(f"/exports/{exported['job_id']}", follow_redirects=False)
    assert answer.status_code == 302
    assert answer.headers["location"].startswith("https://files.example.org/exports/")


def test_a_part_that_is_gone_breaks_the_download_off(corpus, exported):
    key = corpus.jobs.get(exported["job_id"]).cursor["parts"][1]
    path = corpus.settings.home / "blobs" / key
    content = path.read_bytes()
    path.unlink()
    try:
        with pytest.raises(ConnectionAbortedError):
            browser(corpus).get(f"/exports/{exported['job_id']}")
    finally:
        path.write_bytes(content)
