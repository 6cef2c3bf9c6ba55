"""Every parameter of a stack is changed there and back, and what was stored is found again."""

import json
import shutil

import pytest

from scripts import retained
from tests.all.emulated.conftest import LEFT_OPEN, synced
from tests.emulated.build import build
from tests.emulated.cloud import NAME, SAMPLES, cloud
from tests.emulated.stack import resources, until
from tests.support.aws_registry import schema
from tests.support.aws_template import FUNCTION, LAYER, RESOURCES, TEMPLATE, rendered

pytestmark = pytest.mark.timeout(1_200)
ANOTHER = "another"  # an embedding model
KEPT = ("DynamoDB::Table", "S3::Bucket", "SQS::Queue", "Events::EventBus", "IAM::Role", "Lambda::Function")
QUESTION = {"query": "treatment of depression in adults", "top_k": 100, "max_characters": 200_000, "include_weak": True}
KEY = "arn:aws:kms:us-east-1:000000000000:key/0f1e2d3c"
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
        "LanguageModelGuardrail": "a1b2:DRAFT",
        "AnswerTau": "0.5",
        "AuthAudience": "https://mcp.example.org/mcp",
        "AllowedOrigins": "https://example.org",
        "AllowedHosts": "mcp.example.org",
        "EdgeDomainName": "edge.example.org",
        "CallerBudgets": "calls=7",
        "TenantBudgets": "none",
        "AddressBudgets": "none",
        "CallsPerSecond": "7",
        "CallsAtOnce": "14",
    },
    "an identity provider": {
        "AuthScopes": "bio:read",
        "IdpIssuer": "https://id.example.org",
        "IdpJwksUrl": "https://id.example.org/keys",
        "IdpSubjectClaim": "oid",
        "IdpTenantClaim": "department",
        "IdpScopes": "read",
    },
    "secrets": {"SecretStore": "ssm", "SecretKmsKeyArn": KEY, "NcbiApiKeyName": ""},
    "what operators meet": {
        "Monitoring": "basic",
        "HeartbeatMinutes": "0",
        "LogRetentionDays": "7",
        "AlarmTopicArn": "arn:aws:sns:us-east-1:000000000000:us",
        "TraceCalls": "off",
    },
    "what it works at": {
        "Corpus1Key": "one",
        "Corpus1Term": '"heart failure"[mesh]',
        "Corpus2Key": "two",
        "Corpus2Term": "statins",
        "Corpus3Key": "three",
        "Corpus3Term": "aspirin",
        "SyncSchedule": "cron(1 2 * * ? *)",
        "SyncAgeHours": "48",
        "SyncMaxRecords": "100",
        "NcbiAdminEmail": "other@example.org",
        "NcbiBaseUrl": "https://ncbi.example.org/",
        "NcbiIdConverterUrl": "https://ncbi.example.org/ids/",
        "NcbiFilesUrl": "https://ncbi.example.org/files/",
        "LiteratureSources": "crossref",
        "LiteratureSourcesEmail": "other@example.org",
        "NightlyNotices": "on",
        "LoadsAtOnce": "2",
        "IngestImageUri": "000000000000.dkr.ecr.us-east-1.amazonaws.com/bio-mcp-ingest:1",
        "IngestBuckets": "theirs",
        "IngestHosts": "example.org",
        "ZoteroLibraryId": "1",
        "ZoteroLibraryType": "group",
        "ZoteroApiKeyName": "bio-mcp/zotero",
        "DocumentsTableName": "restored",
    },
    "another index": {"OpenSearchIndex": "another", "OpenSearchShards": "2", "OpenSearchVectors": "byte"},
    "roles": {"PermissionsBoundaryArn": "arn:aws:iam::000000000000:policy/boundary", "RolePath": "/research/"},
    "a key": {"KmsKeyArn": KEY},
    "a network": {
        "SubnetIds": "subnet-1",
        "SecurityGroupIds": "sg-1",
        "VpcEndpoints": "on",
        "VpcId": "vpc-1",
        "RouteTableIds": "rtb-1",
    },
}
DOMAIN = {
    "OpenSearchInstanceType": "t3.small.search",
    "OpenSearchInstances": "2",
    "OpenSearchVolumeGiB": "30",
    "OperatorArn": "arn:aws:iam::000000000000:role/operator",
}
IN_S3 = {"IndexTier": "s3", "IndexLimitMB": "400", "IndexStorageMiB": "1200"}
ELSEWHERE = {
    "OpenSearchDomainName": "test_retained.py, by the template's own domain",
    "Arch": "what the layers were built for: the emulator runs them here",
    "EndpointUrl": "the emulator's own",
    "Canary": "the emulator has no CodeDeploy",
    "MonthlyBudget": "the emulator has no budgets",
    "BudgetEmail": "the same",
    "BudgetCounts": "the same",
    "CodeSigningConfigArn": "the emulator has no signatures",
}


class Changing:
    """A stack that makes its domain, with papers, deployed as `make deploy` does."""

    def __init__(self, up):
        self.up, self.stack = up, up.stack
        self.first = self.domain()
        self.papers = synced(up, "1971/02/01", 4)

    def deploy(self, **given):
        kept = retained.parameters(LEFT_OPEN | given, NAME, self.stack.client)
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
        return kept | {"DocumentsTable": ("AWS::DynamoDB::Table", papers)}

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


