"""The emulator with what AWS refuses and it does not: run by its own Python, in place of its program `ministack`.

Each rule takes the place of a function of the emulator, and names AWS's page that it follows. The pages are below
https://docs.aws.amazon.com/.
"""

import json
import time
from uuid import uuid1, uuid4

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.core.responses import get_account_id, get_region
from ministack.services import cloudwatch, cloudwatch_logs, dynamodb, lambda_svc, s3, sqs, stepfunctions
from ministack.services.cloudformation import _stacks, changesets, handlers, provisioners, stacks

TAKEN = {
    "AWS::CloudWatch::Dashboard": ("DashboardName", lambda name: name in cloudwatch._dashboards),
    "AWS::DynamoDB::Table": ("TableName", lambda name: name in dynamodb._tables),
    "AWS::Lambda::Function": ("FunctionName", lambda name: name in lambda_svc._functions),
    "AWS::Logs::LogGroup": ("LogGroupName", lambda name: name in cloudwatch_logs._log_groups),
    "AWS::StepFunctions::StateMachine": (
        "StateMachineName",
        lambda name: any(each["name"] == name for each in stepfunctions._state_machines.values()),
    ),
}
"""Resource type -> the property that names it, and whether that name is taken. The emulator itself refuses names of
buckets, buses, domains of OpenSearch and of API Gateway."""


def names_are_new_and_not_taken():
    """CloudFormation creates no resource whose name exists, and what it names itself gets a name that no other has.

    cloudformation-cli/latest/userguide/resource-type-test-contract.html: a create handler answers AlreadyExists.
    AWSCloudFormation/latest/TemplateReference/aws-properties-name.html: a physical id that it generates is unique.
    """
    create = provisioners._provision_resource

    def provision(resource_type, logical_id, properties, stack):
        name, taken = TAKEN.get(resource_type, ("", None))
        if taken and properties.get(name) and taken(properties[name]):
            raise ValueError(
                f"Resource of type '{resource_type}' with identifier '{properties[name]}' already exists. "
                "(HandlerErrorCode: AlreadyExists)"
            )
        seed = provisioners._NAME_SEED.set(uuid4().hex)
        try:
            return create(resource_type, logical_id, properties, stack), provisioners._NAME_SEED.get()
        finally:
            provisioners._NAME_SEED.reset(seed)

    stacks._provision_keeping_seed = provision


def protected_tables_and_full_buckets_stay():
    """CloudFormation deletes a resource by the service's own call, which can refuse it: DELETE_FAILED.

    amazondynamodb/latest/developerguide/WorkingWithTables.Basics.html: deletion protection.
    AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html: only empty buckets are deleted.
    """
    delete_table, delete_bucket = provisioners._ddb_delete, provisioners._s3_delete

    def table(physical_id, properties):
        if (dynamodb._tables.get(physical_id) or {}).get("DeletionProtectionEnabled"):
            raise ValueError(
                f"Resource cannot be deleted as deletion protection is enabled for table {physical_id}. "
                "To delete the table, disable deletion protection. (HandlerErrorCode: InvalidRequest)"
            )
        delete_table(physical_id, properties)

    def bucket(physical_id, properties):
        held = (s3._buckets.get(physical_id) or {}).get("objects")
        if held or s3._bucket_has_versions(physical_id):
            raise ValueError("The bucket you tried to delete is not empty. You must delete all versions in the bucket.")
        delete_bucket(physical_id, properties)

    provisioners._ddb_delete = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"]["delete"] = table
    provisioners._s3_delete = provisioners._RESOURCE_HANDLERS["AWS::S3::Bucket"]["delete"] = bucket


def a_failed_rollback_leaves_its_resources_in_the_stack():
    """A stack in ROLLBACK_FAILED still has the resources that could not be deleted.

    AWSCloudFormation/latest/UserGuide/view-stack-events.html: the codes of a stack's status.
    """
    roll_back = stacks._roll_back_operation

    async def rolled_back(name, stack_id, stack, operation, reason_override=""):
        await roll_back(name, stack_id, stack, operation, reason_override)
        if stack["StackStatus"] == "ROLLBACK_FAILED":
            failed = {"ResourceStatus": "DELETE_FAILED", "Timestamp": stacks.now_iso()}
            left = stack["_rollback_failed"].items()
            stack["_resources"] |= {name: {**each, "LogicalResourceId": name, **failed} for name, each in left}

    stacks._roll_back_operation = handlers._roll_back_operation = rolled_back


