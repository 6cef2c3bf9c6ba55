"""exportPapers and whatsNew over the stores of AWS, in memory: the same files and news as on a laptop."""

from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import islice
from urllib.parse import urlsplit

import pytest

from bio_mcp.call import read
from bio_mcp.ports.state import Found
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.exports import export_details
from tests.doors.command_line import sample
from tests.support.aws_corpus import AwsCorpus
from tests.support.aws_ports import NOBODY, MotoPorts
from tests.support.corpus import Corpus, Over
from tests.tools.test_exports import exported, text_of

DAY = date(2026, 1, 1)
CAME = datetime(2025, 12, 20, tzinfo=UTC)
FEW = 12
CHANGED = "Another title."


def records():
    return list(islice(sample(), FEW))


def fill(corpus):
    """A followed query with news of each kind."""
    articles = records()
    apply_records(articles, corpus)
    corpus.checkpoints.advance("k", "t", None, {"edat": "2025-12-31"})
    corpus.news.find("k", [Found(each.pmid, 1, CAME) for each in articles])
    corpus.news.set_whole("k")
    apply_records([replace(articles[0], title=CHANGED, pmid_version=9)], corpus)
    return corpus


@pytest.fixture(scope="module")
def aws():
    with pytest.MonkeyPatch.context() as environment:
        for name, value in NOBODY.items():
            environment.setenv(name, value)
        clock = Clock()
        made = MotoPorts(clock)
        corpus = AwsCorpus(made, "http://127.0.0.1:9/", DAY)
        filled = fill(Over(corpus, news=made.news))
        clock.now += 60  # after which all that was recorded is given
        yield filled
        corpus.close()
        made.close()


class Clock:
    """Seconds that pass when a test says so."""

    now = 1_767_225_600.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def laptop(tmp_path_factory):
    with Corpus(tmp_path_factory.mktemp("laptop"), day=DAY) as made:
        yield fill(made)


def query_exported(corpus, **arguments):
    return exported(corpus, query_key="k", **arguments)


@pytest.mark.parametrize("name", ["ris", "csv", "nbib"])
def test_a_query_is_exported_as_the_same_file(aws, laptop, name):
    there, here = query_exported(aws, format=name), query_exported(laptop, format=name)
    assert (there["state"], there["papers"]) == ("complete", FEW)
    assert text_of(aws, there) == text_of(laptop, here)
    assert there["file"]["bytes"] == here["file"]["bytes"]


def test_the_file_has_an_address_and_later_another(aws):
    body = query_exported(aws)
    details = read(export_details, {"id": body["job_id"]}, aws).body
    for given in (body["file"], details):
        address = urlsplit(given["url"])
        assert "/exports/" in address.path
        assert body["file"]["name"] in address.query
    assert details["uri"] == body["file"]["uri"]
