"""The emulator refuses what AWS refuses; `tests/emulated/refusals.py` names the page of AWS for each."""

import json
import time

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.emulated.clients import REGION, connect
from tests.emulated.emulator import emulator

TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "DeletionPolicy": "RetainExceptOnCreate",
    "Properties": {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    },
}
PROTECTED = {**TABLE, "Properties": {**TABLE["Properties"], "DeletionProtectionEnabled": True}}
TAKEN = "/taken"
MACHINE = {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}
NAMED = [
    ("AWS::Logs::LogGroup", {"LogGroupName": "/aws/lambda/taken"}),
    ("AWS::Lambda::Function", {"FunctionName": "taken", "Code": {"ZipFile": "x = 1"}, "Role": "arn:aws:iam::0:role/r"}),
    ("AWS::OpenSearchService::Domain", {"DomainName": "taken"}),
    ("AWS::Events::EventBus", {"Name": "taken"}),
    ("AWS::StepFunctions::StateMachine", {"StateMachineName": "taken", "Definition": MACHINE}),
    ("AWS::CloudWatch::Dashboard", {"DashboardName": "taken", "DashboardBody": "{}"}),
    ("AWS::DynamoDB::Table", {**TABLE["Properties"], "TableName": "taken"}),
]


@pytest.fixture(scope="module")
def endpoint():
    with emulator() as running:
        yield running.url


@pytest.fixture(scope="module")
def to(endpoint):
    connected = connect(endpoint)
    connected("logs").create_log_group(logGroupName=TAKEN)
    return connected


def settled(to, name):
    stacks = to("cloudformation")
    while (stack := stacks.describe_stacks(StackName=name)["Stacks"][0])["StackStatus"].endswith("IN_PROGRESS"):
        time.sleep(0.05)
    return stack["StackStatus"]


