"""The rights of deployer.yaml, by which the stack is deployed into an emulator that enforces them.

The emulator asks for the rights of whoever calls CloudFormation, and not for those of the role by which CloudFormation
acts. So these are held against what AWS says of each type of resource: the actions of its handlers, which cfn-lint has
from AWS's registry (https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html).
"""

import json
import os
import re
import subprocess
from fnmatch import fnmatchcase
from functools import partial

import boto3
import pytest
from botocore.exceptions import ClientError

from scripts import retained
from scripts.protect_tables import protect
from tests.emulated.build import ARCH, QUIET, ROOT, SAM
from tests.emulated.clients import REGION, connect
from tests.emulated.emulator import emulator
from tests.emulated.stack import resources
from tests.support.aws_registry import schema
from tests.support.aws_template import RESOURCES, TEMPLATE

pytestmark = pytest.mark.timeout(300)
STACK, ACCOUNT = "bio-mcp", "000000000000"
HERE = f"{REGION}:{ACCOUNT}"
API = f"apigateway:{REGION}::/apis"
ARNS = {  # of each type's physical name, without arn:aws:
    "AWS::ApiGatewayV2::Api": f"{API}/x",
    "AWS::ApiGatewayV2::ApiMapping": f"apigateway:{REGION}::/domainnames/x/apimappings",
    "AWS::ApiGatewayV2::Authorizer": f"{API}/x/authorizers",
    "AWS::ApiGatewayV2::DomainName": f"apigateway:{REGION}::/domainnames/x",
    "AWS::ApiGatewayV2::Integration": f"{API}/x/integrations",
    "AWS::ApiGatewayV2::Route": f"{API}/x/routes",
    "AWS::ApiGatewayV2::Stage": f"{API}/x/stages",
    "AWS::Budgets::Budget": f"budgets::{ACCOUNT}:budget/{{}}",
    "AWS::CloudWatch::Alarm": f"cloudwatch:{HERE}:alarm:{{}}",
    "AWS::CloudWatch::Dashboard": f"cloudwatch::{ACCOUNT}:dashboard/{{}}",
    "AWS::CodeDeploy::Application": f"codedeploy:{HERE}:application:{{}}",
    "AWS::CodeDeploy::DeploymentGroup": f"codedeploy:{HERE}:deploymentgroup:{{}}",
    "AWS::DynamoDB::Table": f"dynamodb:{HERE}:table/{{}}",
    "AWS::Events::EventBus": f"events:{HERE}:event-bus/{{}}",
    "AWS::Events::Rule": f"events:{HERE}:rule/{{}}",
    "AWS::IAM::ManagedPolicy": f"iam::{ACCOUNT}:policy/{{}}",
    "AWS::IAM::Role": f"iam::{ACCOUNT}:role/{{}}",
    "AWS::Lambda::Alias": f"lambda:{HERE}:function:{{}}",
    "AWS::Lambda::EventInvokeConfig": f"lambda:{HERE}:function:{STACK}-x",
    "AWS::Lambda::EventSourceMapping": f"lambda:{HERE}:event-source-mapping:{{}}",
    "AWS::Lambda::Function": f"lambda:{HERE}:function:{{}}",
    "AWS::Lambda::LayerVersion": f"lambda:{HERE}:layer:{{}}",
    "AWS::Lambda::Permission": f"lambda:{HERE}:function:{STACK}-x",
    "AWS::Lambda::Version": f"lambda:{HERE}:function:{{}}",
    "AWS::Logs::LogGroup": f"logs:{HERE}:log-group:{{}}",
    "AWS::Logs::MetricFilter": f"logs:{HERE}:log-group:/aws/lambda/{STACK}-x",
    "AWS::OpenSearchService::Domain": f"es:{HERE}:domain/{{}}",
    "AWS::S3::Bucket": "s3:::{}",
    "AWS::S3::BucketPolicy": "s3:::{}",
    "AWS::SQS::Queue": f"sqs:{HERE}:{{}}",
    "AWS::SQS::QueuePolicy": f"sqs:{HERE}:{STACK}-x",
    "AWS::Scheduler::Schedule": f"scheduler:{HERE}:schedule/default/{{}}",
    "AWS::EC2::VPCEndpoint": f"ec2:{HERE}:vpc-endpoint/{{}}",
    "AWS::StepFunctions::StateMachine": f"states:{HERE}:stateMachine:{{}}",
}
UNUSED = {  # what a handler calls for properties that no resource of the template has, or what it is not to do
    "AWS::ApiGatewayV2::Api": ["s3:*"],  # an API from a file
    "AWS::ApiGatewayV2::Authorizer": ["iam:PassRole"],  # none has a function
    "AWS::ApiGatewayV2::DomainName": ["s3:*"],  # mutual TLS
    "AWS::ApiGatewayV2::Integration": ["iam:PassRole"],
    "AWS::ApiGatewayV2::Stage": ["apigateway:*agResource"],  # IAM has no such actions: tags are POST and DELETE
    "AWS::Budgets::Budget": ["billing:*"],  # views of another account's bill
    "AWS::CodeDeploy::DeploymentGroup": ["codedeploy:RegisterOnPremisesInstance"],
    "AWS::DynamoDB::Table": [  # replicas, imports, streams to Kinesis, contributor insights
        *(f"dynamodb:{each}" for each in ("*Replica", "*Item", "Scan", "Query", "ImportTable", "*KinesisStreaming*")),
        *("dynamodb:PutResourcePolicy", "dynamodb:DeleteResourcePolicy", "kinesis:*", "logs:*", "s3:*"),
        *("iam:CreateServiceLinkedRole", "kms:ListAliases"),
    ],
    "AWS::EC2::VPCEndpoint": ["vpc-lattice:*", "vpce:*"],  # service networks, services of other regions
    "AWS::Events::EventBus": ["kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*"],  # a bus under a key of its own
    "AWS::Events::Rule": ["iam:PassRole"],  # it sends to a queue
    "AWS::IAM::ManagedPolicy": ["iam:*GroupPolicy", "iam:*UserPolicy", "iam:*tachRolePolicy"],  # roles name policies
    "AWS::IAM::Role": ["iam:DeleteRolePermissionsBoundary"],  # or a bound would bind nobody
    "AWS::Lambda::Alias": ["codedeploy:*"],  # of the deployment group
    "AWS::Lambda::Function": [
        *("ec2:*", "elasticfilesystem:*", "s3files:*", "lambda:PassCapacityProvider", "lambda:AssociateRuntimeAlias"),
        *("lambda:GetLayerVersion", "lambda:GetCodeSigningConfig"),  # on layers and signing, of other names
    ],
    "AWS::Logs::LogGroup": [
        *("s3:*", "firehose:*", "logs:PutDataProtectionPolicy", "logs:DeleteDataProtectionPolicy"),
        *("logs:PutIndexPolicy", "logs:DeleteIndexPolicy", "logs:DeleteResourcePolicy", "logs:PutBearerToken*"),
        "logs:PutLogGroupDeletionProtection",
    ],
    "AWS::OpenSearchService::Domain": ["es:UpdateDomain"],  # IAM's name for it is es:UpdateDomainConfig
    "AWS::S3::Bucket": [
        *("s3tables:*", "iam:PassRole", "s3:*Metadata*Configuration", "s3:*ObjectLock*", "s3:PutObjectAcl"),
        *("s3:DeleteObject", "s3:Put*Website", "s3:Delete*Website", "s3:Put*Replication*", "s3:Delete*Replication"),
        *("s3:PutAnalytics*", "s3:PutInventory*", "s3:PutMetrics*", "s3:PutAccelerate*", "s3:PutIntelligent*"),
        *("s3:PutBucketCORS", "s3:PutBucketAbac", "s3:PutBucketAcl", "s3:PutBucketLogging"),
        *(f"s3:DeleteBucket{each}" for each in ("Analytics*", "Cors", "Metrics*", "Encryption", "Lifecycle")),
    ],  # the last two are no actions of IAM: s3:PutEncryptionConfiguration and s3:PutLifecycleConfiguration delete too
    "AWS::StepFunctions::StateMachine": ["s3:*"],  # a definition from a file
}
CODE = re.compile(r"((?:CodeUri|ContentUri):) \S+")
BY_THE_ROLE = (  # the emulator does not know the condition
    '            Condition: { ArnEquals: { "cloudformation:RoleArn": !GetAtt CloudFormationRole.Arn } }\n'
)
NOT_EMULATED = {  # or not by these parameters
    "Deployments": ("AWS::CodeDeploy::Application", f"{STACK}-ServerlessDeploymentApplication-x"),
    "Group": ("AWS::CodeDeploy::DeploymentGroup", f"{STACK}-ServerlessDeploymentApplication-x/{STACK}-McpHttp-x"),
    "Budget": ("AWS::Budgets::Budget", f"{STACK}-a@example.org"),
    "ApiDomain": ("AWS::ApiGatewayV2::DomainName", "mcp.example.org"),
    "ApiMapping": ("AWS::ApiGatewayV2::ApiMapping", "x"),
    "Authorizer": ("AWS::ApiGatewayV2::Authorizer", "x"),
    "BucketPolicy": ("AWS::S3::BucketPolicy", f"{STACK}-bucket-x"),
    "Endpoint": ("AWS::EC2::VPCEndpoint", "vpce-x"),
    "Retries": ("AWS::Lambda::EventInvokeConfig", "x"),
}
NAMELESS = ("AWS::ApiGatewayV2::", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::LayerVersion")
NO_HANDLERS = {  # https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging.html
    *(f"logs:{each}LogDelivery" for each in ("Create", "Get", "Update", "Delete")),
    *("logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "es:UpdateDomainConfig"),
}


def handlers(kind):
    """The actions that CloudFormation calls to create, read, update and delete a resource, by AWS's registry."""
    found = schema(kind)["handlers"]
    return {
        action
        for name in ("create", "read", "update", "delete")
        for action in found.get(name, {}).get("permissions", [])
    }


def used(kind):
    return {each for each in handlers(kind) if not any(map(partial(fnmatchcase, each), UNUSED.get(kind, [])))}


def on(kind, action, physical, artefacts="x"):
    """The ARN on which a handler of a resource of this type calls an action; `artefacts` is the bucket of the code."""
    match action.partition(":"):
        case "iam", _, "PassRole":
            return f"arn:aws:iam::{ACCOUNT}:role/{STACK}-x"
        case "kms", _, _:
            return f"arn:aws:kms:{HERE}:key/x"
        case "s3", _, "GetObject" | "GetObjectVersion":
            return f"arn:aws:s3:::{artefacts}/x"
        case "codedeploy", _, "GetDeploymentConfig":
            return f"arn:aws:codedeploy:{HERE}:deploymentconfig:x"
        case "logs", _, "CreateLogDelivery" | "DescribeLogGroups" | "PutResourcePolicy" | "DescribeResourcePolicies":
            return "*"
    if physical.startswith("arn:"):
        return physical
    return f"arn:aws:{ARNS[kind].format(physical.rpartition('/')[2] if '://' in physical else physical)}"


@pytest.fixture(scope="module")
def rights():
    """An emulator with deployer.yaml in it: clients of the administrator, and the stack's outputs."""
    with emulator(AUTH="true") as running:
        to = connect(running.url)
        text = (ROOT / "deployer.yaml").read_text().replace(BY_THE_ROLE, "")
        made = {"StackName": f"deploys-{STACK}", "TemplateBody": text, "Capabilities": ["CAPABILITY_IAM"]}
        to("cloudformation").create_stack(**made)
        to("cloudformation").get_waiter("stack_create_complete").wait(StackName=f"deploys-{STACK}")
        (stack,) = to("cloudformation").describe_stacks(StackName=f"deploys-{STACK}")["Stacks"]
        yield running.url, to, {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}


@pytest.fixture(scope="module")
def deployer(rights):
    """The environment of a user who has the policy for deployers and nothing else."""
    url, to, outputs = rights
    iam = to("iam")
    iam.create_user(UserName="deployer")
    iam.attach_user_policy(UserName="deployer", PolicyArn=outputs["DeployerPolicyArn"])
    key = iam.create_access_key(UserName="deployer")["AccessKey"]
    given = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    return {**os.environ, **QUIET, **given, "AWS_ENDPOINT_URL": url}


@pytest.fixture(scope="module")
def deployed(rights, deployer, tmp_path_factory):
    """What `sam deploy` made by these rights: logical id -> type and physical id."""
    url, to, outputs = rights
    empty = tmp_path_factory.mktemp("deployer")  # no samconfig.toml, and one small file for all code
    (empty / "code").mkdir()
    (empty / "code/app.py").touch()
    text = CODE.sub(r"\1 code", (ROOT / "template.yaml").read_text())
    (empty / "template.yaml").write_text(text.replace("Enabled: !Ref Canary", "Enabled: false"))
    given = {"Arch": ARCH, "EndpointUrl": url, "AuthSecretName": "bio-mcp/auth"}
    given |= {"NcbiAdminEmail": "a@example.org", "Corpus1Key": "k", "Corpus1Term": "statins", "LoadsAtOnce": "2"}
    command = [SAM, "deploy", "--template-file", empty / "template.yaml", "--stack-name", STACK, "--region", REGION]
    command += ["--s3-bucket", outputs["ArtefactsBucket"], "--role-arn", outputs["RoleArn"]]
    command += [
        "--capabilities",
        "CAPABILITY_IAM",
        "--no-confirm-changeset",
        "--no-progressbar",
    ]
    command += ["--language-extensions", "--parameter-overrides", *(f"{name}={value}" for name, value in given.items())]
    done = subprocess.run(command, cwd=empty, env=deployer, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    return resources(to, STACK)


@pytest.fixture(scope="module")
def statements(rights):
    """What the role of CloudFormation may do."""
    _, to, outputs = rights
    iam, role = to("iam"), outputs["RoleArn"].rpartition("/")[2]
    named = iam.list_role_policies(RoleName=role)["PolicyNames"]
    documents = [iam.get_role_policy(RoleName=role, PolicyName=each)["PolicyDocument"] for each in named]
    assert sum(len(json.dumps(each, separators=(",", ":"))) for each in documents) < 10_240  # AWS's limit
    return [each for document in documents for each in document["Statement"]]


def several(value):
    return value if isinstance(value, list) else [value]


def allowed(statements, action, arn):
    return any(
        any(fnmatchcase(action.lower(), each.lower()) for each in several(statement["Action"]))
        and any(fnmatchcase(arn, each) for each in several(statement["Resource"]))
        for statement in statements
    )


def test_the_role_may_do_what_cloudformation_does_to_each_resource_that_was_deployed(rights, deployed, statements):
    artefacts = rights[2]["ArtefactsBucket"]
    made = {**deployed, **NOT_EMULATED}
    declared = {each["Type"] for each in RESOURCES.values() if "Serverless" not in each["Type"]}
    assert declared <= {kind for kind, _ in made.values()}
    refused = {
        (kind, action, on(kind, action, physical, artefacts))
        for kind, physical in made.values()
        for action in used(kind)
        if not allowed(statements, action, on(kind, action, physical, artefacts))
    }
    assert refused == set()


def test_the_role_may_do_nothing_to_another_stack_where_things_have_names(deployed, statements):
    for kind in {kind for kind, _ in deployed.values() if not kind.startswith(NAMELESS)}:
        other = f"arn:aws:{ARNS[kind].replace(STACK, 'payroll').format('payroll-x')}"
        mine = {each for each in used(kind) if on(kind, each, f"{STACK}-x") != "*"}
        assert [each for each in mine if allowed(statements, each, other)] == [], kind


def test_the_role_may_do_nothing_that_no_handler_calls(deployed, statements):
    called = NO_HANDLERS.union(*(used(kind) for kind, _ in [*deployed.values(), *NOT_EMULATED.values()]))
    called |= {"lambda:GetLayerVersion", "lambda:GetCodeSigningConfig"}
    given = {each for statement in statements for each in several(statement["Action"])}
    assert [each for each in given if not any(fnmatchcase(one, each) for one in called)] == []


@pytest.fixture(scope="module")
def as_deployer(rights, deployer):
    """Makes clients of that user."""
    session = boto3.Session(deployer["AWS_ACCESS_KEY_ID"], deployer["AWS_SECRET_ACCESS_KEY"], region_name=REGION)
    return partial(session.client, endpoint_url=rights[0])


def test_a_deployer_may_do_what_make_deploy_does_before_and_after_sam(as_deployer, deployed):
    made = {name: str(each["Default"]) for name, each in TEMPLATE["Parameters"].items()}
    took = retained.parameters(made, STACK, as_deployer)
    assert took == {"OpenSearchDomainName": deployed["SearchDomain"][1]}
    elsewhere = {"OpenSearchDomainName": "another"}  # looks at all domains
    assert retained.parameters(made | elsewhere, STACK, as_deployer) == {}
    assert deployed["DocumentsTable"][1] in protect(as_deployer("cloudformation"), as_deployer("dynamodb"), STACK)


def test_a_deployer_may_do_nothing_else(rights, as_deployer, deployed):
    outputs = rights[2]
    attempts = [
        lambda: as_deployer("cloudformation").create_stack(StackName="payroll", TemplateBody="{}"),
        lambda: as_deployer("cloudformation").delete_stack(StackName=f"deploys-{STACK}"),
        lambda: as_deployer("iam").list_roles(),
        lambda: as_deployer("lambda").get_function(FunctionName=deployed["SearchFunction"][1]),
        lambda: as_deployer("dynamodb").scan(TableName=deployed["DocumentsTable"][1]),
        lambda: as_deployer("s3").list_objects_v2(Bucket=deployed["Bucket"][1]),
    ]
    for attempt in attempts:
        with pytest.raises(ClientError, match=r"AccessDenied|not authorized"):
            attempt()
    assert BY_THE_ROLE in (ROOT / "deployer.yaml").read_text()
    assert as_deployer("s3").list_objects_v2(Bucket=outputs["ArtefactsBucket"])["KeyCount"]
