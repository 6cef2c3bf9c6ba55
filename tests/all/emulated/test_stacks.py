"""A stack that is deployed again, beside another, and taken down."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.configure_stack import stamped
from scripts.protect_tables import protect
from tests.emulated.aws_cli import commands, run
from tests.emulated.build import ARCH, ROOT, Failed, build
from tests.emulated.clients import connect
from tests.emulated.deploying import BUCKET, NO_CANARY, deploy
from tests.emulated.emulator import emulator
from tests.emulated.stack import resources

pytestmark = pytest.mark.timeout(300)
NOBODYS = {"AWS::ApiGatewayV2::Stage"}  # its name is $default in every API


@pytest.fixture(scope="module")
def to():
    with emulator(AUTH="false") as running:
        yield connect(running.url)


@pytest.fixture(scope="module")
def deployed(to):
    """Deploys the stack of this name into one emulator, as `sam deploy` would, and gives clients of that."""
    template = build()
    url = to("cloudformation").meta.endpoint_url
    least = {"Arch": ARCH, "EndpointUrl": url, "AuthSecretName": "bio-mcp/auth"}

    def deployed(name, mcp_layer="McpLayer", **given):
        text = template.read_text()
        changed = stamped(text, given).replace("ContentUri: McpLayer", f"ContentUri: {mcp_layer}")
        deploy(to, template, name, {**least, **given}, {text: changed, **NO_CANARY})
        return to

    return deployed


def test_another_run_builds_into_a_directory_of_its_own_which_ends_with_it():
    own = build()
    before = sizes_of(own.parent)
    program = "from tests.emulated.build import build; print(build().read_text(), build())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    text, _, other = done.stdout.strip().rpartition(" ")
    assert text.strip() == own.read_text().strip()
    assert Path(other) != own
    assert not Path(other).exists()
    assert sizes_of(own.parent) == before


def sizes_of(directory):
    files = sorted(each for each in directory.rglob("*") if each.is_file())
    return {str(each): (each.stat().st_mtime_ns, each.stat().st_size) for each in files}


def published(to, stack):
    name = f"{stack}-mcp_http"
    listed = [each["Version"] for each in to("lambda").list_versions_by_function(FunctionName=name)["Versions"]]
    alias = to("lambda").get_alias(FunctionName=name, Name="live")
    return [each for each in listed if each != "$LATEST"], alias["FunctionVersion"]


def test_a_first_deployment_that_fails_is_in_nobodys_way_and_one_that_stands_has_its_tables_protected(to, deployed):
    to("logs").create_log_group(logGroupName="/aws/lambda/first-kg")
    before = everything(to)
    with pytest.raises(Failed, match=r"^ROLLBACK_COMPLETE"):
        deployed("first")
    assert {"AWS::DynamoDB::Table", "AWS::S3::Bucket"} <= created(to, "first")
    assert everything(to) == before
    with pytest.raises(Failed, match="ROLLBACK_COMPLETE state"):
        deployed("first")
    page = (ROOT / "docs/runbook.md").read_text()
    why, *others = commands(page.replace("bio-mcp", "first"), "After a first deployment that failed")
    [(_, resource, reason)] = run(to, why)
    assert (resource, "/aws/lambda/first-kg" in reason) == ("KgLogs", True)
    for each in others:
        run(to, each.replace("GROUP", "/aws/lambda/first-kg"))
    assert everything(to) == before - {("logs", "/aws/lambda/first-kg")}
    deployed("first")
    tables = {name: table for name, (kind, table) in resources(to, "first").items() if kind == "AWS::DynamoDB::Table"}
    for_a_while = {tables.pop("BudgetsTable"), tables.pop("CacheTable")}
    assert set(protect(to("cloudformation"), to("dynamodb"), "first")) == set(tables.values())
    described = [to("dynamodb").describe_table(TableName=each)["Table"] for each in {*tables.values(), *for_a_while}]
    assert {each["TableName"] for each in described if each["DeletionProtectionEnabled"]} == set(tables.values())


def created(to, stack):
    """The types of what was created for the stack, whatever became of it."""
    pages = to("cloudformation").get_paginator("describe_stack_events").paginate(StackName=stack)
    events = [each for page in pages for each in page["StackEvents"]]
    return {each["ResourceType"] for each in events if each["ResourceStatus"] == "CREATE_COMPLETE"}


def everything(to):
    """Service and name of what there is in the account and could be in the way of a stack."""
    functions = to("lambda").get_paginator("list_functions").paginate()
    groups = to("logs").get_paginator("describe_log_groups").paginate()
    named = {
        "dynamodb": to("dynamodb").list_tables()["TableNames"],
        "s3": [each["Name"] for each in to("s3").list_buckets()["Buckets"] if each["Name"] != BUCKET],
        "opensearch": [each["DomainName"] for each in to("opensearch").list_domain_names()["DomainNames"]],
        "lambda": [each["FunctionName"] for page in functions for each in page["Functions"]],
        "logs": [each["logGroupName"] for page in groups for each in page["logGroups"]],
        "sqs": to("sqs").list_queues().get("QueueUrls", []),
        "events": [each["Name"] for each in to("events").list_event_buses()["EventBuses"]],
        "iam": [each["RoleName"] for each in to("iam").list_roles()["Roles"]],
    }
    return {(service, name) for service, names in named.items() for name in names}


def test_the_endpoint_follows_new_code_and_new_parameters_and_its_older_versions_end(deployed):
    to = deployed("again")
    first = published(to, "again")
    deployed("again", mcp_layer="CommonLayer")
    second = published(to, "again")
    deployed("again", mcp_layer="CommonLayer", AllowedOrigins="https://chat.example.org")
    assert [first, second, published(to, "again")] == [(["1"], "1"), (["2"], "2"), (["3"], "3")]


def test_two_stacks_share_nothing_and_the_end_of_one_leaves_the_other(deployed):
    deployed("one")
    to = deployed("two")
    one, two = resources(to, "one"), resources(to, "two")
    assert one.keys() == two.keys()
    assert {each for each in one.values() if each in two.values() and each[0] not in NOBODYS} == set()
    to("cloudformation").delete_stack(StackName="one")
    assert resources(to, "two") == two
    assert published(to, "two") == (["1"], "1")


def test_a_stack_is_made_again_under_its_name_beside_the_domain_that_the_first_left_behind(deployed):
    to = deployed("anew")
    _, left = resources(to, "anew")["SearchDomain"]
    to("cloudformation").delete_stack(StackName="anew")
    deployed("anew")
    _, made = resources(to, "anew")["SearchDomain"]
    assert left != made
    assert {left, made} <= {each["DomainName"] for each in to("opensearch").list_domain_names()["DomainNames"]}


def test_a_table_of_papers_that_was_restored_takes_the_place_of_its_own_which_stays(deployed):
    to = deployed("restoring")
    _, damaged = resources(to, "restoring")["DocumentsTable"]
    to("dynamodb").create_table(
        TableName="restored",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pmid", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pmid", "KeyType": "HASH"}],
    )
    assert papers_of(to, "restoring") == (damaged, damaged)
    deployed("restoring", DocumentsTableName="restored")
    assert papers_of(to, "restoring") == ("restored", "restored")
    assert "DocumentsTable" not in resources(to, "restoring")
    assert damaged in to("dynamodb").list_tables()["TableNames"]


def papers_of(to, stack):
    reported = to("lambda").get_function_configuration(FunctionName=f"{stack}-get_doc")["Environment"]["Variables"]
    role = resources(to, stack)["GetDocRole"][1]
    statements = to("iam").get_role_policy(RoleName=role, PolicyName="function")["PolicyDocument"]["Statement"]
    (reading,) = [each for each in statements if "dynamodb:BatchGetItem" in each["Action"]]
    return reported["BIO_MCP_TABLE_DOCUMENTS"], reading["Resource"].rpartition("/")[2]