def a_stack_that_was_rolled_back_keeps_its_name():
    """A stack in ROLLBACK_COMPLETE can only be deleted, and none of its name is made before.

    AWSCloudFormation/latest/UserGuide/view-stack-events.html: the codes of a stack's status.
    """

    def refusing(create):
        def created(parameters):
            there = _stacks.get(handlers._p(parameters, "StackName")) or {}
            new = handlers._p(parameters, "ChangeSetType") != "UPDATE"
            if new and there.get("StackStatus") == "ROLLBACK_COMPLETE":
                return handlers._error("AlreadyExistsException", f"Stack [{there['StackName']}] already exists")
            return create(parameters)

        return created

    for action in ("CreateStack", "CreateChangeSet"):
        handlers._ACTION_HANDLERS[action] = refusing(handlers._ACTION_HANDLERS[action])


def a_key_that_is_missing_is_denied_to_who_may_not_list():
    """GetObject and HeadObject answer 403 in place of 404 to a caller that has no s3:ListBucket on the bucket.

    AmazonS3/latest/API/API_GetObject.html, Permissions. A statement with a condition on s3:prefix does not allow it:
    only a listing has that key (service-authorization/latest/reference/list_amazons3.html), and a condition on a key
    that a request lacks does not hold (IAM/latest/UserGuide/reference_policies_elements_condition.html).
    """
    answer = app.SERVICE_HANDLERS["s3"]

    async def answered(method, path, headers, body, query):
        response = await answer(method, path, headers, body, query)
        bucket, key = s3._parse_bucket_key(path, headers)
        absent = response[0] == 404 and method in ("GET", "HEAD") and key and bucket in s3._buckets
        if not (app.AUTH and absent):
            return response
        listing, arn = "s3:ListBucket", f"arn:aws:s3:::{bucket}"
        caller = app.extract_access_key_id(headers, query)
        denied = iam_evaluator.enforce(caller, listing, "s3", get_region(), resource_arn=arn, service_context={})
        if not denied:
            return response
        refused = iam_actions.access_denied_response(
            "s3", listing, denied.principal_arn, uuid4().hex, headers=headers, resource_arn=arn
        )
        return (refused[0], {"x-amz-request-id": uuid4().hex}, b"") if method == "HEAD" else refused

    app.SERVICE_HANDLERS["s3"] = answered


def ids_of_stacks_are_by_time_and_machine():
    """A stack's id ends with a UUID of version 1: two stacks that one machine of AWS made differ in the first field.

    AWSCloudFormation/latest/APIReference/API_CreateStack.html: the id in its example.
    """
    handlers.new_uuid = changesets.new_uuid = lambda: str(uuid1(node=0x50FA526BE49C, clock_seq=0x26E8))


MOVES = {}
"""ARN of a queue -> the tasks that moved its messages, the newest first."""


def letters_go_back_to_the_queue_they_came_from():
    """StartMessageMoveTask sends a letter to the queue whose redrive brought it; ListMessageMoveTasks says how it went.

    AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html: only for queues that are dead-letter
    queues of others; what is moved is a new message.
    AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-dlq-redrive.html: a letter that was sent there
    directly, as Scheduler, EventBridge, SNS and Lambda do, fails the task as CouldNotDetermineMessageSource, unless a
    destination is named. Which of the others were moved by then AWS does not say: here, those before it.
    """
    sqs._HANDLERS |= {"StartMessageMoveTask": _start_move, "ListMessageMoveTasks": _list_moves}