def created(to, name, **resources):
    """The stack's id and its status."""
    made = to("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps({"Resources": resources}))
    return made["StackId"], settled(to, made["StackId"])


def deleted(to, stack, **how):
    to("cloudformation").delete_stack(StackName=stack, **how)
    return settled(to, stack)


def events(to, stack, status):
    listed = to("cloudformation").describe_stack_events(StackName=stack)["StackEvents"]
    of_status = [each for each in listed if each["ResourceStatus"] == status]
    return {each["LogicalResourceId"]: each.get("ResourceStatusReason") for each in of_status}


def table_of(to, stack):
    [table] = to("cloudformation").describe_stack_resources(StackName=stack, LogicalResourceId="Table")[
        "StackResources"
    ]
    return table["PhysicalResourceId"]


def failing_after(logical_id):
    """A resource that is refused, once `logical_id` is there."""
    return {"Type": "AWS::Logs::LogGroup", "DependsOn": logical_id, "Properties": {"LogGroupName": TAKEN}}


def test_a_rollback_does_not_delete_a_protected_table_which_stays_when_the_stack_is_deleted(to):
    stack, status = created(to, "unlucky", Table=PROTECTED, Bus=failing_after("Table"))
    assert status == "ROLLBACK_FAILED"
    assert "deletion protection" in events(to, stack, "DELETE_FAILED")["Table"]
    table = table_of(to, stack)
    assert deleted(to, stack) == "DELETE_COMPLETE"
    assert events(to, stack, "DELETE_SKIPPED").keys() == {"Table"}
    assert table in to("dynamodb").list_tables()["TableNames"]


def test_the_deletion_of_a_stack_fails_at_a_protected_table_until_it_is_retained(to):
    stack, _ = created(to, "protected", Table={**PROTECTED, "DeletionPolicy": "Delete"})
    assert deleted(to, stack) == "DELETE_FAILED"
    assert "deletion protection" in events(to, stack, "DELETE_FAILED")["Table"]
    assert deleted(to, stack, RetainResources=["Table"]) == "DELETE_COMPLETE"


def test_a_bucket_that_holds_something_is_not_deleted(to):
    stack, _ = created(to, "full", Bucket={"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "full-bucket"}})
    to("s3").put_object(Bucket="full-bucket", Key="some", Body=b"thing")
    assert deleted(to, stack) == "DELETE_FAILED"
    assert "not empty" in events(to, stack, "DELETE_FAILED")["Bucket"]
    to("s3").delete_object(Bucket="full-bucket", Key="some")
    assert deleted(to, stack) == "DELETE_COMPLETE"


def test_a_stack_that_was_rolled_back_is_deleted_before_another_takes_its_name(to):
    stack, status = created(to, "again", Table=TABLE, Bus=failing_after("Table"))
    assert status == "ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match=r"\[again\] already exists"):
        created(to, "again", Table=TABLE)
    assert deleted(to, stack) == "DELETE_COMPLETE"
    assert created(to, "again", Table=TABLE)[1] == "CREATE_COMPLETE"


def test_a_table_that_was_retained_is_not_taken_by_the_next_stack_of_the_name(to):
    one, _ = created(to, "kept", Table=TABLE)
    first = table_of(to, one)
    deleted(to, one)
    two, _ = created(to, "kept", Table=TABLE)
    assert first != table_of(to, two)
    assert {first, table_of(to, two)} <= set(to("dynamodb").list_tables()["TableNames"])


def test_the_ids_of_two_stacks_end_alike(to):
    one, two = (created(to, name, Table=TABLE)[0].rpartition("/")[2].split("-") for name in ("time-1", "time-2"))
    assert one[0] != two[0]
    assert one[3:] == two[3:]


@pytest.mark.parametrize(("kind", "properties"), NAMED, ids=[kind for kind, _ in NAMED])
def test_a_name_that_exists_is_refused(to, kind, properties):
    resource = {"Type": kind, "Properties": properties}
    short = kind.split("::")[1]
    first, status = created(to, f"first-{short}", It=resource)
    assert status == "CREATE_COMPLETE"
    second, status = created(to, f"second-{short}", It=resource)
    assert status == "ROLLBACK_COMPLETE"
    assert "already exists" in events(to, second, "CREATE_FAILED")["It"].lower()
    assert deleted(to, second) == "DELETE_COMPLETE"
    assert to("cloudformation").describe_stack_resources(StackName=first)["StackResources"]


def test_a_missing_key_is_denied_to_who_may_not_list_the_whole_bucket(to, endpoint):
    to("s3").create_bucket(Bucket="files")
    to("s3").put_object(Bucket="files", Key="folder/there", Body=b"content")
    arn = "arn:aws:s3:::files"
    reads = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"{arn}/*"}
    lists = {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": arn}
    folder = {**lists, "Condition": {"StringLike": {"s3:prefix": "folder/*"}}}
    only = reader(to, endpoint, "only-reads", reads)
    for s3 in (only, reader(to, endpoint, "lists-a-folder", reads, folder)):
        assert s3.get_object(Bucket="files", Key="folder/there")["Body"].read() == b"content"
        assert refused(s3.get_object, "folder/none") == (403, "AccessDenied")
        assert refused(s3.head_object, "folder/none") == (403, "403")
    assert [refused(only.get_object, "folder/none", Bucket=bucket)[1] for bucket in ("files", "no-such-bucket")] == [
        "AccessDenied",
        "NoSuchBucket",
    ]
    listing = reader(to, endpoint, "lists", reads, lists)
    assert refused(listing.get_object, "folder/none") == (404, "NoSuchKey")
    assert refused(listing.head_object, "folder/none") == (404, "404")
    assert refused(to("s3").get_object, "folder/none") == (404, "NoSuchKey")


def reader(to, endpoint, user, *statements):
    iam = to("iam")
    iam.create_user(UserName=user)
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=user, PolicyName="files", PolicyDocument=policy)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    session = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"], region_name=REGION)
    return session.client("s3", endpoint_url=endpoint)


def refused(call, key, **other):
    with pytest.raises(ClientError) as error:
        call(**{"Bucket": "files", "Key": key, **other})
    return error.value.response["ResponseMetadata"]["HTTPStatusCode"], error.value.response["Error"]["Code"]


class Queues:
    """A queue, and the queue where its messages go that were received once."""

    def __init__(self, to, name):
        self.sqs = to("sqs")
        self.dead = self.sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        self.dead_arn = self.arn(self.dead)
        redrive = json.dumps({"deadLetterTargetArn": self.dead_arn, "maxReceiveCount": 1})
        self.queue = self.sqs.create_queue(QueueName=name, Attributes={"RedrivePolicy": redrive})["QueueUrl"]

    def arn(self, url):
        return self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    def bodies(self, url, lasting=0):
        asked = {"QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": lasting}
        return [each["Body"] for each in self.sqs.receive_message(**asked).get("Messages", [])]

    def fail(self, body):
        self.sqs.send_message(QueueUrl=self.queue, MessageBody=body)
        assert self.bodies(self.queue) == [body]
        assert self.bodies(self.queue) == []

    def move(self, **asked):
        self.sqs.start_message_move_task(SourceArn=self.dead_arn, **asked)
        [task] = self.sqs.list_message_move_tasks(SourceArn=self.dead_arn)["Results"]
        return task["Status"], task.get("FailureReason"), task["ApproximateNumberOfMessagesMoved"]


def test_letters_that_a_queue_let_fall_go_back_to_it(to):
    queues = Queues(to, "work")
    queues.fail("a")
    assert queues.bodies(queues.dead) == ["a"]
    assert queues.move() == ("COMPLETED", None, 1)
    assert (queues.bodies(queues.queue), queues.bodies(queues.dead)) == (["a"], [])


def test_letters_that_were_sent_directly_go_only_where_they_are_told(to):
    queues = Queues(to, "direct")
    queues.sqs.send_message(QueueUrl=queues.dead, MessageBody="direct")
    assert queues.move() == ("FAILED", "CouldNotDetermineMessageSource", 0)
    assert queues.bodies(queues.dead) == ["direct"]
    assert queues.move(DestinationArn=queues.arn(queues.queue)) == ("COMPLETED", None, 1)
    assert queues.bodies(queues.queue) == ["direct"]


def test_a_queue_that_is_nobodys_dead_letter_queue_is_not_moved(to):
    queues = Queues(to, "living")
    with pytest.raises(ClientError, match="Dead Letter Queue"):
        queues.sqs.start_message_move_task(SourceArn=queues.arn(queues.queue))


def test_a_function_whose_role_may_not_make_a_log_group_leaves_none(to):
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    code = {"ZipFile": "def handler(event, context):\n    print('here')\n    return 1\n"}
    for name, actions in {"quiet": ["logs:CreateLogStream", "logs:PutLogEvents"], "logging": ["logs:*"]}.items():
        role = to("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Statement": [trust]}))["Role"]
        policy = json.dumps({"Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]})
        to("iam").put_role_policy(RoleName=name, PolicyName="logs", PolicyDocument=policy)
        function = {"FunctionName": name, "Role": role["Arn"], "Runtime": "python3.13", "Handler": "index.handler"}
        created(to, name, It={"Type": "AWS::Lambda::Function", "Properties": {**function, "Code": code}})
        assert json.load(to("lambda").invoke(FunctionName=name)["Payload"]) == 1
    groups = to("logs").describe_log_groups(logGroupNamePrefix="/aws/lambda/")["logGroups"]
    names = {each["logGroupName"] for each in groups}
    assert ("/aws/lambda/quiet" in names, "/aws/lambda/logging" in names) == (False, True)
