"""The second index, as the settings name its model."""

from contextlib import closing
from types import SimpleNamespace

import pytest

from bio_mcp.errors import EmbeddingFailed, Misconfigured
from bio_mcp.health import OK, WARN
from bio_mcp.settings import Settings
from bio_mcp.wiring.aws import Aws
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.embedding import multilingual_checks
from tests.test_wiring import NAMED


def test_there_is_none_unless_a_model_is_named(tmp_path):
    with closing(Embedded(Settings(home=tmp_path))) as backends:
        assert backends.multilingual is None
        assert multilingual_checks(backends, backends.settings) == []


def test_a_model_that_is_not_installed_says_how_to_install_it(tmp_path):
    settings = Settings(home=tmp_path, models=tmp_path, multilingual="multilingual-e5-small")
    with (
        closing(Embedded(settings)) as backends,
        pytest.raises(EmbeddingFailed, match="setup --multilingual"),
    ):
        backends.multilingual  # noqa: B018  it is made when it is asked for


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "openai:"])
def test_what_is_no_name_of_a_model_is_refused(tmp_path, name):
    with closing(Embedded(Settings(home=tmp_path, models=tmp_path, multilingual=name))) as backends:
        with pytest.raises((Misconfigured, EmbeddingFailed)) as failed:
            backends.multilingual  # noqa: B018
        assert str(tmp_path) not in str(failed.value)


def test_an_endpoint_may_give_the_vectors_into_a_file_of_its_own(tmp_path):
    with closing(Embedded(Settings(home=tmp_path, multilingual="openai:multi"))) as backends:
        assert backends.multilingual.count() == 0
        assert (tmp_path / "multilingual/corpus.sqlite3").exists()


def test_on_aws_the_index_has_a_name_that_the_policies_of_the_corpus_allow():
    backends = Aws(Settings(**NAMED, multilingual="openai:multi"))
    assert backends.multilingual.passages.alias.name == "pubmed_chunk-multilingual"
    backends.close()


@pytest.mark.parametrize(("there", "state", "says"), [(3, OK, "3 papers by x"), (2, WARN, "2 of 3 papers")])
def test_doctor_says_what_it_lacks(there, state, says):
    backends = SimpleNamespace(
        multilingual=SimpleNamespace(count=lambda: there), documents=SimpleNamespace(count=lambda: 3)
    )
    [finding] = multilingual_checks(backends, Settings(multilingual="x"))
    assert (finding.state, finding.found, finding.check) == (state, says, "multilingual index")