def _start_move(data, _url):
    arn, destination = data["SourceArn"], data.get("DestinationArn")
    letters = _queue(arn)["messages"]
    policies = [json.loads(each["attributes"].get("RedrivePolicy") or "{}") for each in sqs._queues.values()]
    if arn not in {each.get("deadLetterTargetArn") for each in policies}:
        raise sqs._Err(
            "InvalidParameterValue",
            f"Value {arn} for parameter SourceArn is invalid. "
            "Reason: Source queue must be configured as a Dead Letter Queue.",
        )
    for each in letters:
        sqs._ensure_msg_fields(each)
    waiting = [each for each in letters if each["visible_at"] <= time.time()]
    moved, failure = _moved(waiting, letters, destination)
    task = {
        "Status": "FAILED" if failure else "COMPLETED",
        "SourceArn": arn,
        **({"DestinationArn": destination} if destination else {}),
        **({"FailureReason": failure} if failure else {}),
        "ApproximateNumberOfMessagesMoved": moved,
        "ApproximateNumberOfMessagesToMove": len(waiting),
        "StartedTimestamp": int(time.time() * 1000),
    }
    MOVES.setdefault(arn, []).insert(0, task)
    return {"TaskHandle": uuid4().hex}


def _moved(waiting, letters, destination):
    """How many went, and why not all."""
    for moved, letter in enumerate(waiting):
        target = destination or letter["sys"].get("DeadLetterQueueSourceArn")
        if not target:
            return moved, "CouldNotDetermineMessageSource"
        if (queue := sqs._queue_by_arn(target)) is None:
            return moved, "AWS.SimpleQueueService.NonExistentQueue"
        letters.remove(letter)
        now = time.time()
        sent = {"SenderId": letter["sys"].get("SenderId", ""), "SentTimestamp": str(int(now * 1000))}
        anew = {"id": str(uuid4()), "receive_count": 0, "first_receive_at": None, "receipt_handle": None}
        queue["messages"].append({**letter, **anew, "sent_at": now, "visible_at": now, "sys": sent})
        sqs.esm_wake.set()
    return len(waiting), ""


def _list_moves(data, _url):
    _queue(data["SourceArn"])
    return {"Results": MOVES.get(data["SourceArn"], [])[: min(int(data.get("MaxResults") or 1), 10)]}


def _queue(arn):
    queue = sqs._queue_by_arn(arn)
    if queue is None:
        raise sqs._Err("ResourceNotFoundException", "The resource that you specified for SourceArn doesn't exist.")
    return queue


def functions_make_no_log_group_without_the_right_to():
    """Lambda makes a function's log group with the rights of its role: without logs:CreateLogGroup its lines are lost.

    lambda/latest/dg/monitoring-cloudwatchlogs-prereqs.html.
    """
    emit = lambda_svc._emit_lambda_logs

    def emitted(function, *arguments, **options):
        config = function.get("config") or function
        name = config.get("FunctionName", "")
        group = (config.get("LoggingConfig") or {}).get("LogGroup") or f"/aws/lambda/{name}"
        if group in cloudwatch_logs._log_groups or _may_create(config.get("Role", ""), group):
            emit(function, *arguments, **options)

    lambda_svc._emit_lambda_logs = emitted


def _may_create(role, group):
    account, region = get_account_id(), get_region()
    wanted = iam_evaluator.EvalContext(
        principal_arn=role,
        principal_type="AssumedRole",
        principal_account=account,
        action="logs:CreateLogGroup",
        resource_arn=f"arn:aws:logs:{region}:{account}:log-group:{group}",
        region=region,
    )
    policies = iam_evaluator._gather_role_policies(role.rpartition("/")[2], account)
    return iam_evaluator.evaluate(wanted, policies).decision == "Allow"


RULES = (
    names_are_new_and_not_taken,
    protected_tables_and_full_buckets_stay,
    a_failed_rollback_leaves_its_resources_in_the_stack,
    a_stack_that_was_rolled_back_keeps_its_name,
    a_key_that_is_missing_is_denied_to_who_may_not_list,
    ids_of_stacks_are_by_time_and_machine,
    letters_go_back_to_the_queue_they_came_from,
    functions_make_no_log_group_without_the_right_to,
)

if __name__ == "__main__":
    for rule in RULES:
        rule()
    app.main()