def test_a_domain_is_changed_there_and_back_and_stays_the_same(changing):
    before = changing.kept()
    for change in (DOMAIN, {}):
        changing.deploy(**change)
        assert (changing.kept(), changing.domain(), changing.domains()) == (before, changing.first, {changing.first})
        changing.finds(changing.papers)


def test_an_index_that_moved_to_s3_and_back_is_in_the_domain_that_it_left(changing):
    before = changing.kept()
    changing.deploy(**IN_S3)
    assert changing.domain() == ""
    assert changing.stack.command("admin", "reindex")["indexed"] == len(changing.papers)
    changing.finds(changing.papers)
    meanwhile = synced(changing.up, "1971/03/01", 2)
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
    other = {kind for name, (kind, there) in changing.kept().items() if before[name] != (kind, there)}
    assert other == ({"AWS::IAM::Role"} if "RolePath" in CHANGES[change] else set())
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


# ---- what CloudFormation replaces, by AWS's registry of types: the emulator knows some of it, and no budgets ----

PARAMETERS = TEMPLATE["Parameters"]
DEFAULTS = {name: str(each["Default"]) for name, each in PARAMETERS.items()}
DEFAULTS |= {"AuthSecretName": "bio-mcp/auth", "NcbiApiKeyName": "bio-mcp/ncbi"}
PSEUDO = {"AWS::StackId": "arn:aws:cloudformation:us-east-1:1:stack/bio-mcp/201c12d0-0721-11ee", "AWS::NoValue": None}
BUILT = {FUNCTION: "AWS::Lambda::Function", LAYER: "AWS::Lambda::LayerVersion"}
REPLACED = {  # by a change of a parameter alone: types of resources, which all are replaced beside the former ones
    "Arch": {"AWS::Serverless::LayerVersion"},
    "BudgetEmail": {"AWS::Budgets::Budget"},
    "DomainName": {"AWS::ApiGatewayV2::DomainName"},
    "OpenSearchDomainName": {"AWS::OpenSearchService::Domain"},
    "RolePath": {"AWS::IAM::Role", "AWS::IAM::ManagedPolicy"},
    "VpcId": {"AWS::EC2::VPCEndpoint"},
}
OWN_NAMES = {f"/properties/{each}" for each in ("Budget/BudgetName", "DomainName", "FunctionName", "LogGroupName")}
OWN_NAMES |= {f"/properties/{each}" for each in ("DashboardName", "Name", "StateMachineName", "TableName")}
REFUSED = {("KmsKeyArn", "SearchDomain")}  # docs/deploying.md says how the domain gets a key


def test_every_parameter_is_changed_there_and_back_but_those_that_are_tested_elsewhere():
    changed = [*CHANGES.values(), DOMAIN, IN_S3, {"EmbeddingModel": ANOTHER}]
    assert {name for each in changed for name in each} ^ ELSEWHERE.keys() == PARAMETERS.keys()
    assert [name for each in changed for name in each if each[name] == DEFAULTS[name]] == []


class Named(dict):
    """Parameters, and names and attributes of resources, each by itself."""

    def __missing__(self, name):
        return name


def only_at_creation(given):
    """Logical id of each resource that there is -> its properties that no update changes."""
    given = Named(PSEUDO | given)
    return {
        name: {path: rendered(at(each.get("Properties", {}), path), given) for path in fixed(each["Type"])}
        for name, each in RESOURCES.items()
        if "Condition" not in each or rendered({"Condition": each["Condition"]}, given)
    }


def fixed(kind):
    found = schema(BUILT.get(kind, kind))
    return found.get("createOnlyProperties", []) + found.get("conditionalCreateOnlyProperties", [])


def at(properties, path):
    for each in path.split("/")[2:]:
        properties = properties.get(each) if isinstance(properties, dict) else None
    return properties


def another(parameter, value):
    others = [str(each) for each in parameter.get("AllowedValues", ()) if str(each) != value]
    return others[-1] if others else {"": "x"}.get(value, f"1{value}")


ALL_ON = {name: another(each, DEFAULTS[name]) for name, each in PARAMETERS.items()} | {"OpenSearchUrl": ""}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_changed_parameter_replaces_nothing_that_keeps_its_name(name):
    """CloudFormation makes the new one first, and refuses what has the name of the one that it replaces.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
    """
    replaced, refused = set(), set()
    for base in (DEFAULTS, ALL_ON):
        before = only_at_creation(base)
        after = only_at_creation(base | {name: another(PARAMETERS[name], base[name])})
        for each in before.keys() & after.keys():
            if before[each] != after[each]:
                replaced.add(RESOURCES[each]["Type"])
                if any(before[each].get(path) and before[each][path] == after[each][path] for path in OWN_NAMES):
                    refused.add((name, each))
    assert refused == {each for each in REFUSED if each[0] == name}
    assert replaced - {RESOURCES[each]["Type"] for _, each in refused} == REPLACED.get(name, set())
