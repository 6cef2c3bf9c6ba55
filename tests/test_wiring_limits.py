"""What the wiring charges for, and where budgets are."""

from contextlib import closing

import pytest

from bio_mcp.adapters.metered import MeteredEmbeddings, MeteredLanguageModel
from bio_mcp.callers import Caller
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import BudgetSpent
from bio_mcp.scope import Meter
from bio_mcp.settings import Settings
from bio_mcp.wiring.aws import Aws
from bio_mcp.wiring.embedded import Embedded
from tests.support.aws_ports import NOBODY
from tests.support.scopes import metered


@pytest.fixture
def settings(tmp_path, ncbi):
    converter = ncbi.base_url.replace("/entrez/eutils/", "/tools/idconv/api/v1/articles/")
    return Settings(
        home=tmp_path,
        ncbi_base_url=ncbi.base_url,
        ncbi_converter_url=converter,
        caller_budgets=("ncbi=2",),
        llm="openai",
        llm_model="any",
    )


def test_every_request_to_ncbi_is_charged_whichever_service_it_asks(settings, ncbi):
    with closing(Embedded(settings)) as backends, metered(Meter(Caller("ada"), lambda: backends.limits)):
        backends.entrez.check(deadline=Deadline(30))
        backends.lookup.convert(["1"], "pmid", deadline=Deadline(30))
        with pytest.raises(BudgetSpent):
            backends.pubmed.espell("statin", deadline=Deadline(30))
        asked = len(ncbi.control.requests())
    with closing(Embedded(settings)) as again, metered(Meter(Caller("ada"), lambda: again.limits)):
        with pytest.raises(BudgetSpent):
            again.entrez.check(deadline=Deadline(30))  # another process: the budget is the same
        assert len(ncbi.control.requests()) == asked
    with closing(Embedded(settings)) as mine:
        mine.entrez.check(deadline=NEVER)


def test_models_are_charged_for(settings):
    with closing(Embedded(settings)) as backends:
        assert isinstance(backends.embeddings, MeteredEmbeddings)
        assert isinstance(backends.language_model, MeteredLanguageModel)


def test_on_aws_nothing_is_limited_without_a_table_for_it(monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    with closing(Aws(Settings(mode="aws"))) as without, closing(Aws(Settings(mode="aws", table_budgets="b"))) as named:
        assert without.limits is None
        assert named.limits.callers["ncbi"] == 20_000
