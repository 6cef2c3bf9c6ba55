"""What a stack has or has left is found, on the template's own table of papers and domain, without its functions."""

import json

import pytest

from scripts import retained
from tests.emulated.build import Failed
from tests.emulated.clients import connect
from tests.emulated.deploying import deploy
from tests.emulated.emulator import emulator
from tests.emulated.stack import resources
from tests.support.aws_template import RESOURCES, TEMPLATE

STACK = "kept"
SECRET = {"AuthSecretName": "bio-mcp/auth"}
DEFAULTS = {name: str(each["Default"]) for name, each in TEMPLATE["Parameters"].items()} | SECRET
LET_IN = {"Effect": "Allow", "Principal": {"AWS": {"Fn::GetAtt": "SearchRole.Arn"}}, "Action": "es:*", "Resource": "*"}
ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {"Statement": []},
        "Path": RESOURCES["SearchRole"]["Properties"]["Path"],
    },
}
POLICY = {"Version": "2012-10-17", "Statement": [LET_IN]}
DOMAIN = RESOURCES["SearchDomain"]
STORES = {
    "SearchRole": ROLE,
    "DocumentsTable": RESOURCES["DocumentsTable"],
    "SearchDomain": DOMAIN | {"Properties": DOMAIN["Properties"] | {"AccessPolicies": POLICY}},
}


class Kept:
    def __init__(self, to, template):
        self.to, self.template = to, template

    def deploy(self, taking=True, **given):
        """The parameters that were added to those given."""
        took = retained.parameters(DEFAULTS | given, STACK, self.to) if taking else {}
        deploy(self.to, self.template, STACK, SECRET | given | took)
        return took

    def has(self, logical_id):
        return resources(self.to, STACK).get(logical_id, ("", ""))[1]

    def domains(self):
        return {each["DomainName"] for each in self.to("opensearch").list_domain_names()["DomainNames"]}

    def delete(self):
        for name in self.domains():
            self.to("opensearch").delete_domain(DomainName=name)
        self.to("cloudformation").delete_stack(StackName=STACK)
        for name in self.to("dynamodb").list_tables()["TableNames"]:
            self.to("dynamodb").delete_table(TableName=name)


@pytest.fixture(scope="module")
def endpoint():
    with emulator(AUTH="false") as running:
        yield running.url


@pytest.fixture
def kept(endpoint, tmp_path):
    parts = {name: TEMPLATE[name] for name in ("Parameters", "Conditions")}
    (tmp_path / "template.yaml").write_text(json.dumps({**parts, "Resources": STORES}))
    kept = Kept(connect(endpoint), tmp_path / "template.yaml")
    assert kept.deploy() == {}
    yield kept
    kept.delete()


def test_a_stack_keeps_the_domain_that_it_has_whatever_name_the_template_would_give_it(kept):
    name = kept.has("SearchDomain")
    kept.delete()
    kept.deploy(OpenSearchDomainName="of-a-version-before")
    assert kept.deploy() == {"OpenSearchDomainName": "of-a-version-before"}
    assert kept.domains() == {"of-a-version-before"} != {name}


@pytest.mark.parametrize(
    "away", [{"IndexTier": "s3"}, {"OpenSearchUrl": "http://127.0.0.1", "OpenSearchService": "none"}]
)
def test_a_domain_that_a_stack_left_is_taken_up_however_often_where_cloudformation_alone_fails(kept, away):
    name = kept.has("SearchDomain")
    kept.deploy(**away)
    with pytest.raises(Failed, match="already exists"):
        kept.deploy(taking=False)
    for _ in range(2):
        took = kept.deploy()
        assert took["OpenSearchArn"].endswith(f":domain/{name}")
        assert (kept.deploy(), kept.has("SearchDomain"), kept.domains()) == (took, "", {name})
        kept.deploy(**away)


def test_a_domain_that_a_stack_left_is_taken_up_by_its_name_once_another_path_has_made_other_roles(kept):
    name, role = kept.has("SearchDomain"), kept.has("SearchRole")
    kept.deploy(IndexTier="s3")
    took = kept.deploy(RolePath="/research/")
    assert kept.has("SearchRole") != role
    assert kept.deploy(RolePath="/research/") == took
    assert took["OpenSearchArn"].endswith(f":domain/{name}")


def test_a_domain_of_another_name_is_made_and_that_of_the_first_is_taken_up_again(kept):
    first = kept.has("SearchDomain")
    kept.deploy(OpenSearchDomainName="second")
    assert kept.deploy() == {"OpenSearchDomainName": "second"}
    took = kept.deploy(OpenSearchDomainName=first)
    assert took["OpenSearchArn"].endswith(f":domain/{first}")
    assert (kept.has("SearchDomain"), kept.domains()) == ("", {first, "second"})
    with pytest.raises(retained.Refused, match=r"has left the domains .*: choose by OpenSearchDomainName"):
        kept.deploy()


def test_a_domain_that_another_made_is_not_taken_up(kept):
    kept.to("opensearch").create_domain(DomainName="strangers")
    with pytest.raises(retained.Refused, match="strangers is there and was not made by the stack kept"):
        kept.deploy(OpenSearchDomainName="strangers")


def test_the_papers_are_in_the_stacks_own_table_again_once_none_is_named(kept):
    own = kept.has("DocumentsTable")
    kept.deploy(DocumentsTableName="restored")
    assert kept.has("DocumentsTable") == ""
    for _ in range(2):
        assert kept.deploy()["DocumentsTableName"] == own
    kept.to("dynamodb").create_table(
        TableName=f"{STACK}-DocumentsTable-OTHER",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pmid", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pmid", "KeyType": "HASH"}],
    )
    with pytest.raises(retained.Refused, match=r"may be in .*OTHER.*: choose by DocumentsTableName"):
        kept.deploy()
