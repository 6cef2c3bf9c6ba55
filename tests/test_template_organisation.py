"""What an organisation asks of the stack, by the parameters of that group: off by default, whole where it is given."""

import re

import pytest

from tests.support.aws_template import (
    FUNCTION,
    FUNCTIONS,
    IMAGES,
    RESOURCES,
    ROLE,
    TEMPLATE,
    allowed,
    of,
    rendered,
    text,
)

PARAMETERS = TEMPLATE["Parameters"]
GROUP = [
    name
    for each in TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    if "rganisation" in each["Label"]["default"]
    for name in each["Parameters"]
]
DEFAULTS = {name: str(each["Default"]) for name, each in PARAMETERS.items()}
STACK = {name: name for name in RESOURCES} | {"AWS::NoValue": None, "AWS::Region": "eu-central-1"}
KEY = "arn:aws:kms:eu-central-1:123456789012:key/1"
NETWORK = {"SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}


def given(**parameters):
    return DEFAULTS | STACK | parameters


def made(kind, **parameters):
    """Logical id -> resource of each that there is with these parameters."""
    return {
        name: each
        for name, each in RESOURCES.items()
        if each["Type"] == kind
        and ("Condition" not in each or rendered({"Condition": each["Condition"]}, given(**parameters)))
    }


def value(resource, name, **parameters):
    """A property as it is rendered; None where it is left out."""
    return rendered(resource["Properties"].get(name), given(**parameters))


def test_all_of_it_is_off_by_default():
    assert {name: PARAMETERS[name]["Default"] for name in GROUP} == {
        name: "off" if name == "VpcEndpoints" else "" for name in GROUP
    }
    everyones = TEMPLATE["Globals"]["Function"]
    assert rendered([everyones["VpcConfig"], everyones["CodeSigningConfigArn"]], given()) == [None, None]
    for role in made(ROLE).values():
        assert (value(role, "Path"), value(role, "PermissionsBoundary")) == (None, None)
    assert made("AWS::EC2::VPCEndpoint") == {}
    assert KEYED.keys() == {name for name in RESOURCES if RESOURCES[name]["Type"] in KEYS}
    assert {str(each(**DEFAULTS)) for each in KEYED.values()} == {"None"}


def test_a_boundary_and_a_path_are_those_of_every_role():
    boundary = {"PermissionsBoundaryArn": "arn:aws:iam::123456789012:policy/boundary", "RolePath": "/research/"}
    roles = made(ROLE, LoadsAtOnce="20")
    for role in roles.values():
        assert value(role, "PermissionsBoundary", **boundary) == boundary["PermissionsBoundaryArn"]
        assert value(role, "Path", **boundary) == "/research/"
    for policy in of("AWS::IAM::ManagedPolicy").values():
        assert rendered(policy["Path"], given(**boundary)) == "/research/"
    assert all("Role" in each for each in of(FUNCTION).values())  # then SAM makes none


KEYS = {  # type -> the key in its properties
    "AWS::DynamoDB::Table": lambda each: each["SSESpecification"]["KMSMasterKeyId"],
    "AWS::S3::Bucket": lambda each: each["BucketEncryption"]["ServerSideEncryptionConfiguration"][0][
        "ServerSideEncryptionByDefault"
    ]["KMSMasterKeyID"],
    "AWS::SQS::Queue": lambda each: each["KmsMasterKeyId"],
    "AWS::Logs::LogGroup": lambda each: each["KmsKeyId"],
    "AWS::Events::EventBus": lambda each: each["KmsKeyIdentifier"],
    "AWS::OpenSearchService::Domain": lambda each: each["EncryptionAtRestOptions"]["KmsKeyId"],
}
KEYED = {
    name: lambda each=each, **parameters: rendered(KEYS[each["Type"]](each["Properties"]), given(**parameters))
    for name, each in RESOURCES.items()
    if each["Type"] in KEYS
}


@pytest.mark.parametrize("name", KEYED)
def test_a_key_encrypts_all_that_is_stored(name):
    assert KEYED[name](KmsKeyArn=KEY) == KEY


def test_a_key_of_ones_own_takes_the_place_of_sqs_and_s3s():
    for queue in made("AWS::SQS::Queue").values():
        assert value(queue, "SqsManagedSseEnabled") is True
        assert value(queue, "SqsManagedSseEnabled", KmsKeyArn=KEY) is None
    [bucket] = made("AWS::S3::Bucket").values()
    [rule] = value(bucket, "BucketEncryption", KmsKeyArn=KEY)["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"


def test_who_reaches_a_store_may_use_the_key_there_and_nobody_else():
    shared = {"Fn::If": ["HasKey", {"Ref": "KeyPolicy"}, {"Ref": "AWS::NoValue"}]}
    having = {name for name, role in of(ROLE).items() if shared in role.get("ManagedPolicyArns", [])}
    stores = ("dynamodb:", "s3:", "sqs:")
    storing = {
        FUNCTIONS[each][1]["Role"]["Fn::GetAtt"].removesuffix(".Arn")
        for each in FUNCTIONS
        if any(action.startswith(stores) for action, _ in allowed(each))
    }
    assert having == storing | {"ScheduleRole", "LoadMachineRole"}
    policy = RESOURCES["KeyPolicy"]["Properties"]["PolicyDocument"]
    [statement] = rendered(policy, given(KmsKeyArn=KEY, **{"AWS::URLSuffix": "amazonaws.com"}))["Statement"]
    assert statement["Resource"] == KEY
    services = statement["Condition"]["StringEquals"]["kms:ViaService"]
    assert services == [f"{each}.eu-central-1.amazonaws.com" for each in ("dynamodb", "s3", "sqs")]


def test_functions_and_domain_are_in_the_vpc_that_is_given():
    assert rendered(TEMPLATE["Globals"]["Function"]["VpcConfig"], given(VpcId="vpc-1", **NETWORK)) == NETWORK
    assert [rendered(each["VpcConfig"], given(VpcId="vpc-1", **NETWORK)) for each in IMAGES.values()] == [NETWORK]
    assert value(RESOURCES["SearchDomain"], "VPCOptions", VpcId="vpc-1", **NETWORK) == NETWORK
    document = RESOURCES["FunctionPolicy"]["Properties"]["PolicyDocument"]
    assert [str(each).count("ec2:") for each in rendered(document, given())["Statement"]] == [0, 0]
    in_vpc = rendered(document, given(VpcId="vpc-1", **NETWORK))["Statement"]
    assert [str(each).count("ec2:") for each in in_vpc] == [0, 6]


def test_the_endpoints_are_those_of_the_services_that_functions_call():
    network = NETWORK | {"VpcEndpoints": "on", "VpcId": "vpc-1", "RouteTableIds": ["rtb-1"], "LanguageModel": "bedrock"}
    assert made("AWS::EC2::VPCEndpoint", **{**network, "VpcEndpoints": "off"}) == {}
    there = {value(each, "ServiceName", **network) for each in made("AWS::EC2::VPCEndpoint", **network).values()}
    called = {action.partition(":")[0] for each in FUNCTIONS for action, _ in allowed(each)}
    called = called - {"logs", "kms", "es", "aoss"} | {"xray"}  # Lambda's own work, DynamoDB's; in the VPC, or given
    named = {"bedrock": "bedrock-runtime"}
    assert there == {f"com.amazonaws.eu-central-1.{named.get(each, each)}" for each in called}


def test_code_is_signed_as_the_configuration_that_is_given_says():
    config = "arn:aws:lambda:eu-central-1:123456789012:code-signing-config:csc-0f6c334abcdea4d8b"
    everyones = TEMPLATE["Globals"]["Function"]["CodeSigningConfigArn"]
    assert rendered(everyones, given(CodeSigningConfigArn=config)) == config
    assert re.fullmatch(PARAMETERS["CodeSigningConfigArn"]["AllowedPattern"], config)


@pytest.mark.parametrize("path", ["", "/research/", "/a/b/"])
def test_a_path_begins_and_ends_with_a_slash(path):
    pattern = PARAMETERS["RolePath"]["AllowedPattern"]
    assert re.fullmatch(pattern, path)
    assert not any(re.fullmatch(pattern, each) for each in ("research", "/research", "research/", "/"))


def test_a_name_that_is_given_begins_with_the_name_of_the_stack():
    named = {"AWS::Events::EventBus": "Name", "AWS::ApiGatewayV2::Api": "Name", FUNCTION: "FunctionName"}
    named |= {"AWS::CloudWatch::Dashboard": "DashboardName", "AWS::StepFunctions::StateMachine": "StateMachineName"}
    named["AWS::Logs::LogGroup"] = "LogGroupName"
    names = [each["Properties"][named[each["Type"]]] for each in RESOURCES.values() if each["Type"] in named]
    begun = re.compile(r"(/aws/(lambda|vendedlogs(/states)?)/)?(\$\{AWS::StackName\}-|AWS::StackName$)")
    assert [each for each in names if not begun.match(text(each))] == []
    assert len(names) > len(FUNCTIONS)
