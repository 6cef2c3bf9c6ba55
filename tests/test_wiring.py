"""The composition root: each mode gives every port, makes it once, and reads secrets where they are kept."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from moto import mock_aws

from bio_mcp import errors, wiring
from bio_mcp.adapters.aws.inspection import KEYS
from bio_mcp.adapters.metered import MeteredEmbeddings, MeteredLanguageModel
from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
from bio_mcp.adapters.opensearch.passages import OpenSearchIndexes
from bio_mcp.call import call, envelope
from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import BudgetSpent, Misconfigured
from bio_mcp.ports import Backends
from bio_mcp.ports import port as declared_port
from bio_mcp.scope import Meter
from bio_mcp.settings import Settings
from bio_mcp.wiring.aws import Aws
from bio_mcp.wiring.embedded import Embedded
from bio_mcp.wiring.mode import load, secret_of
from scripts.template.functions import declared
from tests.support.aws_ports import MotoPorts, client
from tests.support.scopes import metered

ROOT = Path(__file__).parents[1]
NAMED = {
    "mode": "aws",
    **{f"table_{name}": name for name in KEYS},
    "queue_url": "https://sqs.us-east-1.amazonaws.com/123456789012/work",
    "bucket": "bucket",
    "event_bus": "bus",
    "opensearch_url": "http://127.0.0.1:9",
    "opensearch_service": "none",
    "zotero_library_id": "475425",
    "sources_email": "somebody@example.org",
}
STORED = "documents checkpoints news jobs leases audit answers screenings calls graph projects project_documents"
PORTS = {
    **{port: f"table_{port}" for port in STORED.split()},
    **dict.fromkeys(("indexes", "collections"), "opensearch_url"),
    **dict.fromkeys(("entrez", "metrics", "open_access"), "table_pace"),
    **dict.fromkeys(("pubmed", "lookup", "notices", "europe_pmc"), "table_cache"),
    "continuations": "queue_url",
    "announcements": "event_bus",
    "blobs": "bucket",
}
"""Port -> a setting without which it cannot be made."""
ANYWHERE = (
    "passages", "embeddings", "models", "language_model", "reranker", "parser", "sources", "zotero",
    "chunk_namespace", "answer_tau", "sync_max_records", "pubmed_files", "workers", "scratch", "checks", "upstreams",
)  # fmt: skip
"""Those that need no service of AWS."""


pytestmark = pytest.mark.usefixtures("nobody")


def test_a_mode_whose_library_is_not_installed_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(Misconfigured, match="takes boto3; install the extra aws"):
        wiring.MODES["aws"](Settings(**NAMED))


def test_a_search_without_opensearch_py_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opensearchpy", None)
    with pytest.raises(Misconfigured, match="takes opensearch-py; install the extra aws"):
        Aws(Settings(**NAMED)).indexes  # noqa: B018  it is made when it is asked for


def test_an_index_has_shards_and_vectors_as_set_and_serverless_has_vectors_in_float_alone():
    with closing(Aws(Settings(**NAMED, opensearch_shards=4, opensearch_vectors="byte"))) as backends:
        layout = backends.indexes.live.alias.layout
    assert (layout.shards, layout.contents.vectors) == (4, "byte")
    with pytest.raises(Misconfigured, match="float alone"):
        Aws(Settings(**{**NAMED, "opensearch_service": "aoss", "opensearch_vectors": "paper"})).indexes  # noqa: B018


def test_every_port_of_the_backends_is_tested_here():
    given = {name for name, each in vars(Backends).items() if isinstance(each, declared_port)}
    assert given == {*PORTS, *ANYWHERE}


@pytest.mark.parametrize("mode", ["embedded", "aws"])
def test_every_port_is_made_once(tmp_path, mode):
    with closing(wiring.MODES[mode](Settings(**{**NAMED, "mode": mode, "home": tmp_path}))) as backends:
        for port in {*PORTS, *ANYWHERE, "indexes"} - {"passages"}:  # which are looked up by each call
            assert getattr(backends, port) is getattr(backends, port)


def test_threads_that_ask_at_once_are_given_the_same_port(tmp_path):
    with closing(Embedded(Settings(home=tmp_path))) as backends, ThreadPoolExecutor(8) as threads:
        given = list(threads.map(lambda _: id(backends.documents), range(32)))
    assert len(set(given)) == 1


@pytest.mark.parametrize("port", PORTS)
def test_a_port_whose_setting_is_missing_names_it(port):
    backends = Aws(Settings(**{**NAMED, PORTS[port]: ""}))
    with closing(backends), pytest.raises(Misconfigured, match=f"BIO_MCP_{PORTS[port].upper()} is not set; mode aws"):
        getattr(backends, port)


def test_without_a_cache_pubmed_is_asked_each_time():
    backends = Aws(Settings(**{**NAMED, "table_cache": "", "cache": "off"}))
    assert backends.pubmed is backends.entrez
    backends.close()


def test_nothing_heavy_is_loaded_before_a_port_is_used_and_then_neither_model_nor_parser_for_watermarks():
    shown = (
        "print([name for name in ('botocore', 'onnxruntime', 'tokenizers', 'httpx', 'lxml') if name in sys.modules])"
    )
    program = [
        "import sys",
        "from bio_mcp.settings import Settings",
        "from bio_mcp.wiring import MODES",
        f"backends = MODES['aws'](Settings(**{NAMED!r}))",
        shown,
        "backends.checkpoints, backends.jobs, backends.leases, backends.audit",
        shown,
    ]
    command = [sys.executable, "-c", "\n".join(program)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["[]", "['botocore']"]


def test_a_key_that_is_given_is_the_key_and_none_is_none():
    assert (secret_of(""), secret_of("abc")()) == (None, "abc")


@pytest.mark.parametrize("store", ["secretsmanager", "ssm"])
def test_a_key_that_aws_keeps_is_read_when_it_is_used(store):
    key = secret_of(f"{store}:ncbi")
    with mock_aws():
        if store == "ssm":
            client("ssm").put_parameter(Name="ncbi", Value="abc", Type="SecureString")
        else:
            client("secretsmanager").create_secret(Name="ncbi", SecretString="abc")
        assert key() == "abc"
    assert key() == "abc"  # kept for a while


@pytest.mark.parametrize("dialect", [errors.BIO_MCP, errors.PUBMED, errors.TTM])
def test_a_mistake_of_the_operator_is_never_called_one_of_the_caller(dialect):
    body = envelope(Misconfigured("BIO_MCP_OPENSEARCH_URL is not set"), dialect)
    assert body["error"]["code"] == "UNKNOWN"
    assert body["error"]["details"]["retryable"] is False


def test_a_tool_whose_function_lacks_a_setting_says_so_and_not_that_its_arguments_are_wrong():
    backends = Aws(Settings(**{**NAMED, "table_documents": ""}))
    outcome = call(TOOLS["rag.get"], {"doc_id": "pmid:384001"}, backends)
    backends.close()
    assert isinstance(outcome.failure, Misconfigured)
    assert outcome.body["error"]["code"] == "UNKNOWN"
    assert "BIO_MCP_TABLE_DOCUMENTS is not set" in outcome.body["error"]["message"]


def test_an_embedded_corpus_has_its_index_where_the_settings_name_one(tmp_path):
    named = Settings(home=tmp_path, opensearch_url="http://127.0.0.1:9", opensearch_service="none")
    with closing(Embedded(named)) as backends:
        assert isinstance(backends.indexes, OpenSearchIndexes)
        assert isinstance(backends.collections, OpenSearchCollections)
        with backends.scratch("set") as scratch:
            assert not isinstance(scratch.indexes, OpenSearchIndexes)  # what is evaluated is thrown away


IN_S3 = {**NAMED, "index_tier": "s3", "opensearch_url": ""}


@pytest.mark.parametrize("port", ["indexes", "collections"])
def test_an_index_in_s3_takes_a_bucket_and_no_opensearch(port):
    with closing(Aws(Settings(**IN_S3))) as backends:
        assert "opensearch" not in type(getattr(backends, port)).__module__
    nowhere = Aws(Settings(**{**IN_S3, "bucket": ""}))
    with closing(nowhere), pytest.raises(Misconfigured, match="BIO_MCP_BUCKET is not set"):
        getattr(nowhere, port)


def test_what_was_downloaded_of_an_index_in_s3_is_deleted_at_the_end():
    with mock_aws(), closing(Aws(Settings(**IN_S3))) as backends:
        client("s3").create_bucket(Bucket="bucket")
        assert backends.passages.count() == (0, 0)
        copies = backends.copies
        assert list(copies.glob("corpus-*/corpus.sqlite3"))
    assert not copies.exists()


def test_what_a_table_names_is_there():
    source = "".join(path.read_text() for path in (ROOT / "layers/common/bio_mcp/wiring").glob("*.py"))
    named = re.findall(r'"(bio_mcp\.[\w.]+:\w+)"', source)
    assert len(named) > 40
    assert all(callable(load(each)) for each in named)


QUEUED = {name: each.lambda_module for name, each in TOOLS.items() if declared(each.lambda_module).get("queue")}


@pytest.fixture
def ports(closed):
    return closed(MotoPorts())


@pytest.mark.parametrize("tool", QUEUED)
def test_what_an_operator_leaves_to_the_stack_reaches_the_function_that_has_the_tool(tool, ports):
    urls = ports.queues
    named = {"ingest_queue_url": urls["IngestQueue"], "evaluate_queue_url": urls["EvaluateQueue"]}
    named |= {"export_queue_url": urls["ExportQueue"]}
    backends = Aws(Settings(mode="aws", queue_url=urls["WorkQueue"], **named))
    backends.continuations.send({"tool": tool, "arguments": {}})
    backends.close()
    url = urls[declared(QUEUED[tool])["queue"]]
    [message] = client("sqs").receive_message(QueueUrl=url)["Messages"]
    assert json.loads(message["Body"])["tool"] == tool


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


def test_on_aws_nothing_is_limited_without_a_table_for_it():
    with closing(Aws(Settings(mode="aws"))) as without, closing(Aws(Settings(mode="aws", table_budgets="b"))) as named:
        assert without.limits is None
        assert named.limits.callers["ncbi"] == 20_000
