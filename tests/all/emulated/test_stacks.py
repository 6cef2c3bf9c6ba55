"""A stack that is deployed again, beside another, and taken down."""

import pytest

from scripts.configure_stack import stamped
from tests.emulated.build import ARCH, build
from tests.emulated.clients import connect
from tests.emulated.deploying import NO_CANARY, deploy
from tests.emulated.emulator import emulator
from tests.emulated.stack import resources

pytestmark = pytest.mark.timeout(300)
NOBODYS = {"AWS::ApiGatewayV2::Stage"}  # its name is $default in every API


@pytest.fixture(scope="module")
def deployed():
    """Deploys the stack of this name into one emulator, as `make deploy` would, and gives clients of that."""
    template = build()
    with emulator(AUTH="false") as running:
        to = connect(running.url)
        least = {"Arch": ARCH, "EndpointUrl": running.url, "AuthSecretName": "bio-mcp/auth", "ProtectTables": "false"}

        def deployed(name, mcp_layer="McpLayer", **given):
            text = template.read_text()
            changed = stamped(text, given).replace("ContentUri: McpLayer", f"ContentUri: {mcp_layer}")
            deploy(to, template, name, {**least, **given}, {text: changed, **NO_CANARY})
            return to

        yield deployed


def published(to, stack):
    name = f"{stack}-mcp_http"
    listed = [each["Version"] for each in to("lambda").list_versions_by_function(FunctionName=name)["Versions"]]
    alias = to("lambda").get_alias(FunctionName=name, Name="live")
    return [each for each in listed if each != "$LATEST"], alias["FunctionVersion"]


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
