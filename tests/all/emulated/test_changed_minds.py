"""Every parameter of a stack is changed there and back, and what was stored is found again."""

import json
import shutil

import pytest

from scripts import retained
from tests.emulated.build import build
from tests.emulated.cloud import NAME, SAMPLES, cloud
from tests.emulated.stack import resources, until

pytestmark = pytest.mark.timeout(1_200)
ANOTHER = "another"  # an embedding model
KEPT = ("DynamoDB::Table", "S3::Bucket", "SQS::Queue", "Events::EventBus", "IAM::Role", "Lambda::Function")
QUESTION = {"query": "treatment of depression in adults", "top_k": 100, "max_characters": 200_000, "include_weak": True}
CERTIFICATE = "arn:aws:acm:us-east-1:000000000000:certificate/0f1e2d3c"
COLLECTION = {
    "OpenSearchUrl": "https://0123.us-east-1.aoss.amazonaws.com",
    "OpenSearchArn": "arn:aws:aoss:us-east-1:000000000000:collection/0123",
    "OpenSearchService": "aoss",
}
CHANGES = {
    "collection": COLLECTION,
    "issuer": {
        "AuthSecretName": "",
        "AuthJwksUrl": "https://id.example.org/keys",
        "AuthIssuer": "https://id.example.org",
        "GatewayChecksTokens": "on",
    },
    "what people meet": {
        "DomainName": "mcp.example.org",
        "CertificateArn": CERTIFICATE,
        "PublicRead": "on",
        "ListedTools": "all",
        "SnapStart": "off",
        "LanguageModel": "bedrock",
        "LanguageModelId": "eu.amazon.nova-lite-v1:0",
        "AnswerTau": "0.5",
    },
    "what operators meet": {  # but MonthlyBudget: the emulator has no budgets
        "Monitoring": "basic",
        "HeartbeatMinutes": "0",
        "LogRetentionDays": "7",
        "AlarmTopicArn": "arn:aws:sns:us-east-1:000000000000:us",
    },
    "what it works at": {
        "Corpus1Key": "one",
        "Corpus1Term": '"heart failure"[mesh]',
        "Corpus2Key": "two",
        "Corpus2Term": "statins",
        "NightlyNotices": "on",
        "LoadsAtOnce": "2",
        "IngestImageUri": "000000000000.dkr.ecr.us-east-1.amazonaws.com/bio-mcp-ingest:1",
        "IngestBuckets": "theirs",
        "IngestHosts": "example.org",
        "ZoteroLibraryId": "1",
        "ZoteroApiKeyName": "bio-mcp/zotero",
        "DocumentsTableName": "restored",
    },
}


class Changing:
    """A stack that makes its domain, with papers, deployed as `make deploy` does."""

    def __init__(self, up):
        self.up, self.stack = up, up.stack
        self.first = self.domain()
        self.papers = self.synced("1971/02/01", 4)

    def deploy(self, **given):
        open_ones = {
            "IndexTier": "opensearch",
            "OpenSearchUrl": "",
            "OpenSearchDomainName": "",
            "DocumentsTableName": "",
        }
        kept = retained.parameters(open_ones | given, NAME, self.stack.client)
        without_tls = {name: value.replace("https://", "http://") for name, value in kept.items()}
        self.stack = self.up.deploy(NAME, given | without_tls)

    def domain(self):
        return resources(self.stack.client, NAME).get("SearchDomain", ("", ""))[1]

    def domains(self):
        return {each["DomainName"] for each in self.stack.client("opensearch").list_domain_names()["DomainNames"]}

    def kept(self):
        """What stays in the stack; the papers' table is that which functions use, the stack's or a given one."""
        there = resources(self.stack.client, NAME).items()
        function = self.stack.client("lambda").get_function_configuration(FunctionName=f"{NAME}-get_doc")
        papers = function["Environment"]["Variables"]["BIO_MCP_TABLE_DOCUMENTS"]
        kept = {name: each for name, each in there if each[0].removeprefix("AWS::") in KEPT}
        kept.pop("HeartbeatScheduleRole", None)  # it comes and goes with HeartbeatMinutes
        return kept | {"DocumentsTable": papers}

    def synced(self, day, many):
        wanted = set(map(str, self.up.ncbi.control.clone(many, day, first=71_000_000 + 1_000 * int(day[5:7]))))
        arguments = {"query_key": f"day-{day.replace('/', '-')}", "term": f"{day}:{day}[crdt]", "overlap_days": 5}
        done = self.stack.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": arguments})
        assert done["inserted"] == many
        return wanted

    def found(self):
        body = self.stack.invoke("search", {"tool": "rag.search", "arguments": QUESTION})
        return {each["doc_id"].removeprefix("pmid:") for each in body.get("results", ())}

    def finds(self, papers):
        return until(lambda: papers <= self.found(), 120, "hit for each paper")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The packaged model, and one that embeds alike under another name."""
    there = tmp_path_factory.mktemp("models")
    [packaged] = (build().parent / "InferenceLayer/models").iterdir()
    for name in (packaged.name, ANOTHER):
        shutil.copytree(packaged, there / name)
    manifest = there / ANOTHER / "model.json"
    described = json.loads(manifest.read_text())
    described["identity"]["model_id"] = ANOTHER
    manifest.write_text(json.dumps(described))
    return there


@pytest.fixture(scope="module")
def changing(models):
    with cloud(files=SAMPLES[:1], own_domain=True, models=models) as running:
        running.stack.client("dynamodb").create_table(
            TableName="restored",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pmid", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pmid", "KeyType": "HASH"}],
        )
        changing = Changing(running)
        changing.finds(changing.papers)
        yield changing


def test_an_index_that_moved_to_s3_and_back_is_in_the_domain_that_it_left(changing):
    before = changing.kept()
    changing.deploy(IndexTier="s3")
    assert changing.domain() == ""
    assert changing.stack.command("admin", "reindex")["indexed"] == len(changing.papers)
    changing.finds(changing.papers)
    meanwhile = changing.synced("1971/03/01", 2)
    changing.deploy()
    assert (changing.kept(), changing.domains()) == (before, {changing.first})
    changing.finds(changing.papers)
    changing.stack.command("admin", "reindex")
    changing.papers |= meanwhile
    changing.finds(changing.papers)


@pytest.mark.parametrize("change", CHANGES)
def test_a_parameter_is_changed_there_and_back_and_everything_is_found(changing, change):
    before = changing.kept()
    changing.deploy(**CHANGES[change])
    changing.deploy()
    assert changing.kept() == before
    assert changing.first in changing.domains()
    changing.finds(changing.papers)


def test_an_index_of_another_model_is_rebuilt_by_the_functions_model_or_not_at_all(changing, models, monkeypatch):
    changing.deploy(EmbeddingModel=ANOTHER)
    changing.finds(changing.papers)
    refused = changing.stack.command("admin", "reindex", code=1)
    assert ANOTHER in refused["error"]["message"]
    monkeypatch.setenv("BIO_MCP_MODELS", str(models))
    assert changing.stack.command("admin", "reindex")["another_model"]
    changing.finds(changing.papers)
    changing.deploy()
    changing.finds(changing.papers)
    assert changing.stack.command("admin", "reindex")["another_model"]
    changing.finds(changing.papers)
