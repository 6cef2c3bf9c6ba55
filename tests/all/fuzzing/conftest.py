"""A corpus of its own to be ill-treated, and what none of its answers may tell."""

import shutil

import pytest

from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from tests.support.sample_corpus import ROOT, Corpus, articles
from tests.support.sample_graph import add_graph
from tests.support.sample_job import add_job
from tests.support.sample_project import add_project

DOCUMENTS = ("docs/exports.md", "events/evaluate/questions.jsonl")  # of examples
KEY = "canary0key0of0ncbi0that0no0answer0shows"
SECRETS = (KEY, str(ROOT), "root:x:0", "Traceback (most", "site-packages", "sqlite3.")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    home, documents = tmp_path_factory.mktemp("fuzzed"), tmp_path_factory.mktemp("documents")
    for each in DOCUMENTS:
        (documents / each).parent.mkdir(parents=True)
        shutil.copy(ROOT / each, documents / each)
    made = Corpus(home, articles())
    made.settings = Settings(home=home, ingest_roots=(str(documents),), ncbi_api_key=KEY, caller_budgets=("none",))
    apply_records(made.articles, made)
    add_project(made)
    add_graph(made)
    add_job(made)
    yield made
    made.close()


def told(corpus, text):
    """What of the machine and its secrets stands in a text."""
    return [each for each in (*SECRETS, str(corpus.settings.home), *corpus.settings.ingest_roots) if each in text]
